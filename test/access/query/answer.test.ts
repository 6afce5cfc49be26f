// "Where can this act", "who can act here", "who can do this".
import fc from "fast-check";
import { expect, test } from "vitest";
import { accessIn } from "../../../access/graph/effective-access.ts";
import { type GraphBuilder, lineageOf, newGraph, pathOf } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { answerOf } from "../../../access/query/answer.ts";
import { checkOwn, groupsOfGrants } from "../../../access/query/own-groups.ts";
import { QuestionError, type QuestionText } from "../../../access/query/question.ts";
import { coveredIn } from "../../../access/query/unused.ts";
import { whoAmI } from "../../../access/query/whoami.ts";
import type { Client } from "../../../client/client.ts";
import { ApiError, type Code } from "../../../schema/index.ts";
import { createUid } from "../../harness/records.ts";
import { startTeam } from "../../harness/team.ts";
import { valuesOf } from "../../support/rows.ts";
import { clientOf } from "../client.ts";
import { addIdentity, bind, changed, graphOf, ROOT, roleUid, uid, uidIn } from "../graphs.ts";

const MATCH = { issuer: "https://issuer.example", subject: "s" };

/** `reader` at the root, `publisher` in the registry. */
const own = graphOf({
  groups: ["platform", "platform/registry", "tools"],
  roles: { viewer: ["groups.list", "repo.list"], "platform/publisher": ["repo.list", "tag.create"] },
  identities: { reader: MATCH, "platform/release": MATCH },
  access: {
    "/": { viewer: ["reader"] },
    "platform/registry": { "platform/publisher": ["platform/release"] },
    tools: { viewer: ["platform/release"] },
  },
});
const [TOOLS, RELEASE, PUBLISHER] = [uid("tools"), uid("platform/release"), roleUid("platform/publisher")];
const OTHER = "f".repeat(40);
const both = changed(own, (graph) => {
  graphOf({ name: "zenith", root: OTHER, groups: ["tools"] }, graph);
  bind(graph, uid("tools", OTHER), RELEASE, roleUid("viewer"));
});

const answerRows = (question: QuestionText, from: GraphBuilder): string[] => {
  const { graph, held } = answerOf({ graph: from, notVisible: [] }, question);
  const name = (id: string) =>
    graph.identities.get(id)?.name ?? graph.groups.get(id)?.name ?? graph.roles.get(id)?.name;
  return held.flatMap(({ identity, group, role, capabilities = [] }) =>
    capabilities.map((one) => `${name(identity)} ${name(group)} ${one} by ${name(role)}`),
  );
};

const inRegistry = ["release registry tag.create by publisher", "release registry repo.list by publisher"];
const inTools = ["release tools groups.list by viewer", "release tools repo.list by viewer"];
const above = ["reader acme groups.list by viewer", "reader acme repo.list by viewer"];
const twice = changed(own, (graph) => bind(graph, TOOLS, RELEASE, PUBLISHER));

test.each<[what: string, questions: QuestionText[], rows: string[], graph?: GraphBuilder]>([
  ["an identity acts at its bindings", [{ identity: "release" }, { identity: RELEASE }], [...inRegistry, ...inTools]],
  [
    "who acts at a group comes from its bindings and those above",
    ["platform/registry", "/platform/registry/", uid("platform/registry")].map((group) => ({ group })),
    [...inRegistry, ...above],
  ],
  ["not from those below or beside", [{ group: "platform" }, { group: "/" }], above],
  [
    "who can do something: a friendly name or that of the API",
    [{ capability: "tag.create" }, { capability: "CAP_TAG_CREATE" }],
    inRegistry.slice(0, 1),
  ],
  ["questions combine", [{ identity: "release", group: "tools", capability: "repo.list" }], inTools.slice(1)],
  ["to nothing", [{ identity: "reader", capability: "tag.create" }], []],
  ["without any, all access is the answer", [{}], [...inRegistry, ...above, ...inTools]],
  [
    "two bindings that grant the same are two grants",
    [{ identity: "release", group: "tools", capability: "repo.list" }],
    ["release tools repo.list by publisher", ...inTools.slice(1)],
    twice,
  ],
  ["a path that one organization has", [{ group: "platform" }, { group: "/ of acme" }], above, both],
  ["a path with its organization", [{ group: "tools of zenith" }], inTools, both],
  ["the other organization itself", [{ group: "/ of zenith" }], [], both],
])("%s", (_, questions, rows, graph = own) => {
  for (const question of questions) expect(answerRows(question, graph)).toEqual(rows);
});

const twins = changed(own, (graph) => addIdentity(graph, uid("tools/release"), "release", TOOLS, MATCH));
const hidden = { kind: "identity" as const, group: ROOT, message: "identities of this group cannot be listed" };
const SEEN: Readonly<Record<string, Partial<Live>>> = {
  twins: { graph: twins },
  both: { graph: both },
  hidden: { notVisible: [hidden] },
};
const which = (path: string, one: string, other: string) =>
  `2 groups have the path "${path}"; give the path with its organization, such as "${path} of acme", or a uid:\\n  ${one} ${path} of acme\\n  ${other} ${path} of zenith`;
const NEAREST = "npx pulumi-irm access prints each identity that has a role";

const REFUSED = `
an identity without a near name | { identity: nobody } | there is no identity "nobody"; ${NEAREST}
an unknown uid | { identity: ${uid("nobody")} } | there is no identity "${uid("nobody")}"; ${NEAREST}
all unknown names at once, each with the nearest | { identity: relaese, group: platform/registri, capability: CAP_TAG_CRAETE }
  | there is no identity "relaese"; did you mean release?\\nthere is no group "platform/registri"; did you mean platform/registry?\\nno role has the capability "CAP_TAG_CRAETE"
a path that begins with the organization | { group: acme/platform/registry }
  | there is no group "acme/platform/registry"; a path begins below the organization: platform/registry
the organization by name | { group: acme } | there is no group "acme"; / is the organization itself
an empty group, which is no way to write the organization | { group: "" }
  | a group is a uid or a path, and this is empty; / is the organization itself
an ambiguous name, with its uids | { identity: release }
  | 2 identities have the name "release"; give a uid:\\n  ${RELEASE} in platform\\n  ${uid("tools/release")} in tools | twins
a path of two organizations | { group: tools } | ${which("tools", TOOLS, uid("tools", OTHER))} | both
two organizations themselves | { group: / } | ${which("/", ROOT, OTHER)} | both
a path with one of several organizations | { group: acme/platform }
  | there is no group "acme/platform"; a path begins below the organization: platform | both
a name that may be hidden | { identity: deploy }
  | there is no identity "deploy"; you cannot list all groups and identities, so it may be among the others | hidden
`;

test.each(valuesOf<[string, QuestionText, string, string?]>("-y", REFUSED))(
  "refuses %s",
  (_, question, refusal, seen) => {
    const live = { graph: own, notVisible: [], ...SEEN[seen ?? ""] };
    expect(() => answerOf(live, question)).toThrow(new QuestionError(refusal.replaceAll("\\n", "\n")));
  },
);

test("a binding whose role cannot be read is unknown, not without access", () => {
  const [group, hidden] = [uid("platform"), uid("platform/hidden")];
  const graph = changed(own, (after) => {
    after.roles.set(hidden, { id: hidden, uid: hidden, name: "hidden", group, capabilities: [] });
    bind(after, group, RELEASE, hidden);
  });
  const rolesNotRead = (notVisible: Live["notVisible"], question: QuestionText) =>
    answerOf({ graph, notVisible }, question).held.flatMap(({ role, capabilities }) => (capabilities ? [] : role));
  const notVisible = [{ kind: "role" as const, group, message: "roles of this group cannot be listed" }];
  expect(rolesNotRead(notVisible, { identity: "release", capability: "tag.create" })).toEqual([hidden]);
  expect(rolesNotRead([], { identity: "release" })).toEqual([]);
});

const CAPABILITIES = ["groups.list", "repo.list", "tag.create"];
const CAPABILITY_SETS = [[0], [1], [0, 1], [0, 1], [1, 2], [0, 1, 2], []];

const GROUPS = ["/", "platform", "platform/registry", "tools"];
const [groups, identities] = [GROUPS.map((path) => uid(path)), ["a", "b"].map((path) => uid(path))];

/** Some roles have the same capabilities, and a triple may be bound several times. */
const graphOfBindings = (bindings: readonly (readonly [group: number, identity: number, role: number])[]) => {
  const held = CAPABILITY_SETS.map((set, i) => [`/role-${i}`, set.map((one) => CAPABILITIES[one] as string)]);
  const graph = graphOf({ groups: GROUPS.slice(1), roles: Object.fromEntries(held), identities: { a: {}, b: {} } });
  bindings.forEach((numbers, i) => {
    const [group, identity, role] = [groups[numbers[0]], identities[numbers[1]], uid(`role-${numbers[2]}`)] as const;
    const id = uidIn(group as string, 256 + ((i * 7) % 31));
    graph.bindings.set(id, { id, uid: id, group: group as string, identity: identity as string, role });
  });
  return graph;
};

const binding = fc.tuple(fc.nat(3), fc.nat(1), fc.nat(CAPABILITY_SETS.length - 1));

test("without the covered bindings each identity holds the same everywhere, no other can go, and a role that cannot be read covers nothing", () => {
  fc.assert(
    fc.property(fc.array(binding, { maxLength: 20 }), (bindings) => {
      const graph = graphOfBindings(bindings);
      const covered = coveredIn(graph, () => true);
      const left = newGraph(graph);
      for (const id of covered.keys()) left.bindings.delete(id);
      const heldIn = (one: typeof graph) => {
        const access = accessIn(one);
        return identities.flatMap((identity) =>
          groups.map((group) => CAPABILITIES.filter((name) => access.holds(identity, name, lineageOf(one, group)))),
        );
      };
      expect(heldIn(left)).toEqual(heldIn(graph));
      expect(coveredIn(left, () => true).size).toBe(0);
      for (const { by } of covered.values()) expect(left.bindings.has(by.id)).toBe(true);
    }),
  );
  const graph = graphOfBindings([
    [0, 0, 5],
    [1, 0, 0],
  ]);
  expect(coveredIn(graph, () => true).size).toBe(1);
  for (const role of ["role-0", "role-5"]) expect(coveredIn(graph, (id) => id !== uid(role)).size).toBe(0);
});

const { api, platform, registry, publisher, reader } = await startTeam();
const release = await api.actor("release", { role: publisher, at: registry, in: platform });

const without = (client: Client, operations: readonly string[], code: Code = "UNIMPLEMENTED"): Client => ({
  ...client,
  call: (operation, request, options) =>
    operations.includes(operation)
      ? Promise.reject(new ApiError(code, "not served", { operation }))
      : client.call(operation, request, options),
});

test.each<Code>(["UNIMPLEMENTED", "NOT_FOUND", "UNKNOWN"])(
  "without Validate (%s) the grants are the same",
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

test("a role that cannot be read is named and grants nothing that is known; a refused list and an opaque token leave the grants unknown, and a refused token is an error", async () => {
  const who = await whoAmI(without(clientOf(api), ["Validate", "GetRole"], "PERMISSION_DENIED"));
  expect(who.grants).toMatchObject([{ group: api.organization, role: "owner", capabilities: [] }]);
  expect(who.notKnown).toEqual([
    `the capabilities of role owner in ${api.organization}: roles.list is needed where it is defined`,
  ]);
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
  // The API shows no relationship of a person.
  const listing = without(clientOf(api), ["Validate"]);
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
