// How an error says to get another token of the development issuer: a command for a shell, from the claims of a token that may be anyone's.
import { afterAll, describe, expect, test, vi } from "vitest";
import { expiredApiTokenAdvice, newTokenAdvice } from "../../client/token.ts";
import type { Json } from "../../schema/index.ts";
import { startServer } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { runIrm } from "../support/irm.ts";
import { ORG } from "../support/scripted.ts";

const server = "http://127.0.0.1:8080";
const issuer = `${server}/dev-issuer`;
const COMMAND = `npx pulumi-irm serve token --issuer ${issuer} --subject`;

describe("a new token", () => {
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
  ])("%s", (_, claims, source, advice) => {
    expect(newTokenAdvice({ iss: issuer, ...claims }, source)).toBe(`get a new one: ${advice}`);
  });

  test.each<[reason: string, claims: Json]>([
    ["of another issuer", { iss: "https://token.actions.githubusercontent.com", sub: "a" }],
    ["of an issuer elsewhere", { iss: "https://irm.example.com/dev-issuer", sub: "a" }],
    ["of an issuer that a shell would run", { iss: "http://127.0.0.1:1/$(id)/dev-issuer", sub: "a" }],
    ["without a subject", { iss: issuer }],
    ["that would control the terminal", { iss: issuer, sub: "\u001b[2J" }],
    ["with claims of any length", { iss: issuer, sub: "a", other: "x".repeat(500) }],
  ])("is not named for one %s", (_, claims) => expect(newTokenAdvice(claims)).toBeUndefined());
});

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
