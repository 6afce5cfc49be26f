// The HTML of the page at `/`. All of it is our own text or escaped, and readable without JavaScript.
import { escapeHtml } from "../../schema/index.ts";

export interface HomeFacts {
  /** address of the API */
  baseUrl: string;
  /** address of the token exchange and of the issuer of API tokens */
  authUrl: string;
  /** the development issuer */
  issuer?: string | undefined;
  /** uid of the organization */
  organization?: string | undefined;
  /** uid of the organization's owner identity */
  identity?: string | undefined;
  /** an API token of that owner */
  token?: string | undefined;
}

export const homeDocument = (facts: HomeFacts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Identity and Registry Management API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/swagger-ui.css">
<link rel="stylesheet" href="/assets/home.css">
<script src="/assets/swagger-ui.js" defer></script>
<script src="/assets/home.js" defer></script>
</head>
<body>
<a class="skip" href="#documentation">Skip to the documentation</a>
<header>
<h1>Identity and Registry Management API</h1>
<p>${facts.issuer ? DEVELOPMENT : PRODUCTION}</p>
</header>
<section aria-labelledby="addresses">
<h2 id="addresses">Addresses</h2>
${definitions(addresses(facts))}
</section>
${facts.organization ? organizationSection(facts) : ""}${facts.token ? tokenSection(facts) : ""}<section aria-labelledby="documentation">
<h2 id="documentation" tabindex="-1">Documentation</h2>
<div id="swagger-ui"${facts.token ? ` data-token="${escapeHtml(facts.token)}"` : ""}><p>The methods are described in <a href="/openapi.json">openapi.json</a>. Turn JavaScript on to browse and try them here.</p></div>
</section>
</body>
</html>
`;

const DEVELOPMENT =
  "A reference server in development mode: its issuer signs tokens for anyone on this machine. REST and gRPC share this port.";
const PRODUCTION =
  "A reference server. REST and gRPC share this port; every method but those marked otherwise needs an API token.";

interface Definition {
  term: string;
  value: string;
  href?: string;
}

const addresses = ({ baseUrl, authUrl, issuer }: HomeFacts): Definition[] => [
  { term: "API", value: baseUrl },
  { term: "gRPC", value: new URL(baseUrl).host },
  { term: "Token exchange", value: `${authUrl}/sts/exchange` },
  { term: "Issuer of API tokens", value: authUrl, href: `${authUrl}/.well-known/openid-configuration` },
  ...(issuer
    ? [{ term: "Development issuer", value: issuer, href: `${issuer}/.well-known/openid-configuration` }]
    : []),
  { term: "OpenAPI document", value: `${baseUrl}/openapi.json`, href: "/openapi.json" },
  { term: "Readiness", value: `${baseUrl}/readyz`, href: "/readyz" },
  { term: "Metrics", value: `${baseUrl}/metrics`, href: "/metrics" },
];

const organizationSection = ({ organization, identity }: HomeFacts) => `<section aria-labelledby="organization">
<h2 id="organization">Organization</h2>
${definitions([
  { term: "Organization", value: organization as string },
  ...(identity ? [{ term: "Owner", value: identity }] : []),
])}
</section>
`;

const tokenSection = ({ baseUrl, authUrl, issuer, identity, token }: HomeFacts) => `<section aria-labelledby="try">
<h2 id="try">Try it</h2>
<p>The documentation below sends this token already. It is the owner's and valid for one hour; reload the page for another.</p>
${command(
  "Call the API",
  `export TOKEN=${token}
curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/iam/v2beta1/groups`,
  "call",
)}
${command(
  "Exchange a workload's token, as CI does",
  `curl -H "Authorization: Bearer $(npx pulumi-irm serve token --issuer ${issuer} --subject owner)" \\
  "${authUrl}/sts/exchange?aud=${baseUrl}&identity=${identity}"`,
  "exchange",
)}
${command(
  "Run a Pulumi program against this server",
  `export IRM_BASE_URL=${baseUrl} IRM_AUTH_URL=${authUrl} IRM_IDENTITY=${identity}
export IRM_IDENTITY_TOKEN=$(npx pulumi-irm serve token --issuer ${issuer} --subject owner)
pulumi up`,
  "pulumi",
)}
</section>
`;

const definitions = (rows: Definition[]) =>
  `<dl>\n${rows
    .map(({ term, value, href }) => {
      const code = `<code>${escapeHtml(value)}</code>`;
      return `<dt>${escapeHtml(term)}</dt><dd>${href ? `<a href="${escapeHtml(href)}">${code}</a>` : code}</dd>`;
    })
    .join("\n")}\n</dl>`;

const command = (title: string, text: string, id: string) => `<div class="command">
<h3 id="${id}-title">${escapeHtml(title)}</h3>
<button type="button" data-copy="${id}-text" aria-describedby="${id}-title" hidden>Copy</button>
<pre id="${id}-text" tabindex="0" aria-labelledby="${id}-title">${escapeHtml(text)}</pre>
</div>`;
