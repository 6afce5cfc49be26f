// What a run on a copy has done to access: from the copy before and after it, and from the state of its stack.
import { expect, test } from "vitest";
import type { Write } from "../../../access/change/write.ts";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import { unknownOf } from "../../../access/run/not-run.ts";
import { proposalFromRun, type RunFacts } from "../../../access/run/proposal.ts";
import { restoredWrites } from "../../../access/run/restored.ts";
import { managedIn } from "../../../access/run/stack.ts";
import { parsePreview } from "../../../pulumi/preview.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, addInvite, addRole, changed, graphOf, ROOT, roleUid, uid, uidIn } from "../graphs.ts";

const [TEAM, CI, MADE, CI_VIEWS] = [uid("team"), uid("ci"), uid("new"), uid("binding")];
const MEMBER = uidIn(MADE, 3);
const BOT = `${MADE}/${"b".repeat(16)}`;

const urnOf = (type: string, name: string) => `urn:pulumi:dev::acme::irm:index:${type}::${name}`;
const resource = (type: string, name: string, id: string, more: Json = {}) => ({ urn: urnOf(type, name), id, ...more });
const claims = (subject: string) => ({ issuer: "https://issuer.example", subject });

const link = (graph: GraphBuilder, id: string, group: string, identity: string, role: string): string => {
  graph.bindings.set(id, { id, uid: id, group, identity, role });
  return id;
};

const before = graphOf({
  groups: ["team"],
  roles: { viewer: ["repo.list"], "/publisher": ["repo.create"] },
  identities: { ci: claims("ci") },
});
const [viewer, own] = [roleUid("viewer"), roleUid("/publisher")];
link(before, CI_VIEWS, ROOT, CI, viewer);

const run = (
  after: (graph: GraphBuilder) => void,
  stack: { stored?: Json[]; left?: Json[] } & Omit<Partial<RunFacts>, "stored" | "left"> = {},
) => {
  const { stored = [], left = [], ...more } = stack;
  return proposalFromRun({
    ...{ before, after: changed(before, after), held: [], isSecret: () => false, ending: new Set(), unknown: [] },
    ...{ ...more, stored: managedIn(stored as never), left: managedIn(left as never) },
  });
};
const adds = (graph: GraphBuilder): void => {
  addGroup(graph, MADE, "new", ROOT);
  addIdentity(graph, BOT, "bot", MADE, claims(`of ${MADE} and ${BOT}`));
  link(graph, MEMBER, MADE, BOT, own);
};

const left = [resource("Group", "team", MADE), resource("Identity", "bot", BOT)];

test("a new record has the URN of its resource as id, and no uid: the service makes another one", () => {
  const { after } = run(adds, { left });
  const [group, bot] = [urnOf("Group", "team"), urnOf("Identity", "bot")];
  expect(after.groups.get(group)).toEqual({ id: group, uid: null, name: "new", parent: ROOT, logicalName: "team" });
  expect(after.identities.get(bot)).toMatchObject({ id: bot, uid: null, name: "bot", group });
  // Without a resource, such as the founding of an organization or a member of a set, it keeps its id.
  expect([...after.bindings.values()].at(-1)).toEqual({
    ...{ id: MEMBER, uid: null },
    ...{ group, identity: bot, role: own },
  });
});

test("a new record is named in a text that has its uid", () => {
  const bot = run(adds, { left }).after.identities.get(urnOf("Identity", "bot"));
  expect(bot?.relationship).toEqual({ claimMatch: claims("of [uid of new] and [uid of bot]") });
});

test("a new record of the same key as one that is gone replaces it, if it is an identity", () => {
  const stored = [resource("Identity", "bot", CI), resource("Group", "team", TEAM)];
  const found = run(
    (graph) => {
      adds(graph);
      graph.identities.delete(CI);
      graph.bindings.delete(CI_VIEWS);
      graph.groups.delete(TEAM);
    },
    { stored, left },
  );
  expect([...found.replaced]).toEqual([[CI, urnOf("Identity", "bot")]]);
  expect([...found.deleted].sort()).toEqual([TEAM, CI].sort());
});

test("a new record: an invite has the name of its resource, and no end yet", () => {
  const [id, expirationTime] = [uid("invite"), "2026-12-01T00:00:00Z"];
  const invited = (graph: GraphBuilder) => addInvite(graph, id, "key-id", ROOT, viewer, { expirationTime });
  const found = run(invited, { left: [resource("GroupInvite", "guests", id)] });
  expect([...found.after.invites.values()]).toMatchObject([{ name: "guests", uid: null, expirationTime: null }]);
});

test("records that exist which no resource had, and one has now, are adopted; not one that is only read", () => {
  const left = [
    resource("Group", "team", TEAM, { inputs: { deleteAdopted: true }, outputs: { adopted: true } }),
    resource("Role", "viewer", viewer, { outputs: { adopted: true } }),
    resource("Identity", "ci", CI),
    resource("RoleBinding", "views", CI_VIEWS),
    resource("Role", "publisher", own, { external: true }),
  ];
  const { adopted } = run(() => {}, { left, stored: [resource("RoleBinding", "views", CI_VIEWS)] });
  expect(adopted).toEqual([
    { kind: "group", uid: TEAM, resource: "team", deletedLater: true },
    { kind: "role", uid: viewer, resource: "viewer", deletedLater: false },
    { kind: "identity", uid: CI, resource: "ci", deletedLater: true },
  ]);
});

test("records that go with forceDestroy are named with what they hold, as are those that get it", () => {
  const held = [
    { kind: "repo" as const, uid: uid("team/images"), name: "images", group: TEAM },
    { kind: "repo" as const, uid: uid("other"), name: "other", group: ROOT },
  ];
  const stored = [
    resource("Group", "team", TEAM, { inputs: { forceDestroy: true } }),
    resource("Role", "own", own, { outputs: {} }),
  ];
  const left = [resource("Role", "own", own, { inputs: { forceDestroy: true } })];
  const { forced } = run((graph) => void graph.groups.delete(TEAM), { stored, left, held });
  expect(forced).toEqual([
    { kind: "group", resource: "team", uid: TEAM, node: TEAM, deletes: true, held: [held[0]] },
    { kind: "role", resource: "own", uid: own, node: own, deletes: false },
  ]);
});

test("records without a resource are undeclared, in the organizations of the change alone", () => {
  const undeclared = (...args: Parameters<typeof run>) => run(...args).undeclared;
  expect(undeclared(() => {})).toEqual([]);
  expect(undeclared(adds)).toEqual([CI_VIEWS]);
  expect(undeclared(() => {}, { left: [resource("Group", "team", TEAM)] })).toEqual([CI_VIEWS]);
  expect(undeclared(() => {}, { left: [resource("RoleBinding", "views", CI_VIEWS)] })).toEqual([]);
  const bindings = [{ uid: CI_VIEWS, identity: { uid: CI }, role: { uid: viewer } }];
  const left = [resource("RoleBindingSet", "set", ROOT, { outputs: { bindings } })];
  expect(undeclared(() => {}, { left })).toEqual([]);
  const { after } = run(() => {}, { ending: new Set([CI_VIEWS]) });
  expect(after.bindings.size).toBe(0);
});

const [GONE, GONE_BOT] = [uid("gone"), uid("gone/bot")];
const output = { name: "bot", claimMatch: claims("bot") };
const bot = (graph: GraphBuilder): void => {
  addGroup(graph, MADE, "new", ROOT);
  addIdentity(graph, BOT, "renamed", MADE, claims("bot"));
  link(graph, MEMBER, MADE, BOT, own);
};
const restoredBy = (name: string, stored: Json[]): Proposal["restored"] =>
  run(bot, { stored, left: [resource("Group", name, MADE), resource("Identity", name, BOT)] }).restored;

test("what somebody removed by hand is restored under the name of its resource, and under another one", () => {
  const bindings = [{ uid: uid("gone/binding"), identity: { uid: GONE_BOT }, role: { uid: own } }];
  const stored = [
    resource("Group", "one", GONE, { outputs: { name: "new" } }),
    resource("Identity", "one", GONE_BOT, { outputs: output }),
    // of a set; and what it gave stands for the same in the new places
    resource("RoleBindingSet", "set", GONE, { outputs: { bindings } }),
  ];
  for (const name of ["one", "another"]) {
    expect(restoredBy(name, stored), name).toEqual([urnOf("Group", name), urnOf("Identity", name), MEMBER]);
  }
});

test("what somebody removed by hand is written with the record whose place it takes", () => {
  const after = changed(before, bot);
  const same = resource("Role", "same", own, { inputs: { name: "publisher" } });
  const other = (name: string) => resource("Identity", "other", CI, { inputs: { name } });
  const stored = [resource("Group", "one", GONE, { outputs: { name: "new" } }), same, other("of old")];
  const left = [resource("Group", "one", MADE), same, other("ci")];
  const mask = ["name"];
  const writes: Write[] = [
    { n: 1, method: "CreateGroup", parent: ROOT, fields: { name: "new" } },
    { n: 2, method: "UpdateRole", uid: own, fields: { name: "publisher" }, mask },
    { n: 3, method: "UpdateIdentity", uid: CI, fields: { name: "ci" }, mask },
  ];
  const normal = { writes, uids: new Map([[1, MADE]]), keys: [], encodeText: (text: string) => text };
  const run = { stored, left, normal } as unknown as Parameters<typeof restoredWrites>[1];
  expect(restoredWrites([{ before: { graph: before }, after: { graph: after } }], run)).toEqual([
    { n: 1, uid: GONE },
    { n: 2, uid: own },
  ]);
});

test("what somebody removed by hand is not what is new beside it", () => {
  expect(restoredBy("another", [resource("Group", "one", GONE, { outputs: { name: "else" } })])).toEqual([]);
  expect(restoredBy("another", [resource("Group", "one", TEAM, { outputs: { name: "new" } })])).toEqual([]);
});

const secret = (...texts: string[]) => ({ isSecret: (text: string) => texts.some((one) => text.includes(one)) });

test("what the state marks as secret is hidden where it changed, and not known where it decides access", () => {
  const found = run(
    (graph) => {
      adds(graph);
      graph.roles.set(own, { ...graph.roles.get(own), capabilities: ["repo.create", "roles.update"] } as never);
    },
    { left: [resource("Identity", "bot", BOT)], ...secret("roles.update", "bot") },
  );
  const bot = urnOf("Identity", "bot");
  expect(found.after.identities.get(bot)).toMatchObject({ name: "[secret]", relationship: { claimMatch: {} } });
  expect(found.after.roles.get(own)?.capabilities).toEqual(["repo.create"]);
  const message = "publisher: what the role grants is secret";
  const hides = { of: "capabilities", role: own };
  expect(found.unknown).toEqual([{ subject: "publisher", property: "capabilities", message, hides, about: own }]);
  const claim = run(adds, { left: [resource("Identity", "bot", BOT)], ...secret("issuer.example") });
  expect(claim.after.identities.get(bot)?.relationship).toBeNull();
  expect(claim.unknown).toMatchObject([{ hides: { of: "assumable", identity: bot }, about: bot }]);
  const part = run(adds, secret(BOT));
  expect([...part.after.bindings.values()].map(({ id }) => id)).toEqual([CI_VIEWS]);
  expect(part.unknown).toContainEqual(expect.objectContaining({ hides: { of: "binding", role: own, group: MADE } }));
  const { after, unknown } = run(() => {}, secret("ci", "repo", "acme", CI));
  expect(after).toEqual(before);
  expect(unknown).toEqual([]);
});

const KNOWN = uidIn(ROOT, 2);
const graph = newGraph();
const viewerRole = addRole(graph, "viewer", ["repo.list"]);

const hiddenBy = (type: string, inputs: Json, { op = "create", id = "" } = {}) => {
  const token = type.includes(":") ? type : `irm:index:${type}`;
  const urn = `urn:pulumi:dev::acme::${token}::one`;
  const state = { urn, type: token, inputs };
  const step = { op, urn, newState: state, ...(id && { oldState: { ...state, id } }) };
  const { steps } = parsePreview(JSON.stringify({ steps: [step] }), "test");
  const found = unknownOf({ urn, op, why: "it waits for bucket, which another provider changes" }, steps, graph);
  for (const { subject, message } of found)
    expect([subject, message]).toEqual(["one", expect.stringMatching(/^[a-z ]+ one: it waits for bucket/)]);
  return found.map(({ hides }) => hides);
};

const [inRoot, at, matched] = [{ parent: ROOT }, { group: ROOT }, { parent: ROOT, adopt: "match" }];

test.each<[string, Json, unknown[]]>([
  [
    "RoleBinding",
    { ...inRoot, identity: KNOWN, role: "viewer" },
    [{ of: "binding", identity: KNOWN, role: viewerRole, ...at }],
  ],
  ["RoleBinding", { parent: ROOT, role: "two of a name" }, [{ of: "binding", group: ROOT }]],
  ["RoleBindingSet", { parent: ROOT }, [{ of: "bindings", group: ROOT }]],
  ["RoleBindingSet", {}, [{ of: "bindings" }]],
  ["IdentityProvider", { parent: ROOT }, [{ of: "people", group: ROOT }, { of: "issuer" }]],
  ["GroupInvite", { parent: ROOT }, [{ of: "people", group: ROOT }]],
  ["ExternalGroupRoleMapping", {}, [{ of: "people" }]],
  ["Identity", { adopt: "not known" }, [{ of: "takeover", kind: "identity", inputs: { adopt: "not known" } }]],
  ["Group", matched, [{ of: "takeover", kind: "group", inputs: matched }]],
  ["Group", { parent: ROOT }, [undefined]],
  ["other:index:Thing", {}, [undefined]],
])("%s %j", (type, inputs, hidden) => expect(hiddenBy(type, inputs)).toEqual(hidden));

test("a record that exists is named, and a deletion gives nothing", () => {
  expect(hiddenBy("Identity", {}, { op: "update", id: KNOWN })).toEqual([{ of: "assumable", identity: KNOWN }]);
  expect(hiddenBy("Role", {}, { op: "update", id: viewerRole })).toEqual([{ of: "capabilities", role: viewerRole }]);
  expect(hiddenBy("RoleBinding", {}, { op: "delete", id: KNOWN })).toEqual([undefined]);
});
