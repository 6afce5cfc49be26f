// Who the caller is at a service that does not answer Validate: its bindings and roles are listed, and what it cannot read is named.
import { expect, test } from "vitest";
import { pathOf } from "../../../access/graph/graph.ts";
import { checkOwn, groupsOfGrants } from "../../../access/query/own-groups.ts";
import { whoAmI } from "../../../access/query/whoami.ts";
import type { Client } from "../../../client/client.ts";
import { ApiError, type Code } from "../../../schema/index.ts";
import { createUid } from "../../harness/records.ts";
import { startTeam } from "../../harness/team.ts";
import { clientOf } from "../client.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const release = await api.actor("release", { role: publisher, at: registry, in: platform });

/** The same service without one of its methods. */
const without = (client: Client, operations: readonly string[], code: Code = "UNIMPLEMENTED"): Client => ({
  ...client,
  call: (operation, request, options) =>
    operations.includes(operation)
      ? Promise.reject(new ApiError(code, "not served", { operation }))
      : client.call(operation, request, options),
});

test.each<Code>(["UNIMPLEMENTED", "NOT_FOUND", "UNKNOWN"])(
  "without Validate (%s) the owner's grants are the same",
  async (code) => {
    const client = clientOf(api);
    const whole = await whoAmI(client);
    const listed = await whoAmI(without(client, ["Validate"], code));
    const capabilities = expect.arrayContaining(["groups.list"]);
    expect(whole.grants).toEqual([{ group: api.organization, groupName: "dev", role: "owner", capabilities }]);
    expect(listed).toEqual({ ...whole, expires: expect.any(String) });
    expect(Date.parse(listed.expires ?? "")).toBe(Date.parse(whole.expires ?? ""));
  },
);

test("a caller who may not list bindings is told so, and a check counts as no", async () => {
  const who = await whoAmI(without(clientOf(api, release.token), ["Validate"]));
  expect(who).toMatchObject({ identity: release.uid, name: null, grants: [] });
  expect(who.notKnown).toEqual([
    `role bindings in groups of ${api.organization} that cannot be listed: role_bindings.list is needed at the organization`,
  ]);
  const answer = await checkOwn(clientOf(api, release.token), who, { capability: "tag.create", group: registry });
  const message = `not known, which counts as no: ${who.notKnown[0]}`;
  expect(answer).toEqual({ capability: "tag.create", group: registry, isHeld: false, message });
});

test("a caller who lists a part of the bindings sees that part, its name, and that there may be more", async () => {
  const who = await whoAmI(without(clientOf(api, reader.token), ["Validate", "GetIdentity"]));
  expect(who).toMatchObject({ name: "reader", grants: [{ group: registry, role: "viewer" }] });
  expect(who.grants[0]?.capabilities).toContain("groups.list");
  expect(who.notKnown).toHaveLength(1);
});

test("a role that cannot be read is named, and grants nothing that is known", async () => {
  const who = await whoAmI(without(clientOf(api), ["Validate", "GetRole"], "PERMISSION_DENIED"));
  expect(who.grants).toMatchObject([{ group: api.organization, role: "owner", capabilities: [] }]);
  expect(who.notKnown).toEqual([
    `the capabilities of role owner in ${api.organization}: roles.list is needed where it is defined`,
  ]);
});

test("a refused list and a token that shows no identity leave the grants unknown; a refused token is an error, and no answer", async () => {
  const refused = await whoAmI(without(clientOf(api), ["Validate", "ListRoleBindings"], "PERMISSION_DENIED"));
  expect(refused).toMatchObject({
    grants: [],
    notKnown: ["the role bindings cannot be listed: PERMISSION_DENIED: not served"],
  });
  const opaque: Client = {
    ...without(clientOf(api), ["Validate"]),
    caller: async () => ({ source: "IRM_TOKEN", isExchange: false, claims: {} }),
  };
  expect(await whoAmI(opaque)).toMatchObject({
    identity: null,
    expires: null,
    notKnown: ["the token does not show its identity, and the service does not tell it"],
  });
  await expect(whoAmI(clientOf(api, "no-token-of-this-service"))).rejects.toThrow("a valid bearer token is required");
});

test("of a person, role bindings need not show the roles of external groups", async () => {
  const client = clientOf(api);
  // The API shows no relationship of a person.
  const listing = without(client, ["Validate"]);
  const person: Client = {
    ...listing,
    call: async (operation, ...request) => ({
      ...(await listing.call(operation, ...request)),
      ...(operation === "GetIdentity" && { claimMatch: undefined, email: "ann@acme.example" }),
    }),
  };
  expect((await whoAmI(person)).notKnown).toEqual([
    "the roles of the external groups of this person, which role bindings need not show",
  ]);
});

test("a path begins in the only organization where the caller has a role, unless it has one in its own", async () => {
  const elsewhere = await createUid(api, "groups", "", { name: "elsewhere" });
  const here = await createUid(api, "groups", elsewhere, { name: "platform" });
  const visitor = await api.actor("visitor", { role: "viewer", at: elsewhere });
  const check = { capability: "groups.list", group: "platform" };
  const client = clientOf(api, visitor.token);
  expect(await checkOwn(client, await whoAmI(client), check)).toMatchObject({ group: here, isHeld: true });
  const own = clientOf(api);
  expect(await checkOwn(own, await whoAmI(own), check)).toMatchObject({ group: platform, isHeld: true });
});

test("the names of more groups than one address has room for are read in several requests", async () => {
  const names = Array.from({ length: 150 }, (_, i) => `g${i}`);
  const groups = await Promise.all(names.map((name) => createUid(api, "groups", platform, { name })));
  const paths: string[] = [];
  const grants = groups.map((group) => ({ group, role: "viewer", capabilities: [] }));
  const graph = await groupsOfGrants(clientOf(api, api.owner.token, paths), grants);
  expect(groups.map((group) => pathOf(graph, group))).toEqual(names.map((name) => `platform/${name}`));
  expect(paths).toHaveLength(2);
});
