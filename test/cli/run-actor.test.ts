// Who acts in a run on a copy: the identity that will apply the program, with the rights of an operator or its own.
import { describe, expect, test } from "vitest";
import { actorsOf, type Rights } from "../../cli/run/actor.ts";
import { startTwin } from "../../cli/twin/twin.ts";
import { createRecord } from "../../client/records.ts";
import { apiError, resources } from "../../schema/index.ts";
import { clientOf } from "../access/client.ts";
import { serve } from "../harness/api-server.ts";
import { copyOfServer } from "../harness/copy.ts";
import { createUid } from "../harness/records.ts";

const api = await serve();
const { organization } = api;
const team = await createUid(api, "groups", organization, { name: "team" });
const ci = await api.actor("ci");
const reader = await api.actor("reader", { role: "viewer", at: team });
const ABSENT = `${organization}/0123456789abcdef`;
const FOREIGN = `${"f".repeat(40)}/0123456789abcdef`;

/** As a caller with this token sees the organization. */
const actorFor = async (token: string | undefined, rights: Rights, as?: string) => {
  const client = clientOf(api, token);
  const original = { address: api.baseUrl, client, copy: await copyOfServer(api, token) };
  const [found] = await actorsOf([original], { as, rights });
  if (!found) throw new Error("no actor");
  return found;
};

describe("who acts in a run is", () => {
  test.each([
    ["the caller by default, with its own rights", undefined, "own", undefined, api.identity, "owner"],
    ["the caller by default, with those of an operator", undefined, "operator", undefined, api.identity, "owner"],
    ["the identity of --as", undefined, "own", ci.uid, ci.uid, "ci"],
    ["the identity of --as, which the caller cannot list", reader.token, "operator", ci.uid, ci.uid, null],
    ["the caller, which cannot list itself", reader.token, "operator", undefined, reader.uid, "reader"],
    ["an identity of another organization", undefined, "operator", FOREIGN, FOREIGN, null],
  ] as const)("%s", async (_, token, rights, as, uid, name) => {
    const { actor } = await actorFor(token, rights, as);
    expect(actor).toEqual({ uid, name });
  });

  test("not known where the token does not show it, and an operator acts without it", async () => {
    const client = clientOf(api);
    const opaque: typeof client = {
      ...client,
      caller: async () => ({ source: "t", isExchange: false, claims: {} }),
      call: (operation, request) =>
        operation === "Validate" ? Promise.reject(apiError("UNIMPLEMENTED", "no")) : client.call(operation, request),
    };
    const copy = await copyOfServer(api);
    const originals = [{ address: api.baseUrl, client: opaque, copy }];
    const [found] = await actorsOf(originals, { rights: "operator" });
    expect(found?.actor).toEqual({ uid: null, name: null });
    await expect(actorsOf(originals, { rights: "own" })).rejects.toThrow("cannot list its own identity");
  });

  test.each([
    ["operator", undefined, ABSENT, `--as ${ABSENT}: there is no identity with this uid at ${api.baseUrl}`],
    ["own", undefined, ABSENT, `--as ${ABSENT}: no identity that you can list has this uid`],
    ["own", reader.token, ci.uid, `--as ${ci.uid}: no identity that you can list has this uid`],
  ] as const)("none with %s rights where it is not there", async (rights, token, as, text) => {
    await expect(actorFor(token, rights, as)).rejects.toThrow(text);
  });

  test("known to the twin by its uid alone, and owns what it creates there", async () => {
    for (const [token, uid] of [
      [reader.token, ci.uid],
      [undefined, FOREIGN],
    ] as const) {
      const { copy } = await actorFor(token, "operator", uid);
      const twin = await startTwin(copy, api.baseUrl);
      try {
        const client = clientOf({ ...api, baseUrl: twin.url }, await twin.operatorToken(uid));
        const { uid: group } = await createRecord(client, resources.group, "", { name: "founded" });
        const { roleBindings = [] } = await client.call("ListRoleBindings", { group: group as string });
        expect(roleBindings.map(({ identity }) => identity?.uid)).toEqual([uid]);
        await createRecord(client, resources.group, team, { name: "below" });
        // What the caller of the review cannot see is not made up.
        await expect(client.call("GetIdentity", { uid })).rejects.toThrow("Permission denied");
      } finally {
        await twin.close();
      }
    }
  });
});
