// A token that the API refuses: the error names the setting that it came from, and never the token.
import { describe, expect, it } from "vitest";
import type { Env } from "../../client/config.ts";
import { readConfig } from "../../client/credentials.ts";
import { listAll } from "../../client/paginate.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import * as reconcile from "../../provider/reconcile/index.ts";
import { sessionWith } from "../../provider/run/session.ts";
import { manualClock } from "../harness/clock.ts";
import { BASE_URL, GROUP, getter, json, jwt, refusal, scriptedTransport } from "../support/scripted.ts";
import { testFolder } from "../support/test-folder.ts";

const { group } = kindRecords;

const folder = testFolder();

const fileWith = (token: string): string => folder.write("token", token);

const REFUSED = refusal("UNAUTHENTICATED", "the token is not valid");
const EXCHANGED = json({ token: "api-token-of-sts" });
const WORKLOAD = jwt("workload");

const sessionOf = (env: Env, ...steps: Parameters<typeof scriptedTransport>) => {
  const own = { IRM_BASE_URL: BASE_URL, ...env };
  const environment = { env: own, clock: manualClock(), transport: scriptedTransport(...steps).transport, log() {} };
  return sessionWith(readConfig(getter(), own), environment);
};

const MAY_BE = "it may have expired, or be for another audience than irm:baseUrl";
const hint = (origin: string) =>
  "UNAUTHENTICATED: Unauthenticated: the token is not valid\n" +
  `The API token was refused: ${MAY_BE}. It comes from ${origin}.\nSee docs/recovery.md#sign-in`;

describe("the error for a refused token names its source:", () => {
  const job = {
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://actions.example.com",
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
  };
  const file = fileWith("api-token-given");
  const twice = [EXCHANGED, REFUSED, EXCHANGED, REFUSED];
  const byJob = [json({ value: WORKLOAD }), EXCHANGED, REFUSED, json({ value: WORKLOAD }), EXCHANGED, REFUSED];
  const rows: [string, Env, Parameters<typeof scriptedTransport>][] = [
    ["IRM_TOKEN", { IRM_TOKEN: "api-token-given" }, [REFUSED]],
    ["the file that IRM_TOKEN_FILE names", { IRM_TOKEN_FILE: file }, [REFUSED]],
    ["an exchange of IRM_IDENTITY_TOKEN", { IRM_IDENTITY_TOKEN: WORKLOAD }, twice],
    ["an exchange of GitHub Actions", job, byJob],
  ];

  it.each(rows)("%s, by an operation of a resource and by a list", async (origin, env, steps) => {
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
  ])("with the reason that the token shows: %s", async (_, claims, reason) => {
    const token = ["eyJhbGciOiJSUzI1NiJ9", Buffer.from(JSON.stringify(claims)).toString("base64url"), "c2ln"].join(".");
    const run = reconcile.read(group, sessionOf({ IRM_TOKEN: token }, REFUSED), GROUP, {});
    await expect(run).rejects.toThrow(`\nThe API token was refused: ${reason}. It comes from IRM_TOKEN.\n`);
  });
});
