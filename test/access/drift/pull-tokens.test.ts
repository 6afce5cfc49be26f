// Pull tokens in a report of drift: which are listed, and which of them `--allow pull-tokens` allows.
import { expect, test } from "vitest";
import { hasDifferences } from "../../../access/format/drift.ts";
import type { GraphBuilder, IdentityNode, RoleNode } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { BUILT_IN_ROLE_CAPABILITIES, type Json } from "../../../schema/index.ts";
import { ROOT, uid, uidIn } from "../graphs.ts";
import { bindingUid, liveWith, MAKER, TEAM, urnOf } from "../team.ts";
import { report, resource, TEAM_RESOURCE } from "./report.ts";

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
  "that hold the whole of %s are allowed as a class",
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
