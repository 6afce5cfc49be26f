// Pull tokens in a report of drift: which are listed, and which of them `--allow pull-tokens` allows.
import { describe, expect, test } from "vitest";
import { hasDifferences } from "../../../access/format/drift.ts";
import { type IdentityNode, newGraph, type RoleNode } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { BUILT_IN_ROLE_CAPABILITIES, type Json } from "../../../schema/index.ts";
import { ROOT, uidIn } from "../graphs.ts";
import { bindingUid, liveWith, MAKER, TEAM, urnOf } from "../team.ts";
import { report, resource, TEAM_RESOURCE } from "./report.ts";

describe("pull tokens", () => {
  const PULL = "2".repeat(40);
  const TOKEN = uidIn(TEAM, 30);
  const CREATED = "2026-11-12T00:00:00Z";
  interface Variant {
    capabilities?: readonly string[];
    expirationTime?: string;
    others?: [group: string, role: string][];
    keys?: Json;
    notVisible?: Live["notVisible"];
  }
  const liveToken = (variant: Variant = {}): Live => {
    const { capabilities = ["repo.blobs.get", "tag.list"], expirationTime = "2026-12-12T00:00:00Z" } = variant;
    const { others = [], keys = {}, notVisible = [] } = variant;
    const graph = newGraph(
      liveWith(...[[TEAM, PULL] as const, ...others].map(([g, r]) => [g, TOKEN, r] as [string, string, string])).graph,
    );
    const issuer = "https://pulltoken.issuer.chainguard.dev";
    const staticKeys = { issuer, subject: "pull-token-x", expirationTime, ...keys };
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
    const expired = report({}, liveToken({ expirationTime: "2026-11-20T00:00:00Z" }), ALLOWED);
    expect(expired).toMatchObject({ keys: [], pullTokens: [{ state: "expired" }] });
  });

  test("that a resource of the stack has are keys that end as well", () => {
    const found = report({ stored: [TEAM_RESOURCE, resource("Identity", "x", TOKEN, {})] }, liveToken(), ALLOWED);
    expect(found.keys).toMatchObject([{ uid: TOKEN, resource: urnOf("Identity", "x") }]);
    expect(found.pullTokens).toHaveLength(1);
  });

  test("are not allowed with a role that a binding names and no list had: it may grant anything", () => {
    const live = liveToken();
    const graph = newGraph(live.graph);
    graph.roles.set(PULL, { ...(graph.roles.get(PULL) as RoleNode), capabilities: [], isUnlisted: true });
    const found = report({}, { ...live, graph }, ALLOWED);
    expect(found.pullTokens).toMatchObject([{ complete: false }]);
    expect(hasDifferences(found)).toBe(true);
  });

  const hidden = { group: ROOT, message: "cannot be listed" };
  test.each<[string, Variant]>(
    ["registry.pull", "apk.pull", "libraries.java.pull", "libraries.python.pull", "libraries.javascript.pull"].map(
      (name) => [`the whole of ${name}`, { capabilities: BUILT_IN_ROLE_CAPABILITIES[name] ?? [] }],
    ),
  )("that hold %s are allowed as a class", (_, variant) => {
    expect(report({}, liveToken(variant), ALLOWED).undeclared).toMatchObject([{ allowed: true }]);
  });

  test.each<[reason: string, rows: number, variant: Variant]>([
    ["a role with the name of a pull role grants more", 1, { capabilities: ["tag.list", "tag.create"] }],
    ["this version does not know a capability", 1, { capabilities: ["tag.list", "CAP_NEW_THINGS_LIST"] }],
    ["it has a second role that grants more", 2, { others: [[ROOT, MAKER]] }],
    [
      "what the role grants cannot be read",
      1,
      { capabilities: [], notVisible: [{ kind: "role", group: "", message: "" }] },
    ],
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

  test("of another organization are not allowed as a class", () => {
    const live = liveToken();
    const [graph, other] = [newGraph(live.graph), "9".repeat(40)];
    const id = uidIn(other, 1);
    graph.identities.set(id, { ...(graph.identities.get(TOKEN) as IdentityNode), id, uid: id, group: other });
    const binding = uidIn(TEAM, 60);
    graph.bindings.set(binding, { id: binding, uid: binding, group: TEAM, identity: id, role: PULL });
    const found = report({}, { ...live, graph }, ALLOWED);
    expect(found.pullTokens.map(({ uid }) => uid).toSorted()).toEqual([TOKEN, id].toSorted());
    expect(found.undeclared.map(({ identity, allowed }) => [identity, allowed])).toContainEqual([id, undefined]);
  });

  test("show what they hold beyond pulls, whatever the role is called", () => {
    const [row] = report({}, liveToken({ capabilities: ["tag.list", "tag.create"] }), ALLOWED).pullTokens;
    expect(row).toMatchObject({ role: "registry.pull", more: ["tag.create"], complete: true });
  });

  test("that hold nothing in an organization of the program are not listed", () => {
    const live = liveToken();
    const [graph, other] = [newGraph(live.graph), "9".repeat(40)];
    const id = uidIn(other, 1);
    graph.identities.set(id, { ...(graph.identities.get(TOKEN) as IdentityNode), id, uid: id, group: other });
    expect(report({}, { ...live, graph }).pullTokens.map(({ uid }) => uid)).toEqual([TOKEN]);
  });
});
