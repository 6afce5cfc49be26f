// `irm token`: an identity token of the development issuer, so that anyone can try the exchange with curl.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runCommand } from "../support/command.ts";
import { START_MS, startServer, type TestServer } from "../support/server.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString());

describe("irm token", () => {
  test("prints the token and nothing else: with the claims that were asked for, JSON where they are JSON", async () => {
    const { code, stdout, stderr } = await runCommand(
      ...["token", "--issuer", api.issuer, "--subject", "repo:my-org/my-repo:ref:refs/heads/main", "--audience", "me"],
      ...["--claim", "ref=refs/heads/main", "--claim", "run=7", "--claim", "fork=true", "--claim", "a=b=c"],
      ...["--claim", 'list=["x"]', "--claim", "empty=", "--claim", "sub=evil"],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const iat = Math.floor(START_MS / 1000);
    expect(claimsOf(stdout)).toEqual({
      iss: api.issuer,
      sub: "repo:my-org/my-repo:ref:refs/heads/main",
      aud: "me",
      ref: "refs/heads/main",
      run: 7,
      fork: true,
      a: "b=c",
      list: ["x"],
      empty: "",
      iat,
      exp: iat + 3600,
      jti: expect.any(String),
    });
  });

  test("is for the exchange by default", async () => {
    const { stdout } = await runCommand("token", "--issuer", api.issuer, "--subject", "owner");
    expect(claimsOf(stdout).aud).toBe(api.authUrl);
    const answer = await api.exchange(stdout.trim(), { aud: api.baseUrl, identity: api.identity });
    expect(answer.status, answer.text).toBe(200);
  });

  test.each([
    [
      "an issuer that does not answer",
      () => "http://127.0.0.1:1/dev-issuer",
      /^irm token: cannot reach the issuer http:\/\/127\.0\.0\.1:1\/dev-issuer: .+\n$/,
    ],
    [
      "an issuer that is none",
      () => api.baseUrl,
      /^irm token: the issuer http:\S+ answered 404: Not found: there is no \/token; only a development issuer of irm serve --dev mints for anyone\n$/,
    ],
    [
      "a subject that is too long",
      () => api.issuer,
      /^irm token: the issuer http:\S+ answered 400: Invalid argument: subject: .+\n$/,
    ],
  ])("tells of %s in one sentence, with exit 1", async (what, issuer, sentence) => {
    const subject = what.startsWith("a subject") ? "s".repeat(256) : "s";
    const { code, stdout, stderr } = await runCommand("token", "--issuer", issuer(), "--subject", subject);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(sentence);
  });
});
