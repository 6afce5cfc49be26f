// What a preview, the API's lists, the journal and the engine's state say of drift.
import { describe, expect, test } from "vitest";
import type { JournalEntry } from "../../../access/drift/pending.ts";
import { hasDifferences } from "../../../access/drift/report.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { addRole, ROOT, uidIn } from "../graphs.ts";
import { changed, created, NOW_MS, UNKNOWN, urnOf } from "../preview/fixture.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, TEAM, VIEWER } from "../preview/team.ts";
import { refresh, report, sameTeam, TEAM_INPUTS } from "./report.ts";

describe("drift", () => {
  test("of a stack that is as the program has it is empty", () => {
    const found = report([refresh("Group", "team", TEAM, TEAM_INPUTS), sameTeam()]);
    expect(found).toEqual({
      drift: [],
      undeclared: [],
      roles: [],
      keys: [],
      pullTokens: [],
      pending: [],
      unknown: [],
      notVisible: [],
    });
    expect(hasDifferences(found)).toBe(false);
  });

  test("names record, resource, place and what differs", () => {
    const inputs = { ...TEAM_INPUTS, description: "of the program" };
    const live = { ...inputs, description: "by hand" };
    const found = report([
      refresh("Group", "team", TEAM, inputs),
      changed("update", "Group", "team", TEAM, { old: live, outputs: live, new: inputs }),
    ]);
    expect(found.drift).toEqual([
      {
        resource: urnOf("Group", "team"),
        kind: "group",
        uid: TEAM,
        name: "team",
        groupName: "team",
        change: "changed",
        differences: [{ path: "description", program: "of the program", live: "by hand", changedIn: "service" }],
      },
    ]);
    expect(hasDifferences(found)).toBe(true);
  });

  test("says whether a record is gone, not created yet, or not in the program any more", () => {
    const gone = { name: "gone", parent: TEAM };
    const found = report([
      sameTeam(),
      refresh("Identity", "gone", uidIn(TEAM, 9), gone),
      created("Identity", "gone", gone),
      created("Identity", "new", { name: "new", parent: TEAM }),
      created("Role", "old", { name: "maker", parent: TEAM, adopt: MAKER }),
      changed("delete", "Identity", "ci", CI, { old: { name: "ci", parent: ROOT } }),
      changed("update", "AccessPolicy", "acme", "", {}),
    ]);
    expect(found.drift.map(({ change, kind, uid, name, groupName }) => [change, kind, uid, name, groupName])).toEqual([
      ["dropped", "identity", CI, "ci", "/"],
      ["gone", "identity", uidIn(TEAM, 9), "gone", "team"],
      ["new", "identity", null, "new", "team"],
      ["new", "role", MAKER, "maker", "team"],
    ]);
  });

  test("shows what may own first, whatever changed and wherever it is, then what changes records, then what reads", () => {
    const roles = (role: string) => ({ parent: TEAM, identity: CI, role });
    const live = liveWith();
    const graph = newGraph(live.graph);
    addRole(graph, "owner", ["role_bindings.create"]);
    addRole(graph, "editors", ["repo.create"]);
    const names = (steps: Parameters<typeof report>[0]) =>
      report(steps, { ...live, graph }).drift.map(({ resource }) => resource.split("::").at(-1));
    expect(
      names([
        created("Group", "a-group", { name: "x", parent: ROOT }),
        created("RoleBinding", "b-reads", { ...roles("viewer"), parent: ROOT }),
        created("RoleBinding", "c-writes", roles("editors")),
        changed("update", "Role", "d-role", MAKER, {
          old: { name: "maker", parent: TEAM, capabilities: ["CAP_REPO_LIST"] },
          new: { name: "maker", parent: TEAM, capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] },
        }),
        created("RoleBinding", "e-owns", roles("owner")),
      ]),
    ).toEqual(["d-role", "e-owns", "c-writes", "b-reads", "a-group"]);
  });

  test("has a replacement once, and kinds that give no access", () => {
    const [old, now] = [
      { name: "x", parent: TEAM, bundles: ["a"] },
      { name: "x", parent: TEAM, bundles: ["b"] },
    ];
    const repo = uidIn(TEAM, 7);
    const found = report([
      sameTeam(),
      changed("create-replacement", "Repo", "x", repo, { old, new: now }),
      changed("replace", "Repo", "x", repo, { old, new: now }),
      changed("delete-replaced", "Repo", "x", repo, { old }),
    ]);
    expect(found.drift).toMatchObject([{ change: "replaced", kind: "repo", uid: repo, groupName: "team" }]);
    expect(found.drift[0]?.differences).toHaveLength(2);
  });

  test("of a role binding has the names of what it refers to", () => {
    const binding = bindingUid(TEAM, 0);
    const live = liveWith([TEAM, CI, MAKER]);
    const inputs = { parent: TEAM, identity: CI, role: "viewer" };
    const [found] = report(
      [
        refresh("RoleBinding", "b", binding, inputs),
        changed("update", "RoleBinding", "b", binding, {
          old: { ...inputs, role: MAKER },
          outputs: { identity: { uid: CI }, role: { uid: MAKER } },
          new: inputs,
        }),
      ],
      live,
    ).drift;
    expect(found).toMatchObject({
      name: "ci as maker",
      groupName: "team",
      differences: [{ path: "role", program: "viewer", live: MAKER, changedIn: "service" }],
      names: { [MAKER]: "maker" },
    });
  });

  test("of a preview that has more than it shows is not known, and counts", () => {
    const preview = parsePreview(JSON.stringify({ steps: [sameTeam()], changeSummary: { update: 1 } }), "a test");
    const found = report([], liveWith(), { preview });
    expect(found.unknown.map(({ message }) => message)).toEqual([
      expect.stringContaining('the preview counts 1 steps "update" and shows 0'),
    ]);
    expect(hasDifferences(found)).toBe(true);
  });
});

describe("undeclared access", () => {
  test("is each binding below the organization that no resource has", () => {
    const live = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
    const [declared, other] = [bindingUid(TEAM, 0), bindingUid(TEAM, 1)];
    const inputs = { parent: TEAM, identity: CI, role: "viewer" };
    const found = report(
      [sameTeam(), changed("same", "RoleBinding", "b", declared, { old: inputs, new: inputs })],
      live,
    );
    const who = { kind: "role binding", uid: other, name: "ci", identity: CI, group: TEAM, groupName: "team" };
    expect(found.undeclared).toEqual([{ ...who, role: "maker", command: `npx pulumi-irm revoke --binding ${other}` }]);
    expect(hasDifferences(found)).toBe(true);
    for (const uid of [declared, CI]) {
      const excused = report([sameTeam()], liveWith([TEAM, CI, MAKER]), { allowed: new Set([uid]) });
      expect(excused.undeclared).toMatchObject([{ allowed: true }]);
      expect(hasDifferences(excused)).toBe(false);
    }
  });

  test("of the caller in the organization itself is no difference, as long as it is one binding", () => {
    const callers = new Set([CI]);
    const one = report([sameTeam()], liveWith([ROOT, CI, VIEWER]), { callers });
    expect(one.undeclared).toMatchObject([{ own: true }]);
    expect(hasDifferences(one)).toBe(false);
    for (const live of [liveWith([ROOT, CI, VIEWER], [ROOT, CI, MAKER]), liveWith([TEAM, CI, VIEWER])]) {
      const found = report([sameTeam()], live, { callers });
      expect(found.undeclared.map(({ own }) => own)).not.toContain(true);
      expect(hasDifferences(found)).toBe(true);
    }
  });

  test("names the exclusive set that removes it", () => {
    const live = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
    const [kept, extra] = [bindingUid(TEAM, 0), bindingUid(TEAM, 1)];
    const inputs = { parent: TEAM, exclusive: true, bindings: [{ identity: CI, role: "viewer" }] };
    const shown = (uid: string, role: string) => ({ uid, identity: { uid: CI }, role: { uid: role } });
    const outputs = { exclusive: true, bindings: [shown(kept, VIEWER)], unmanaged: [shown(extra, MAKER)] };
    const found = report(
      [
        refresh("RoleBindingSet", "set", TEAM, inputs),
        changed("update", "RoleBindingSet", "set", TEAM, { old: inputs, outputs, new: inputs }),
      ],
      live,
    );
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

  test("is none where a pair of a set is granted again under another uid", () => {
    const pair = (role: string) => ({ identity: CI, role });
    const inputs = { parent: TEAM, exclusive: false, bindings: [pair("viewer"), pair(MAKER)] };
    const removed = { ...inputs, bindings: [] };
    const steps = [
      refresh("RoleBindingSet", "set", TEAM, inputs),
      changed("update", "RoleBindingSet", "set", TEAM, { old: removed, outputs: removed, new: inputs }),
    ];
    const drift = (...bindings: [string, string, string][]) => report(steps, liveWith(...bindings)).drift;
    expect(drift([TEAM, CI, VIEWER], [TEAM, CI, MAKER])).toEqual([]);
    const only = (role: string) => ({ path: "bindings", program: pair(role), live: null, changedIn: "service" });
    expect(drift([TEAM, CI, VIEWER])).toMatchObject([{ change: "changed", differences: [only(MAKER)] }]);
    // The same pair in another group is another grant.
    expect(drift([ROOT, CI, VIEWER], [TEAM, CI, MAKER])).toMatchObject([{ differences: [only("viewer")] }]);
  });

  test("is also what gives access to people, unless a resource has it", () => {
    const graph = newGraph(liveWith().graph);
    const live = { graph, notVisible: [] };
    const invite = { id: uidIn(TEAM, 50), uid: uidIn(TEAM, 50), name: "key", group: TEAM, role: VIEWER };
    graph.invites.set(invite.id, { ...invite, email: "", singleUse: true, expirationTime: null });
    const provider = { id: uidIn(ROOT, 51), uid: uidIn(ROOT, 51), name: "okta", group: ROOT, defaultRole: MAKER };
    graph.providers.set(provider.id, { ...provider, signIn: null });
    const mapping = { id: uidIn(provider.uid, 52), uid: uidIn(provider.uid, 52), provider: provider.uid };
    graph.externalGroups.set(mapping.id, { ...mapping, externalGroupId: "SRE", role: MAKER, group: ROOT });
    const found = report([sameTeam()], live);
    expect(found.undeclared.map(({ kind, uid, name, role, command }) => [kind, uid, name, role, command])).toEqual([
      [
        ...["external group role mapping", mapping.uid, "external group SRE of okta", "maker"],
        `npx pulumi-irm revoke --external-group ${mapping.uid}`,
      ],
      ["identity provider", provider.uid, "people of okta", "maker", undefined],
      ["group invite", invite.uid, "invite key", "viewer", undefined],
    ]);
    const declared = changed("same", "IdentityProvider", "okta", provider.uid, { old: {}, new: {} });
    expect(report([sameTeam(), declared], live).undeclared.map(({ uid }) => uid)).toEqual([mapping.uid, invite.uid]);
  });
});

test("keys that end within 30 days are listed with the resource of their identity", () => {
  const graph = newGraph(liveWith().graph);
  const live = { graph, notVisible: [] };
  const keysOf = (name: string, number: number, expirationTime: string) => {
    const id = uidIn(TEAM, number);
    const relationship = { staticKeys: { issuer: ISSUER, subject: name, expirationTime } };
    graph.identities.set(id, { id, uid: id, name, group: TEAM, relationship });
    return id;
  };
  const [soon, own] = [keysOf("soon", 20, "2026-12-20T00:00:00Z"), keysOf("own", 21, "2026-11-30T00:00:00Z")];
  keysOf("later", 22, "2027-03-01T00:00:00Z");
  const found = report([sameTeam(), changed("same", "Identity", "own", own, { old: {}, new: {} })], live);
  expect(found.keys).toEqual([
    {
      resource: urnOf("Identity", "own"),
      uid: own,
      name: "own",
      groupName: "team",
      expirationTime: "2026-11-30T00:00:00Z",
    },
    { resource: null, uid: soon, name: "soon", groupName: "team", expirationTime: "2026-12-20T00:00:00Z" },
  ]);
  expect(hasDifferences(found)).toBe(true);
});

describe("open creates", () => {
  const entry = (key: string, own: Partial<JournalEntry> = {}): JournalEntry => ({
    key: `organization/access/dev/${key}`,
    kind: "group",
    parent: TEAM,
    at: NOW_MS,
    ...own,
  });

  test("come from the journal, of this stack alone, with the resource that the program still has", () => {
    const entries = [
      entry("Group::new", { answered: uidIn(TEAM, 30) }),
      entry("Group::left/over"),
      entry(`RoleBindingSet::set ${TEAM} ${CI} ${VIEWER}`, { kind: "roleBinding" }),
      { ...entry("Group::other"), key: "organization/access/prod/Group::other" },
    ];
    const found = report([sameTeam(), created("Group", "new", { name: "fresh", parent: TEAM })], liveWith(), {
      entries,
    });
    const where = { group: TEAM, groupName: "team", time: "2026-11-22T00:00:00.000Z", source: "journal" };
    expect(found.pending).toEqual([
      { ...where, resource: null, logicalName: "left/over", kind: "group", uid: null, name: null },
      {
        ...where,
        resource: urnOf("Group", "new"),
        logicalName: "new",
        kind: "group",
        uid: uidIn(TEAM, 30),
        name: "fresh",
      },
      { ...where, resource: null, logicalName: "set", kind: "role binding", uid: null, name: null },
    ]);
  });

  test("come from the engine's state, unless the state has the resource or the journal the create", () => {
    const operation = (name: string, type = "creating") => ({
      type,
      resource: { urn: urnOf("Group", name), inputs: { name, parent: TEAM } },
    });
    const exported = JSON.stringify({
      deployment: {
        resources: [{ urn: urnOf("Group", "made"), id: TEAM }],
        pending_operations: [
          ...["made", "open", "both"].map((name) => operation(name)),
          operation("team", "updating"),
          { type: "creating", resource: { urn: "urn:pulumi:dev::access::aws:s3/bucket:Bucket::b", inputs: {} } },
        ],
      },
    });
    const steps = [sameTeam(), created("Group", "both", { name: "both", parent: TEAM })];
    const found = report(steps, liveWith(), { exported, entries: [entry("Group::both")] });
    expect(found.pending.map(({ logicalName, name, source, time }) => [logicalName, name, source, time])).toEqual([
      ["both", "both", "journal", "2026-11-22T00:00:00.000Z"],
      ["open", "open", "state", null],
    ]);
    expect(hasDifferences(found)).toBe(true);
  });
});

test("what the program computes in the update is no text of the report", () => {
  const inputs = { ...TEAM_INPUTS, description: `made for ${UNKNOWN}` };
  const found = report([
    changed("update", "Group", "team", TEAM, { old: TEAM_INPUTS, outputs: TEAM_INPUTS, new: inputs }),
  ]);
  expect(found.drift[0]?.differences).toEqual([{ path: "description", program: "[unknown]", live: null }]);
});

test("a name that the program marks as secret is nowhere, though the API lists it", () => {
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
  const [old, now] = [
    { ...TEAM_INPUTS, description: "a" },
    { ...TEAM_INPUTS, name: secret, description: "b" },
  ];
  const pair = { parent: TEAM, identity: CI, role: "viewer" };
  const found = report(
    [
      refresh("Group", "group", TEAM, { ...old, name: secret }),
      changed("update", "Group", "group", TEAM, { old, outputs: { name: secret }, new: now }),
      changed("update", "RoleBinding", "b", bindingUid(TEAM, 0), { old: { ...pair, role: "editor" }, new: pair }),
    ],
    liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]),
  );
  expect(found.drift.map(({ name, groupName }) => [name, groupName])).toEqual([
    ["ci as editor", "[secret]"],
    ["[secret]", "[secret]"],
  ]);
  expect(found.undeclared).toMatchObject([{ role: "maker", groupName: "[secret]" }]);
  expect(JSON.stringify(found)).not.toContain('"team"');
});
