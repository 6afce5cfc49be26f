// Access that no resource of the stack has, in a report of drift, and keys that end.
import { describe, expect, test } from "vitest";
import { hasDifferences } from "../../../access/format/drift.ts";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import { addInvite, addProvider, mapGroup, ROOT, uid, uidIn } from "../graphs.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, TEAM, urnOf, VIEWER } from "../team.ts";
import { create, remove, report, resource, TEAM_RESOURCE, VIEWER_OUTPUTS } from "./report.ts";

describe("undeclared access", () => {
  test("is each binding below the organization that no resource has", () => {
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

  test("of the caller in the organization itself is no difference, as long as it is one binding", () => {
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

  test("names the exclusive set that removes it", () => {
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

  test("has the pairs of a set that somebody has removed, and those that the program has from now on", () => {
    const inputs = (...roles: string[]) => ({ parent: TEAM, bindings: roles.map((role) => ({ identity: CI, role })) });
    const owner = uidIn(TEAM, 44);
    const found = report({
      stored: [resource("RoleBindingSet", "set", TEAM, inputs("viewer"))],
      left: [resource("RoleBindingSet", "set", TEAM, inputs("viewer", MAKER))],
      calls: [VIEWER, MAKER].map((roleUid, i) =>
        create("CreateRoleBinding", TEAM, i === 0 ? uidIn(TEAM, 43) : owner, { identityUid: CI, roleUid }),
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

  test("is also what gives access to people, unless a resource has it", () => {
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
