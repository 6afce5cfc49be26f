// Access that no resource of the stack has, in a report of drift, and keys that end.
import { expect, test } from "vitest";
import { hasDifferences } from "../../../access/format/drift.ts";
import type { GraphBuilder, IdentityNode, RoleNode } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { BUILT_IN_ROLE_CAPABILITIES, type Json } from "../../../schema/index.ts";
import { addInvite, addProvider, mapGroup, ROOT, uid, uidIn } from "../graphs.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, TEAM, urnOf, VIEWER } from "../team.ts";
import { create, remove, report, resource, TEAM_RESOURCE, VIEWER_OUTPUTS } from "./report.ts";

test("undeclared access is each binding below the organization that no resource has", () => {
  const live = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
  const [declared, other] = [bindingUid(TEAM, 0), bindingUid(TEAM, 1)];
  const inputs = { parent: TEAM, identity: CI, role: "viewer" };
  const stored = [TEAM_RESOURCE, resource("RoleBinding", "b", declared, inputs, VIEWER_OUTPUTS)];
  const found = report({ stored }, live);
  const who = { kind: "role binding", uid: other, name: "ci", identity: CI, group: TEAM, groupName: "team" };
  expect(found.undeclared).toEqual([{ ...who, role: "maker", command: `npx pulumi-irm revoke --binding ${other}` }]);
  expect(hasDifferences(found)).toBe(true);
  for (const one of [declared, CI]) {
    const excused = report({}, liveWith([TEAM, CI, MAKER]), { allowed: new Set([one]) });
    expect(excused.undeclared).toMatchObject([{ allowed: true }]);
    expect(hasDifferences(excused)).toBe(false);
  }
});

test("one binding of the caller in the organization itself is no difference", () => {
  const callers = new Set([CI]);
  const one = report({}, liveWith([ROOT, CI, VIEWER]), { callers });
  expect(one.undeclared).toMatchObject([{ own: true }]);
  expect(hasDifferences(one)).toBe(false);
  for (const live of [liveWith([ROOT, CI, VIEWER], [ROOT, CI, MAKER]), liveWith([TEAM, CI, VIEWER])]) {
    const found = report({}, live, { callers });
    expect(found.undeclared.map(({ own }) => own)).not.toContain(true);
    expect(hasDifferences(found)).toBe(true);
  }
});

test("undeclared access names the exclusive set that removes it", () => {
  const live = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
  const [kept, extra] = [bindingUid(TEAM, 0), bindingUid(TEAM, 1)];
  const inputs = { parent: TEAM, exclusive: true, bindings: [{ identity: CI, role: "viewer" }] };
  const outputs = { bindings: [{ uid: kept, identity: { uid: CI }, role: { uid: VIEWER } }] };
  const stored = [resource("RoleBindingSet", "set", TEAM, inputs, outputs)];
  const found = report({ stored, calls: [remove("DeleteRoleBinding", extra)] }, live);
  expect(found.undeclared).toMatchObject([{ uid: extra, removedBy: urnOf("RoleBindingSet", "set") }]);
  expect(found.drift).toMatchObject([
    {
      kind: "role binding set",
      uid: TEAM,
      differences: [{ path: "bindings", program: null, live: { identity: CI, role: MAKER }, changedIn: "service" }],
      names: { [CI]: "ci", [MAKER]: "maker" },
    },
  ]);
});

test("undeclared access has the pairs of a set that were removed, and those that are new", () => {
  const inputs = (...roles: string[]) => ({ parent: TEAM, bindings: roles.map((role) => ({ identity: CI, role })) });
  const found = report({
    stored: [resource("RoleBindingSet", "set", TEAM, inputs("viewer"))],
    left: [resource("RoleBindingSet", "set", TEAM, inputs("viewer", MAKER))],
    calls: [VIEWER, MAKER].map((roleUid, i) =>
      create("CreateRoleBinding", TEAM, uidIn(TEAM, 43 + i), { identityUid: CI, roleUid }),
    ),
  });
  expect(found.drift).toMatchObject([
    {
      ...{ kind: "role binding set", uid: TEAM, name: null, change: "changed" },
      differences: [
        { path: "bindings", program: { identity: CI, role: "viewer" }, live: null, changedIn: "service" },
        { path: "bindings", program: { identity: CI, role: MAKER }, live: null, changedIn: "program" },
      ],
    },
  ]);
});

test("undeclared access is also what gives access to people, unless a resource has it", () => {
  const live = liveWith();
  const graph = live.graph as GraphBuilder;
  const [invite, provider, mapping] = [uid("team/invite"), uid("okta"), uid("okta/sre")];
  addInvite(graph, invite, "key", TEAM, VIEWER);
  addProvider(graph, provider, "okta", MAKER, null);
  mapGroup(graph, mapping, provider, "SRE", MAKER);
  const found = report({}, live);
  expect(found.undeclared.map((one) => [one.kind, one.uid, one.name, one.role, one.command])).toEqual([
    [
      ...["external group role mapping", mapping, "external group SRE of okta", "maker"],
      `npx pulumi-irm revoke --external-group ${mapping}`,
    ],
    ["identity provider", provider, "people of okta", "maker", undefined],
    ["group invite", invite, "invite key", "viewer", undefined],
  ]);
  const stored = [TEAM_RESOURCE, resource("IdentityProvider", "okta", provider, {})];
  expect(report({ stored }, live).undeclared).toMatchObject([{ uid: mapping }, { uid: invite }]);
});

test("keys that end within 30 days are listed with the resource of their identity", () => {
  const live = liveWith();
  const ends = { soon: "2026-12-20T00:00:00Z", own: "2026-11-30T00:00:00Z", later: "2027-03-01T00:00:00Z" };
  for (const [name, expirationTime] of Object.entries(ends)) {
    const [id, relationship] = [uid(`team/${name}`), { staticKeys: { issuer: ISSUER, subject: name, expirationTime } }];
    (live.graph as GraphBuilder).identities.set(id, { id, uid: id, name, group: TEAM, relationship });
  }
  const found = report({ stored: [TEAM_RESOURCE, resource("Identity", "own", uid("team/own"), {})] }, live);
  const of = (name: "soon" | "own") => ({
    ...{ uid: uid(`team/${name}`), name, groupName: "team", expirationTime: ends[name] },
  });
  expect(found.keys).toEqual([
    { ...of("own"), resource: urnOf("Identity", "own") },
    { ...of("soon"), resource: null },
  ]);
  expect(hasDifferences(found)).toBe(true);
});

const PULL = "2".repeat(40);
const TOKEN = uidIn(TEAM, 30);
const CREATED = "2026-11-12T00:00:00Z";
interface Variant {
  capabilities?: readonly string[];
  others?: [group: string, role: string][];
  keys?: Json;
  notVisible?: Live["notVisible"];
}
const liveToken = ({ capabilities = ["repo.blobs.get", "tag.list"], others = [], ...own }: Variant = {}): Live => {
  const { keys = {}, notVisible = [] } = own;
  const bindings = [[TEAM, PULL], ...others].map(([group, role]) => [group, TOKEN, role] as [string, string, string]);
  const graph = liveWith(...bindings).graph as GraphBuilder;
  const issuer = "https://pulltoken.issuer.chainguard.dev";
  const staticKeys = { issuer, subject: "pull-token-x", expirationTime: "2026-12-12T00:00:00Z", ...keys };
  graph.identities.set(TOKEN, { id: TOKEN, uid: TOKEN, name: "x", group: TEAM, relationship: { staticKeys } });
  graph.roles.set(PULL, { id: PULL, uid: PULL, name: "registry.pull", group: null, capabilities });
  return { graph, notVisible, createdAt: new Map([[TOKEN, CREATED]]), lastSeen: new Map([[TOKEN, CREATED]]) };
};
const ALLOWED = { allowed: new Set(["pull-tokens"]) };

test("are listed, and their end is a warning; undeclared access counts until they are allowed as a class", () => {
  const found = report({}, liveToken());
  const expires = "2026-12-12T00:00:00Z";
  const row = { uid: TOKEN, name: "x", group: TEAM, role: "registry.pull", expires, lastSeen: CREATED };
  expect(found.pullTokens).toMatchObject([{ ...row, groupName: "team", ageDays: 10, state: "ending", more: [] }]);
  expect(found).toMatchObject({ keys: [], undeclared: [{ uid: bindingUid(TEAM, 0), role: "registry.pull" }] });
  expect(hasDifferences(found)).toBe(true);
  const excused = report({}, liveToken(), ALLOWED);
  expect(excused).toMatchObject({ keys: [], undeclared: [{ allowed: true }] });
  expect(excused.pullTokens).toEqual(found.pullTokens);
  expect(hasDifferences(excused)).toBe(false);
  const expired = report({}, liveToken({ keys: { expirationTime: "2026-11-20T00:00:00Z" } }), ALLOWED);
  expect(expired).toMatchObject({ keys: [], pullTokens: [{ state: "expired" }] });
});

test("that a resource of the stack has are keys that end as well", () => {
  const found = report({ stored: [TEAM_RESOURCE, resource("Identity", "x", TOKEN, {})] }, liveToken(), ALLOWED);
  expect(found.keys).toMatchObject([{ uid: TOKEN, resource: urnOf("Identity", "x") }]);
  expect(found.pullTokens).toHaveLength(1);
});

test("are not allowed with a role that a binding names and no list had: it may grant anything", () => {
  const live = liveToken({ capabilities: [] });
  Object.assign(live.graph.roles.get(PULL) as RoleNode, { isUnlisted: true });
  const found = report({}, live, ALLOWED);
  expect(found.pullTokens).toMatchObject([{ complete: false }]);
  expect(hasDifferences(found)).toBe(true);
});

const hidden = { group: ROOT, message: "cannot be listed" };
test.each(["registry.pull", "apk.pull", "libraries.java.pull", "libraries.python.pull", "libraries.javascript.pull"])(
  "with all of %s are allowed",
  (name) => {
    const live = liveToken({ capabilities: BUILT_IN_ROLE_CAPABILITIES[name] ?? [] });
    expect(report({}, live, ALLOWED).undeclared).toMatchObject([{ allowed: true }]);
  },
);

test.each<[reason: string, rows: number, variant: Variant]>([
  ["a role with the name of a pull role grants more", 1, { capabilities: ["tag.list", "tag.create"] }],
  ["this version does not know a capability", 1, { capabilities: ["tag.list", "CAP_NEW_THINGS_LIST"] }],
  ["it has a second role that grants more", 2, { others: [[ROOT, MAKER]] }],
  ["its role cannot be read", 1, { capabilities: [], notVisible: [{ ...hidden, kind: "role", group: "" }] }],
  ["it may have other bindings", 1, { notVisible: [{ kind: "roleBinding", ...hidden }] }],
  ["the issuer is another one", 0, { keys: { issuer: "https://pulltoken.issuer.chainguard.dev.example" } }],
  ["the subject is a chosen one", 0, { keys: { subject: "ci" } }],
  ["its keys never end", 0, { keys: { expirationTime: undefined } }],
])("are not allowed as a class where %s", (_, rows, variant) => {
  const found = report({}, liveToken(variant), ALLOWED);
  expect(found.pullTokens).toHaveLength(rows);
  expect(found.undeclared.map(({ allowed }) => allowed)).not.toContain(true);
  expect(hasDifferences(found)).toBe(true);
});

/** Another organization has a pull token too, and it may have a role in the team. */
const withForeign = (isBound: boolean): [live: Live, id: string] => {
  const live = liveToken();
  const graph = live.graph as GraphBuilder;
  const [group, id, binding] = ["9".repeat(40), uid("x", "9".repeat(40)), uidIn(TEAM, 60)];
  graph.identities.set(id, { ...(graph.identities.get(TOKEN) as IdentityNode), id, uid: id, group });
  if (isBound) graph.bindings.set(binding, { id: binding, uid: binding, group: TEAM, identity: id, role: PULL });
  return [live, id];
};

test("of another organization are not allowed as a class, and not listed where they hold nothing here", () => {
  const [live, id] = withForeign(true);
  const found = report({}, live, ALLOWED);
  expect(found.pullTokens.map(({ uid: one }) => one).toSorted()).toEqual([TOKEN, id].toSorted());
  expect(found.undeclared.map(({ identity, allowed }) => [identity, allowed])).toContainEqual([id, undefined]);
  expect(report({}, withForeign(false)[0]).pullTokens).toMatchObject([{ uid: TOKEN }]);
});

test("show what they hold beyond pulls, whatever the role is called", () => {
  const [row] = report({}, liveToken({ capabilities: ["tag.list", "tag.create"] }), ALLOWED).pullTokens;
  expect(row).toMatchObject({ role: "registry.pull", more: ["tag.create"], complete: true });
});
