// Secrets are planted wherever they can enter, and every outgoing text is searched for them. A token that the API
// refuses: the error names the setting that it came from, and never the token; and says how to get another one, as a
// command for a shell.
import { afterAll, describe, expect, it, test, vi } from "vitest";
import type { Env } from "../../client/config.ts";
import { readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { listAll } from "../../client/records.ts";
import { expiredApiTokenAdvice, newTokenAdvice } from "../../client/token.ts";
import type { HttpAnswer, HttpRequest } from "../../client/transport.ts";
import { methodsWith } from "../../provider/engine/methods.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import * as reconcile from "../../provider/reconcile/index.ts";
import { sessionWith } from "../../provider/run/session.ts";
import type { Json } from "../../schema/index.ts";
import { startServer } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { runIrm } from "../support/irm.ts";
import {
  BASE_URL,
  GROUP,
  getter,
  json,
  jwt,
  lostAnswer,
  ORG,
  refusal,
  scriptedTransport,
  tokenWith,
} from "../support/scripted.ts";
import { testFolder } from "../support/test-folder.ts";

const WORKLOAD = jwt("secret-workload-token");
const SECRETS = ["secret-api-token", WORKLOAD, "secret-workload-token", "secret-request-token", "secret-github-token"];

// What a bad proxy or server could do: send the headers back in every text field.
const echo = ({ token }: HttpRequest): HttpAnswer => {
  const [code, text] = [13, `Bearer ${token}`];
  const violations = [{ field: "name", description: text }];
  const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations }];
  return json({ code, message: `Internal: ${text}`, details }, 500);
};
const echoPage = ({ token }: HttpRequest): HttpAnswer => ({
  ...{ status: 502, headers: { "content-type": "text/html" }, body: `Bearer ${token}` },
});
const noAnswer = (): never => {
  throw lostAnswer(true);
};
const echoSuccess = ({ token }: HttpRequest): HttpAnswer => ({ status: 200, headers: {}, body: `Bearer ${token}` });

const GITHUB = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://actions.example.com",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "secret-request-token",
};
const ENVIRONMENTS: [string, Env][] = [
  ["a token", { IRM_TOKEN: "secret-api-token" }],
  ["a workload's token", { IRM_IDENTITY_TOKEN: WORKLOAD }],
  ["GitHub's request token", GITHUB],
];
const ANSWERS: [string, (request: HttpRequest) => HttpAnswer][] = [
  ["an error that echoes", echo],
  ["a page that echoes", echoPage],
  ["a success that echoes", echoSuccess],
  ["no answer", noAnswer],
];

const deepText = (error: unknown): string => {
  const { message, stack, cause } = error as Error;
  return [String(error), message, stack, JSON.stringify(error), cause ? deepText(cause) : ""].join("\n");
};

for (const [held, env] of ENVIRONMENTS)
  for (const [answered, answer] of ANSWERS)
    it(`with ${held} and ${answered}`, async () => {
      const transport = async (request: HttpRequest) => {
        // Every exchange succeeds up to the API itself, so that each kind of token is really sent.
        if (request.url.host === "actions.example.com" && answered !== "no answer")
          return json({ value: "secret-github-token" });
        if (request.url.pathname === "/sts/exchange" && answered === "an error that echoes")
          return json({ token: "secret-api-token" });
        return answer(request);
      };
      const messages: string[] = [];
      const environment = { env, clock: manualClock(), transport, log: (text: string) => messages.push(text) };
      const methods = methodsWith(environment).group;
      await methods.configure({ config: { get: getter({ "irm:baseUrl": "https://api.example.com" }) } });
      const runs = [
        methods.create({ parent: ORG, name: "eng" }),
        methods.read(ORG, {}),
        methods.update(ORG, { name: "x" }, { root: true, name: "eng" }),
        methods.delete(ORG, {}),
      ];
      for (const run of await Promise.allSettled(runs)) {
        expect(run.status).toBe("rejected");
        const text = deepText((run as PromiseRejectedResult).reason) + messages.join();
        for (const secret of SECRETS) expect(text).not.toContain(secret);
      }
    });

it("the redactor removes every occurrence of a noted secret", () => {
  const { note, redact } = redactor();
  expect(note("secret-one")).toBe("secret-one");
  expect(redact("a secret-one b secret-one")).toBe("a [secret] b [secret]");
});

it("the redactor keeps short words", () => {
  const { note, redact } = redactor();
  note("a");
  expect(redact("banana")).toBe("banana");
});

const { group } = kindRecords;

const REFUSED = refusal("UNAUTHENTICATED", "the token is not valid");
const EXCHANGED = json({ token: "api-token-of-sts" });
const OWN_TOKEN = jwt("workload");

const sessionOf = (env: Env, ...steps: Parameters<typeof scriptedTransport>) => {
  const own = { IRM_BASE_URL: BASE_URL, ...env };
  const environment = { env: own, clock: manualClock(), transport: scriptedTransport(...steps).transport, log() {} };
  return sessionWith(readConfig(getter(), own), environment);
};

const MAY_BE = "it may have expired, or be for another audience than irm:baseUrl";
const hint = (origin: string) =>
  "UNAUTHENTICATED: Unauthenticated: the token is not valid\n" +
  `The API token was refused: ${MAY_BE}. It comes from ${origin}.\nSee docs/troubleshooting.md#sign-in`;

const job = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://actions.example.com",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
};
const file = testFolder().write("token", "api-token-given");
const twice = [EXCHANGED, REFUSED, EXCHANGED, REFUSED];
const byJob = [json({ value: OWN_TOKEN }), EXCHANGED, REFUSED, json({ value: OWN_TOKEN }), EXCHANGED, REFUSED];
const rows: [string, Env, Parameters<typeof scriptedTransport>][] = [
  ["IRM_TOKEN", { IRM_TOKEN: "api-token-given" }, [REFUSED]],
  ["the file that IRM_TOKEN_FILE names", { IRM_TOKEN_FILE: file }, [REFUSED]],
  ["an exchange of IRM_IDENTITY_TOKEN", { IRM_IDENTITY_TOKEN: OWN_TOKEN }, twice],
  ["an exchange of GitHub Actions", job, byJob],
];

it.each(rows)("the error for a refused token names its source: %s", async (origin, env, steps) => {
  const run = reconcile.read(group, sessionOf(env, ...steps), GROUP, {});
  await expect(run).rejects.toThrow(new Error(`GetGroup group ${GROUP}: ${hint(origin)}`));
  const list = listAll(sessionOf(env, ...steps), { operation: "ListGroups", plural: "groups" }, {});
  await expect(list.next()).rejects.toThrow(new Error(`ListGroups: ${hint(origin)}`));
});

it.each<[string, object, string]>([
  ["its time is over", { aud: BASE_URL, exp: 1 }, "it has expired"],
  [
    "it is for other addresses",
    { aud: ["https://other.example", "https://\u001b[2J"], exp: 1e12 },
    `its audience is https://other.example, https://\\u001b[2J, and the address of the API is ${BASE_URL}`,
  ],
  ["it is for this address", { aud: `${BASE_URL}/` }, MAY_BE],
])("the error for a refused token has the reason that it shows: %s", async (_, claims, reason) => {
  const run = reconcile.read(group, sessionOf({ IRM_TOKEN: tokenWith(claims) }, REFUSED), GROUP, {});
  await expect(run).rejects.toThrow(`\nThe API token was refused: ${reason}. It comes from IRM_TOKEN.\n`);
});

const server = "http://127.0.0.1:8080";
const issuer = `${server}/dev-issuer`;
const COMMAND = `npx pulumi-irm serve token --issuer ${issuer} --subject`;

test.each<[reason: string, claims: Json, source: string | undefined, advice: string]>([
  ["of a variable", { sub: "owner" }, "IRM_IDENTITY_TOKEN", `export IRM_IDENTITY_TOKEN=$(${COMMAND} owner)`],
  ["of a file", { sub: "owner" }, "IRM_IDENTITY_TOKEN_FILE", `${COMMAND} owner > "$IRM_IDENTITY_TOKEN_FILE"`],
  ["with the usual audience", { sub: "a", aud: server, exp: 1, jti: "x" }, undefined, `${COMMAND} a`],
  ["with another audience", { sub: "a", aud: "https://b" }, undefined, `${COMMAND} a --audience https://b`],
  [
    "with claims, in the spelling of the command",
    { sub: "repo:a/b:ref:refs/heads/main", environment: "production", run: 12, text: "12" },
    undefined,
    `${COMMAND} repo:a/b:ref:refs/heads/main --claim environment=production --claim run=12 --claim 'text="12"'`,
  ],
  ["of a subject that a shell would run", { sub: "$(id)'; id" }, undefined, `${COMMAND} '$(id)'\\''; id'`],
])("a new token %s", (_, claims, source, advice) => {
  expect(newTokenAdvice({ iss: issuer, ...claims }, source)).toBe(`get a new one: ${advice}`);
});

test.each<[reason: string, claims: Json]>([
  ["of another issuer", { iss: "https://token.actions.githubusercontent.com", sub: "a" }],
  ["of an issuer elsewhere", { iss: "https://irm.example.com/dev-issuer", sub: "a" }],
  ["of an issuer that a shell would run", { iss: "http://127.0.0.1:1/$(id)/dev-issuer", sub: "a" }],
  ["without a subject", { iss: issuer }],
  ["that would control the terminal", { iss: issuer, sub: "\u001b[2J" }],
  ["with claims of any length", { iss: issuer, sub: "a", other: "x".repeat(500) }],
])("a new token is not named for one %s", (_, claims) => expect(newTokenAdvice(claims)).toBeUndefined());

test("an API token has advice once it has expired, and not before", () => {
  const claims = { sub: ORG, exp: 1000, act: { iss: issuer, sub: "owner" } };
  expect(expiredApiTokenAdvice(claims, 999_999)).toBeUndefined();
  expect(expiredApiTokenAdvice(claims, 1_000_000)).toBe(
    `Use a workload's token, which each run exchanges: unset IRM_TOKEN; export IRM_IDENTITY=${ORG} IRM_IDENTITY_TOKEN=$(${COMMAND} owner)`,
  );
  expect(expiredApiTokenAdvice({ ...claims, act: undefined }, 1_000_000)).toBeUndefined();
});

describe("irm access whoami with an expired token", async () => {
  const clock = manualClock(Date.now() - 2 * 60 * 60 * 1000);
  const api = await startServer({ clock });
  const { token } = api.owner;
  const subject = "repo:acme/images:ref:refs/heads/main";
  const expired = await api.identityToken(subject, { claims: { environment: "production" } });
  clock.advance(2 * 60 * 60 * 1000);
  afterAll(() => api.close());

  const run = async (env: Record<string, string>): Promise<string> => {
    for (const [name, value] of Object.entries({ IRM_BASE_URL: api.baseUrl, IRM_AUTH_URL: api.authUrl, ...env }))
      vi.stubEnv(name, value);
    const { code, stderr } = await runIrm("access", "whoami");
    vi.unstubAllEnvs();
    expect(code).toBe(1);
    expect(stderr).not.toContain("Was this server restarted");
    return stderr;
  };

  test("of a workload: the command that it prints mints one with the same claims", async () => {
    const stderr = await run({ IRM_IDENTITY_TOKEN: expired, IRM_IDENTITY: api.identity });
    const [, command = ""] =
      /^The token has expired: get a new one: export IRM_IDENTITY_TOKEN=\$\((.*)\)$/m.exec(stderr) ?? [];
    expect(command, stderr).toContain(`--subject ${subject} --claim environment=production`);
    const { stdout } = await runIrm(...command.replace("npx pulumi-irm ", "").split(" "));
    const claims = (jwt: string) => JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString());
    const { iat: _, exp: __, jti: ___, ...same } = claims(expired);
    expect(claims(stdout)).toMatchObject(same);
  });

  test("of the API: the workload's token, which does not end", async () => {
    const stderr = await run({ IRM_TOKEN: token });
    expect(stderr).toContain(
      "The API token was refused: it has expired. It comes from IRM_TOKEN.\nUse a workload's token",
    );
    expect(stderr).toContain(
      `IRM_IDENTITY=${api.identity} IRM_IDENTITY_TOKEN=$(npx pulumi-irm serve token --issuer ${api.issuer}`,
    );
  });
});
