// The page at `/`: an introduction to this server, its addresses, and the API as documentation, which Swagger UI renders from our own
// openapi.json. It loads nothing from another host, and its content security policy forbids it to.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { z } from "zod";
import {
  apiError,
  type FieldViolation,
  invalidArgument,
  isLoopbackAuthority,
  openapiDocument,
  shapeError,
  shapeProblems,
} from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { once } from "../base/once.ts";
import { jsonFromBody } from "../rest/arrival.ts";
import { local, type Page, type PageRequest, type PageTable, reading } from "../rest/page.ts";
import { restError } from "../rest/refused.ts";
import { lossIn } from "../store/failure.ts";
import type { Store } from "../store/store.ts";
import { JWKS_PATH, type MintRequest, type Sts } from "../sts/index.ts";
import { type HomeFacts, homeDocument } from "./home-document.ts";

interface HomeOptions extends Omit<HomeFacts, "token"> {
  /** An API token of the development owner. */
  ownerToken: (() => Promise<string>) | undefined;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets style attributes.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ASSETS: readonly [path: string, name: string][] = [
  ["/assets/home.css", "home.css"],
  ["/assets/home.js", "home.js"],
  ["/assets/swagger-ui.css", "swagger-ui.css"],
  ["/assets/swagger-ui.js", "swagger-ui-bundle.js"],
];

/** Gives the owner's token only to a browser on this machine that names a loopback host, so not to a rebound DNS name. */
export const homePages = ({ ownerToken, ...facts }: HomeOptions): PageTable => {
  const home = async ({ host }: PageRequest): Promise<Page> => {
    const isLocal = isLoopbackAuthority(host);
    const { baseUrl, authUrl, issuer, ...records } = facts;
    // The owner may have been deleted; then the page has no token.
    const token = isLocal ? await ownerToken?.().catch(() => undefined) : undefined;
    const text = homeDocument({ baseUrl, authUrl, issuer, ...(isLocal && records), token });
    return page({ text }, "text/html; charset=utf-8", { "content-security-policy": POLICY });
  };
  const assets = ASSETS.map(([path, name]) => {
    const bytes = once(() => readAsset(name));
    const type = `text/${path.endsWith(".css") ? "css" : "javascript"}; charset=utf-8`;
    return reading(path, () => page({ bytes: bytes() }, type));
  });
  return Object.assign(reading("/", home), ...assets);
};

/** The description of the REST interface. It takes no token: the description is public. */
export const openapiPage = (): PageTable => {
  const bytes = once(() => Buffer.from(JSON.stringify(openapiDocument())));
  const headers = { "content-type": "application/json" };
  return reading("/openapi.json", () => ({ http: 200, bytes: bytes(), headers }));
};

const page = (body: Pick<Page, "text" | "bytes">, type: string, headers: Record<string, string> = {}): Page => ({
  http: 200,
  ...body,
  headers: { "content-type": type, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", ...headers },
  quiet: true,
});

const readAsset = (name: string): Buffer => {
  try {
    return readFileSync(new URL(`assets/${name}`, import.meta.url));
  } catch {
    // The published package contains a copy of the renderer beside our assets (scripts/build.ts); a clone has it as a dependency.
    return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  }
};

// The pages of our issuer (OpenID Connect Discovery 1.0, RFC 7517), and with `--dev` the pages of the development issuer, which
// mints a token for anyone on this machine who asks (docs/internals/contract.md#d33).

export const DEV_ISSUER_PATH = "/dev-issuer";

const audience = z.custom<string | string[]>((value) => {
  const texts = [value].flat();
  return texts.length > 0 && texts.every((text) => typeof text === "string" && text !== "");
}, "must be a string, or a list of strings, none of them empty");

/** The body of `POST /dev-issuer/token`. */
const MintBody: z.ZodType<MintRequest, MintRequest> = z.strictObject({
  subject: z.string().min(1).max(255),
  audience: audience.optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
  lifetimeSeconds: z.int().min(1).max(86_400).optional(),
});

export const issuerPages = ({ devIssuer, ...sts }: Sts): PageTable => {
  const json = (document: () => object) => () => ({ http: 200, json: document() });
  return {
    "GET /.well-known/openid-configuration": json(sts.discovery),
    [`GET ${JWKS_PATH}`]: json(sts.jwks),
    ...(devIssuer && {
      [`GET ${DEV_ISSUER_PATH}/.well-known/openid-configuration`]: json(devIssuer.discovery),
      [`GET ${DEV_ISSUER_PATH}${JWKS_PATH}`]: json(devIssuer.jwks),
      [`POST ${DEV_ISSUER_PATH}/token`]: local("the development issuer is", mint(devIssuer)),
    }),
  };
};

const mint =
  (issuer: NonNullable<Sts["devIssuer"]>) =>
  async ({ body }: PageRequest): Promise<Page> => {
    const violations: FieldViolation[] = [];
    const json = jsonFromBody(await body(), violations);
    if (violations.length > 0) return restError(invalidArgument(violations));
    const { success, data, error } = MintBody.safeParse(json, { error: shapeError });
    if (!success)
      return restError(
        invalidArgument(
          shapeProblems(error.issues).map(({ path, text }) => ({ field: path.join("."), description: text })),
        ),
      );
    return { http: 200, json: { token: await issuer.mint(data) } };
  };

// The pages for operators, without a token: /healthz (the process lives), /readyz (it can serve: the database answers, and no
// drain is under way), /metrics.

interface OperatorPagesOptions {
  store: Store;
  metrics: Metrics;
  isDraining: () => boolean;
  log: Log;
}

export const operatorPages = ({ metrics, ...parts }: OperatorPagesOptions): PageTable => ({
  ...reading("/healthz", () => OK),
  ...reading("/readyz", () => {
    const reason = unreadiness(parts);
    return reason ? restError(apiError("UNAVAILABLE", reason)) : OK;
  }),
  ...reading("/metrics", async () => ({
    http: 200,
    text: await metrics.text(),
    headers: { "content-type": metrics.contentType },
    quiet: true,
  })),
});

const OK: Page = { http: 200, json: { status: "ok" }, quiet: true };

/** The reason that the server cannot serve now; undefined if it can. */
export const unreadiness = ({ store, isDraining, log }: Omit<OperatorPagesOptions, "metrics">): string | undefined =>
  isDraining() ? "the server is draining" : databaseFailure(store, log);

// Checks the files first, then reads through the connection.
const databaseFailure = (store: Store, log: Log): string | undefined => {
  try {
    store.check();
    store.statement("SELECT count(*) FROM sqlite_schema").get();
    return undefined;
  } catch (error) {
    if (lossIn(store.failure(error))) return "the server has lost its database; its log says what to do";
    log("error", "database failure", { error: error instanceof Error ? error.stack : String(error) });
    return "the database does not answer";
  }
};
