// `irm serve token`: prints an identity token of the development issuer, with which anyone can try the exchange in curl.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { serve } from "../harness/api-server.ts";
import { START_MS } from "../harness/clock.ts";
import { payloadOf } from "../harness/sts.ts";
import { runCommand } from "../support/command.ts";
import { exactFailure, failure, runIrm } from "../support/irm.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const api = await serve();

describe("irm serve token", () => {
  test("prints only the token, with the requested claims, parsed as JSON where possible", async () => {
    const { code, stdout, stderr } = await runCommand(
      ...["serve", "token", "--issuer", api.issuer, "--audience", "me"],
      ...["--subject", "repo:my-org/my-repo:ref:refs/heads/main"],
      ...["--claim", "ref=refs/heads/main", "--claim", "run=7", "--claim", "fork=true", "--claim", "a=b=c"],
      ...["--claim", 'list=["x"]', "--claim", "empty="],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const iat = Math.floor(START_MS / 1000);
    expect(payloadOf(stdout)).toEqual({
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

  test("writes given exp, iat, nbf and iss unchanged, which allows an expired token", async () => {
    const now = Math.floor(START_MS / 1000);
    const { stdout } = await runIrm(
      ...["serve", "token", "--issuer", api.issuer, "--subject", "owner", "--claim", `exp=${now - 120}`],
      ...["--claim", `iat=${now - 240}`, "--claim", `nbf=${now - 240}`],
    );
    expect(payloadOf(stdout)).toMatchObject({ exp: now - 120, iat: now - 240, nbf: now - 240 });
    const answer = await api.exchange(stdout.trim(), { aud: api.baseUrl, identity: api.identity });
    expect([answer.status, answer.json.message]).toEqual([
      403,
      expect.stringMatching(/^Permission denied: verifying token: oidc: token is expired /),
    ]);
    const other = await runIrm(
      ...["serve", "token", "--issuer", api.issuer, "--subject", "owner", "--claim", "iss=https://other.example"],
    );
    expect(payloadOf(other.stdout).iss).toBe("https://other.example");
  });

  test("requests a token for the exchange by default", async () => {
    const { stdout } = await runIrm("serve", "token", "--issuer", api.issuer, "--subject", "owner");
    expect(payloadOf(stdout).aud).toBe(api.authUrl);
    const answer = await api.exchange(stdout.trim(), { aud: api.baseUrl, identity: api.identity });
    expect(answer.status, answer.text).toBe(200);
  });

  test.each([
    [
      "a port at which nothing listens",
      () => "http://127.0.0.1:2/dev-issuer",
      /: connect ECONNREFUSED 127\.0\.0\.1:2; start `npx pulumi-irm serve --dev`, or correct --issuer\n$/,
    ],
    [
      "an https address of a server that speaks http",
      () => api.baseUrl.replace("http:", "https:"),
      /: this port does not speak TLS; if it speaks http, write http:\/\/127\.0\.0\.1:\d+ \(ERR_SSL_WRONG_VERSION_NUMBER\)\n$/,
    ],
    [
      "a server that is not an issuer",
      () => api.baseUrl,
      /^irm serve token: the issuer http:\S+ answered 404: Not found: there is no \/token; only the development issuer of irm serve --dev issues tokens to anyone\n$/,
    ],
    [
      "a subject that is too long",
      () => api.issuer,
      /^irm serve token: the issuer http:\S+ answered 400: Invalid argument: subject: .+\n$/,
    ],
  ])("reports %s in one sentence, and exits with 1", async (what, issuer, sentence) => {
    const subject = what.startsWith("a subject") ? "s".repeat(256) : "s";
    expect(await runIrm("serve", "token", "--issuer", issuer(), "--subject", subject)).toEqual(failure(1, sentence));
  });

  const ESCAPED = "answered 403: no\\u001b[2J\\u202e\\u000aforged";
  const NO_JWT = "answered with a token that is not a JWT";
  test.each<[string, object, number, string]>([
    ["a message with control characters", { message: "no\u001b[2J\u202e\nforged" }, 403, ESCAPED],
    ["a token with control characters", { token: "\u001b]0;evil\u0007" }, 200, NO_JWT],
    ["a token that is not text", { token: 7 }, 200, NO_JWT],
  ])("escapes %s of a hostile issuer", async (_, body, status, text) => {
    const issuer = createServer((_request, response) => response.writeHead(status).end(JSON.stringify(body)));
    await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    expect(await runIrm("serve", "token", "--issuer", url, "--subject", "s")).toEqual(
      exactFailure(
        1,
        `irm serve token: the issuer ${url} ${text}; only the development issuer of irm serve --dev issues tokens to anyone\n`,
      ),
    );
    issuer.closeAllConnections();
    issuer.close();
  });
});
