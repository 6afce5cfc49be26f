// Drift: from the run of the program on a copy, the copy and the journal, and in two sets of inputs.
import { expect, test } from "vitest";
import { differencesOf } from "../../../access/drift/differences.ts";
import type { JournalEntry } from "../../../access/drift/index.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { driftDocument, hasDifferences } from "../../../access/format/drift.ts";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import { openStackText } from "../../../client/preview-marks.ts";
import { SECRET, UNKNOWN } from "../../../pulumi/value.ts";
import type { Json } from "../../../schema/index.ts";
import { valuesOf } from "../../support/rows.ts";
import { addRole, graphOf, ROOT, uid, uidIn } from "../graphs.ts";
import { bindingUid, CI, liveWith, MAKER, NOW_MS, TEAM, urnOf, VIEWER } from "../team.ts";
import {
  create,
  DRIFT,
  NO_DRIFT,
  remove,
  report,
  resource,
  secret,
  step,
  TEAM_INPUTS,
  TEAM_RESOURCE,
  update,
  VIEWER_OUTPUTS,
} from "./report.ts";

const described = { ...TEAM_INPUTS, description: "of the program" };

test("drift of a stack that is as the program has it is empty", () => {
  const found = report();
  expect(found).toEqual(NO_DRIFT);
  expect(hasDifferences(found)).toBe(false);
});

test("drift names record, place and what differs, and the resource by its new name", () => {
  const found = report({
    stored: [resource("Group", "before", TEAM, described)],
    left: [resource("Group", "team", TEAM, described)],
    records: { [TEAM]: { description: "by hand" } },
    calls: [update("UpdateGroup", TEAM, { description: "of the program" })],
  });
  expect(found.drift).toEqual([
    {
      ...{ resource: urnOf("Group", "team"), kind: "group", uid: TEAM, name: "team", groupName: "team" },
      change: "changed",
      differences: [{ path: "description", program: "of the program", live: "by hand", changedIn: "service" }],
    },
  ]);
  expect(hasDifferences(found)).toBe(true);
});

test("drift says whether a record is gone, not created yet, or not in the program any more", () => {
  const gone = { name: "gone", parent: TEAM };
  const found = report({
    stored: [
      TEAM_RESOURCE,
      resource("Identity", "gone", uidIn(TEAM, 9), gone),
      resource("Identity", "ci", CI, { name: "ci", parent: ROOT }),
      resource("Role", "both", uidIn(TEAM, 8), { name: "both", parent: TEAM }),
    ],
    left: [
      TEAM_RESOURCE,
      resource("Identity", "gone", uidIn(TEAM, 20), gone),
      resource("Identity", "new", uidIn(TEAM, 21), { name: "new", parent: TEAM }),
      resource("Role", "old", MAKER, { name: "maker", parent: TEAM, adopt: MAKER }),
    ],
    steps: [
      ...["gone", "new"].map((name) => step("create", "Identity", name)),
      ...[step("create", "Role", "old"), step("delete", "Identity", "ci")],
    ],
    calls: [
      ...["gone", "new"].map((name, i) => create("CreateIdentity", TEAM, uidIn(TEAM, 20 + i), { name })),
      remove("DeleteIdentity", CI),
    ],
  });
  expect(found.drift.map(({ change, kind, uid, name, groupName }) => [change, kind, uid, name, groupName])).toEqual([
    ["dropped", "identity", CI, "ci", "/"],
    ["gone", "identity", uidIn(TEAM, 9), "gone", "team"],
    ["new", "identity", null, "new", "team"],
    ["new", "role", MAKER, "maker", "team"],
  ]);
});

test("drift shows what may own first, then what changes records, then what reads", () => {
  const live = liveWith();
  const [owner, editors] = [addRole(live.graph as GraphBuilder, "owner", ["role_bindings.create"]), uid("editors")];
  graphOf({ name: "dev", roles: { "/editors": ["repo.create"] } }, live.graph as GraphBuilder);
  const bind = (name: string, roleUid: string, parent: string) => {
    const id = `${parent}/${name}`;
    return {
      resource: resource("RoleBinding", name, id, { parent, identity: CI, role: roleUid }),
      step: step("create", "RoleBinding", name),
      call: create("CreateRoleBinding", parent, id, { identityUid: CI, roleUid }),
    };
  };
  const bindings = [bind("b-reads", VIEWER, ROOT), bind("c-writes", editors, TEAM), bind("e-owns", owner, TEAM)];
  const role = (...capabilities: string[]) =>
    resource("Role", "d-role", MAKER, { name: "maker", parent: TEAM, capabilities });
  const group = resource("Group", "a-group", uid("x"), { name: "x", parent: ROOT });
  const { drift } = report(
    {
      stored: [role("CAP_REPO_CREATE")],
      left: [role("CAP_IAM_ROLE_BINDINGS_CREATE"), group, ...bindings.map((one) => one.resource)],
      steps: [step("create", "Group", "a-group"), ...bindings.map((one) => one.step)],
      calls: [
        create("CreateGroup", ROOT, uid("x"), { name: "x" }),
        update("UpdateRole", MAKER, { capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] }),
        ...bindings.map(({ call }) => call),
      ],
    },
    live,
  );
  const names = drift.map(({ resource: urn }) => urn.split("::").at(-1));
  expect(names).toEqual(["d-role", "e-owns", "c-writes", "b-reads", "a-group"]);
});

test("drift has a replacement once, and kinds that give no access", () => {
  const [repo, next] = [uidIn(TEAM, 7), uidIn(TEAM, 40)];
  const at = (uid: string, bundle: string) =>
    resource("Repo", "x", uid, { name: "x", parent: TEAM, bundles: [bundle] });
  const found = report({
    stored: [TEAM_RESOURCE, at(repo, "a")],
    left: [TEAM_RESOURCE, at(next, "b")],
    records: { [repo]: { name: "x", bundles: ["a"], catalogTier: "BASE" } },
    steps: ["create-replacement", "replace", "delete-replaced"].map((op) => step(op, "Repo", "x")),
    calls: [create("CreateRepo", TEAM, next, { name: "x", bundles: ["b"] }), remove("DeleteRepo", repo)],
  });
  expect(found.drift).toMatchObject([{ change: "replaced", kind: "repo", uid: repo, groupName: "team" }]);
  expect(found.drift[0]?.differences).toEqual([
    { path: "bundles", program: "b", live: null, changedIn: "program" },
    { path: "bundles", program: null, live: "a", changedIn: "program" },
  ]);
});

test("drift of a record that an update moves has its old place and the new one", () => {
  const next = uidIn(ROOT, 41);
  const at = (uid: string, parent: string) => resource("Role", "maker", uid, { name: "maker", parent });
  const found = report({
    stored: [at(MAKER, TEAM)],
    left: [at(next, ROOT)],
    steps: [step("create-replacement", "Role", "maker")],
    calls: [create("CreateRole", ROOT, next, { name: "maker" }), remove("DeleteRole", MAKER)],
  });
  const differences = [{ path: "parent", program: ROOT, live: TEAM, changedIn: "program" }];
  expect(found.drift).toMatchObject([{ change: "replaced", uid: MAKER, differences }]);
});

test("drift of a role binding has the names of what it refers to", () => {
  const binding = bindingUid(TEAM, 0);
  const [found] = report(
    {
      stored: [resource("RoleBinding", "b", binding, { parent: TEAM, identity: CI, role: "viewer" })],
      calls: [update("UpdateRoleBinding", binding, { roleUid: VIEWER })],
    },
    liveWith([TEAM, CI, MAKER]),
  ).drift;
  expect(found).toMatchObject({
    name: "ci as maker",
    groupName: "team",
    differences: [{ path: "role", program: "viewer", live: MAKER, changedIn: "service" }],
    names: { [MAKER]: "maker" },
  });
});

test("drift of what the run could not carry out is not known, and counts", () => {
  const found = report({
    stored: [TEAM_RESOURCE, resource("Role", "maker", MAKER, { name: "maker", parent: TEAM })],
    steps: [step("update", "Role", "maker", "the API refuses it"), step("create", "Group", "fresh", "taken")],
    notRun: [{ urn: urnOf("Group", "team"), op: "update", why: "it waits for bucket" }],
    errors: ["the program ended"],
    calls: [remove("DeleteGroup", uidIn(ROOT, 60))],
  });
  expect(found.unknown.map(({ message }) => message)).toEqual([
    "the program ended",
    "role maker: the API refuses it",
    "group team: it waits for bucket",
    `group ${uidIn(ROOT, 60)}: the update deletes it, and no resource of the stack has it`,
  ]);
  // The line of the record says it.
  expect(found.drift).toMatchObject([{ resource: urnOf("Group", "fresh"), change: "new", uid: null }]);
  expect(hasDifferences(found)).toBe(true);
});

const entry = (key: string, own: Partial<JournalEntry> = {}): JournalEntry => ({
  ...{ key: `organization/access/dev/${key}`, kind: "group", parent: TEAM, at: NOW_MS, ...own },
});

test("open creates come from the journal, of this stack alone, with the resource that the program still has", () => {
  const entries = [
    entry("Group::new", { answered: uidIn(TEAM, 30) }),
    entry("Group::left/over"),
    entry(`RoleBindingSet::set ${TEAM} ${CI} ${VIEWER}`, { kind: "roleBinding" }),
    { ...entry("Group::other"), key: "organization/access/prod/Group::other" },
  ];
  const left = [TEAM_RESOURCE, resource("Group", "new", uidIn(TEAM, 31), { name: "fresh", parent: TEAM })];
  const found = report({ left, steps: [step("create", "Group", "new")] }, liveWith(), { entries });
  const where = { group: TEAM, groupName: "team", time: "2026-11-22T00:00:00.000Z", source: "journal" };
  expect(found.pending).toEqual([
    { ...where, resource: null, logicalName: "left/over", kind: "group", uid: null, name: null },
    {
      ...{ ...where, resource: urnOf("Group", "new"), logicalName: "new" },
      ...{ kind: "group", uid: uidIn(TEAM, 30), name: "fresh" },
    },
    { ...where, resource: null, logicalName: "set", kind: "role binding", uid: null, name: null },
  ]);
});

test("open creates come from the engine's state, unless the journal has the create", () => {
  const begun = ["open", "both"].map((name) => resource("Group", name, "", { name, parent: TEAM }));
  const left = [TEAM_RESOURCE, resource("Group", "both", uidIn(TEAM, 32), { name: "both", parent: TEAM })];
  const found = report({ left, begun }, liveWith(), { entries: [entry("Group::both")] });
  expect(found.pending.map(({ logicalName, name, source, time }) => [logicalName, name, source, time])).toEqual([
    ["both", "both", "journal", "2026-11-22T00:00:00.000Z"],
    ["open", "open", "state", null],
  ]);
  expect(hasDifferences(found)).toBe(true);
});

test("an open stack is a difference", () => {
  const doubt = openStackText("organization/access/dev", "a run without checkpoints did not end");
  const found = report({ doubts: [doubt] });
  expect(found.unknown).toEqual([{ subject: "", message: doubt }]);
  expect(hasDifferences(found)).toBe(true);
  expect(documentAsText(driftDocument(found), { color: false })).toContain("stack organization/access/dev is open");
});

test("what the program computes in the update is no text of the report", () => {
  const made = uidIn(TEAM, 50);
  const description = `made for ${made}`;
  const found = report({
    left: [resource("Group", "team", TEAM, { ...TEAM_INPUTS, description })],
    calls: [create("CreateGroup", TEAM, made, { name: "x" }), update("UpdateGroup", TEAM, { description })],
  });
  expect(found.drift[0]?.differences).toEqual([{ path: "description", program: "[unknown]", live: null }]);
});

test("a name that the program marks as secret is nowhere, though the API lists it", () => {
  const hidden = { ...TEAM_INPUTS, name: secret("team"), description: "b" };
  const pair = { parent: TEAM, identity: CI, role: "viewer" };
  const binding = bindingUid(TEAM, 0);
  const found = report(
    {
      stored: [resource("Group", "group", TEAM, hidden), resource("RoleBinding", "b", binding, pair, VIEWER_OUTPUTS)],
      records: { [TEAM]: { description: "a" } },
      secrets: ["team"],
      calls: [
        update("UpdateGroup", TEAM, { name: "team", description: "b" }),
        update("UpdateRoleBinding", binding, { roleUid: VIEWER }),
      ],
    },
    liveWith([TEAM, CI, MAKER], [TEAM, CI, MAKER]),
  );
  expect(found.drift.map(({ name, groupName }) => [name, groupName])).toEqual([
    ["ci as maker", "[secret]"],
    ["[secret]", "[secret]"],
  ]);
  expect(found.undeclared).toMatchObject([{ role: "maker", groupName: "[secret]" }]);
  expect(JSON.stringify(found)).not.toContain('"team"');
});

/** `path "of the program" "of the service" who has changed it` */
const differences = (program: Json, live: Json, base?: Json): string[] =>
  differencesOf(program, live, base).map((one) =>
    [one.path, JSON.stringify(one.program), JSON.stringify(one.live), one.changedIn ?? []].flat().join(" "),
  );

/** What is compared: the inputs of the program, those of the service, those of the last update, and what differs. */
const ROWS = `
one that the service has changed | { name: a } | { name: b } | { name: a } | [name "a" "b" service]
one that the program has changed | { name: b } | { name: a } | { name: a } | [name "b" "a" program]
one that both have changed | { name: b } | { name: c } | { name: a } | [name "b" "c" both]
one of which the last update is not known | { name: b } | { name: c } | ~ | [name "b" "c"]
a path as Pulumi writes it, also where a name has dots | { m: { "a.b": "1", c: "1" } } | { m: { "a.b": "2", c: "1" } }
  | { m: { "a.b": "1", c: "1" } }
  | ['m["a.b"] "1" "2" service']
one that a side lacks is null there | { name: a } | { name: a, description: x } | { name: a } | [description null "x" service]
a map that a side lacks is whole | { m: { a: x } } | { name: a } | ~ | ['m {"a":"x"} null', name null "a"]
adopt says which record is meant, and no record has it | { name: a, adopt: x } | { name: b } | { name: a, adopt: x }
  | [name "a" "b" service]
names of what every object inherits | { m: { constructor: x } } | { m: { c: "1" } } | { m: {} }
  | [m.c null "1" service, m.constructor "x" null program]
what means the same to the API, and marks of the provider
  | { __service: a, names: [x], uid: x, description: "", capabilities: [b, a], name: x }
    | { __service: b, names: [y], capabilities: [a, b], name: y }
  | ~ | [name "x" "y"]
what only the update knows, and nobody has changed | { parent: ${UNKNOWN} } | { parent: a } | { parent: a } | ['parent "[unknown]" "a"']
each element of one side, by the names of the documentation
  | { capabilities: [CAP_IAM_GROUPS_LIST, CAP_REPO_LIST, CAP_TAG_LIST] } | { capabilities: [CAP_IAM_GROUPS_LIST, CAP_REPO_CREATE] }
  | { capabilities: [CAP_IAM_GROUPS_LIST, CAP_REPO_LIST] }
  | [capabilities "repo.list" null service, capabilities "tag.list" null program, capabilities null "repo.create" service]
equal elements of a list are counted | { b: [{ role: v }] } | { b: [{ role: v }, { role: v }] } | ~ | ['b null {"role":"v"}']
a list that a side lacks is its elements | {} | { bindings: [{ role: v }] } | {} | ['bindings null {"role":"v"} service']
another order of a list | { list: [a, b] } | { list: [b, a] } | { list: [a, b] } | ['list ["a","b"] ["b","a"]']
another order is none beside another difference | { list: [a, b], name: x } | { list: [b, a], name: y } | ~ | [name "x" "y"]
`;

test.each(valuesOf<[string, Json, Json, Json | null, string[]]>("-yyyy", ROWS))(
  "compares %s",
  (_, program, live, base, expected) => expect(differences(program, live, base ?? undefined)).toEqual(expected),
);

test("a value may be the name of what every object inherits", () => {
  const difference = { path: "description", program: "constructor", live: "toString" };
  const document = driftDocument({ ...NO_DRIFT, drift: [{ ...DRIFT, differences: [difference] }] });
  expect(documentAsText(document, { color: false })).toContain('the program has "constructor", the service "toString"');
});

const CLEAR = "clear text";

test.each<[string, Json, Json, Json | undefined]>([
  ["of the program hides the value of the service", { name: SECRET }, { name: CLEAR }, undefined],
  ["of the last update hides both", { name: CLEAR }, { name: `${CLEAR} 2` }, { name: SECRET }],
  ["of the last update hides what the program left out", {}, { name: CLEAR }, { name: SECRET }],
  ["above a value hides it", { oidc: SECRET }, { oidc: { clientSecret: CLEAR } }, undefined],
  ["in a list hides the list", { list: [SECRET, "a"] }, { list: [CLEAR, "b"] }, undefined],
])("a secret %s", (_, program, live, base) => {
  const found = differencesOf(program, live, base);
  expect(found).toHaveLength(1);
  expect(JSON.stringify(found)).not.toContain(CLEAR);
  expect(found[0]).not.toHaveProperty("changedIn");
});

test("a secret beside other values hides itself alone", () => {
  const oidc = (issuer: string) => ({ oidc: { issuer, clientSecret: SECRET } });
  expect(differencesOf(oidc("a"), oidc("b"), oidc("a"))).toEqual([
    { path: "oidc.issuer", program: "a", live: "b", changedIn: "service" },
  ]);
  expect(differencesOf(oidc("a"), {}, undefined)).toEqual([
    { path: "oidc", program: { issuer: "a", clientSecret: SECRET }, live: null },
  ]);
});

test("a secret is named where nothing else differs: the engine sees that it does", () => {
  const oidc = { oidc: { issuer: "a", clientSecret: SECRET } };
  expect(differencesOf(oidc, oidc, oidc)).toEqual([{ path: "oidc.clientSecret", program: SECRET, live: SECRET }]);
});
