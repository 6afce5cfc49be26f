// Secrets are planted wherever they can enter, and every outgoing text is searched for them.
import { expect, it } from "vitest";
import type { Env } from "../../client/config.ts";
import { redactor } from "../../client/errors.ts";
import type { HttpAnswer, HttpRequest } from "../../client/transport.ts";
import { methodsWith } from "../../provider/engine/methods.ts";
import { manualClock } from "../harness/clock.ts";
import { getter, json, jwt, lostAnswer, ORG } from "../support/scripted.ts";

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
      const inputs = { parent: ORG, name: "eng" };
      const runs = [
        methods.create(inputs),
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
