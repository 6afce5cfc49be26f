// What the run of the program on a copy, the copy and the journal say of drift.
import { describe, expect, test } from "vitest";
import type { JournalEntry } from "../../../access/drift/pending.ts";
import { hasDifferences } from "../../../access/drift/report.ts";
import { documentAsText } from "../../../access/format/document/terminal.ts";
import { driftDocument } from "../../../access/format/drift.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import { openStackText } from "../../../client/preview-marks.ts";
import { addRole, ROOT, uidIn } from "../graphs.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, NOW_MS, TEAM, urnOf, VIEWER } from "../team.ts";
import { create, remove, report, resource, secret, step, TEAM_INPUTS, TEAM_RESOURCE, update } from "./report.ts";

describe("drift", () => {
  test("of a stack that is as the program has it is empty", () => {
    const found = report();
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
    const found = report({
      stored: [resource("Group", "team", TEAM, inputs)],
      records: { [TEAM]: { description: "by hand" } },
      calls: [update("UpdateGroup", TEAM, { description: "of the program" })],
    });
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

  test("shows what may own first, whatever changed and wherever it is, then what changes records, then what reads", () => {
    const live = liveWith();
    const graph = newGraph(live.graph);
    const owner = addRole(graph, "owner", ["role_bindings.create"]);
    const editors = addRole(graph, "editors", ["repo.create"]);
    const bind = (name: string, number: number, role: string, parent: string) => {
      const uid = uidIn(parent, number);
      return {
        resource: resource("RoleBinding", name, uid, { parent, identity: CI, role }),
        call: create("CreateRoleBinding", parent, uid, { identityUid: CI, roleUid: role }),
      };
    };
    const bindings = [
      bind("b-reads", 30, VIEWER, ROOT),
      bind("c-writes", 31, editors, TEAM),
      bind("e-owns", 32, owner, TEAM),
    ];
    const role = (...capabilities: string[]) =>
      resource("Role", "d-role", MAKER, { name: "maker", parent: TEAM, capabilities });
    const group = uidIn(ROOT, 33);
    const { drift } = report(
      {
        stored: [role("CAP_REPO_CREATE")],
        left: [
          ...[role("CAP_IAM_ROLE_BINDINGS_CREATE"), resource("Group", "a-group", group, { name: "x", parent: ROOT })],
          ...bindings.map((one) => one.resource),
        ],
        steps: [
          step("create", "Group", "a-group"),
          ...["b-reads", "c-writes", "e-owns"].map((name) => step("create", "RoleBinding", name)),
        ],
        calls: [
          create("CreateGroup", ROOT, group, { name: "x" }),
          update("UpdateRole", MAKER, { capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] }),
          ...bindings.map(({ call }) => call),
        ],
      },
      { ...live, graph },
    );
    expect(drift.map(({ resource: urn }) => urn.split("::").at(-1))).toEqual([
      "d-role",
      "e-owns",
      "c-writes",
      "b-reads",
      "a-group",
    ]);
  });

  test("has a replacement once, and kinds that give no access", () => {
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

  test("of a record that an update moves has its old place and the new one", () => {
    const next = uidIn(ROOT, 41);
    const at = (uid: string, parent: string) => resource("Role", "maker", uid, { name: "maker", parent });
    const found = report({
      stored: [at(MAKER, TEAM)],
      left: [at(next, ROOT)],
      steps: [step("create-replacement", "Role", "maker")],
      calls: [create("CreateRole", ROOT, next, { name: "maker" }), remove("DeleteRole", MAKER)],
    });
    expect(found.drift).toMatchObject([
      {
        ...{ change: "replaced", uid: MAKER },
        differences: [{ path: "parent", program: ROOT, live: TEAM, changedIn: "program" }],
      },
    ]);
  });

  test("of a role binding has the names of what it refers to", () => {
    const binding = bindingUid(TEAM, 0);
    const inputs = { parent: TEAM, identity: CI, role: "viewer" };
    const [found] = report(
      {
        stored: [resource("RoleBinding", "b", binding, inputs)],
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

  test("has a resource under its new name where an alias gives it one", () => {
    const inputs = { ...TEAM_INPUTS, description: "of the program" };
    const found = report({
      stored: [resource("Group", "before", TEAM, inputs)],
      left: [resource("Group", "team", TEAM, inputs)],
      calls: [update("UpdateGroup", TEAM, { description: "of the program" })],
    });
    expect(found.drift).toMatchObject([
      { resource: urnOf("Group", "team"), uid: TEAM, differences: [{ changedIn: "service" }] },
    ]);
  });

  test("of what the run could not carry out is not known, and counts", () => {
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
});

/** of a role binding of the viewer */
const OUTPUTS = { identity: { uid: CI }, role: { uid: VIEWER } };

describe("undeclared access", () => {
  test("is each binding below the organization that no resource has", () => {
    const live = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
    const [declared, other] = [bindingUid(TEAM, 0), bindingUid(TEAM, 1)];
    const inputs = { parent: TEAM, identity: CI, role: "viewer" };
    const found = report({ stored: [TEAM_RESOURCE, resource("RoleBinding", "b", declared, inputs, OUTPUTS)] }, live);
    const who = { kind: "role binding", uid: other, name: "ci", identity: CI, group: TEAM, groupName: "team" };
    expect(found.undeclared).toEqual([{ ...who, role: "maker", command: `npx pulumi-irm revoke --binding ${other}` }]);
    expect(hasDifferences(found)).toBe(true);
    for (const uid of [declared, CI]) {
      const excused = report({}, liveWith([TEAM, CI, MAKER]), { allowed: new Set([uid]) });
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
    const found = report(
      {
        stored: [resource("RoleBindingSet", "set", TEAM, inputs, outputs)],
        calls: [remove("DeleteRoleBinding", extra)],
      },
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
    const graph = newGraph(liveWith().graph);
    const live = { graph, notVisible: [] };
    const invite = { id: uidIn(TEAM, 50), uid: uidIn(TEAM, 50), name: "key", group: TEAM, role: VIEWER };
    graph.invites.set(invite.id, { ...invite, email: "", singleUse: true, expirationTime: null });
    const provider = { id: uidIn(ROOT, 51), uid: uidIn(ROOT, 51), name: "okta", group: ROOT, defaultRole: MAKER };
    graph.providers.set(provider.id, { ...provider, signIn: null });
    const mapping = { id: uidIn(provider.uid, 52), uid: uidIn(provider.uid, 52), provider: provider.uid };
    graph.externalGroups.set(mapping.id, { ...mapping, externalGroupId: "SRE", role: MAKER, group: ROOT });
    const found = report({}, live);
    expect(found.undeclared.map(({ kind, uid, name, role, command }) => [kind, uid, name, role, command])).toEqual([
      [
        ...["external group role mapping", mapping.uid, "external group SRE of okta", "maker"],
        `npx pulumi-irm revoke --external-group ${mapping.uid}`,
      ],
      ["identity provider", provider.uid, "people of okta", "maker", undefined],
      ["group invite", invite.uid, "invite key", "viewer", undefined],
    ]);
    const declared = resource("IdentityProvider", "okta", provider.uid, {});
    expect(report({ stored: [TEAM_RESOURCE, declared] }, live).undeclared.map(({ uid }) => uid)).toEqual([
      mapping.uid,
      invite.uid,
    ]);
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
  const found = report({ stored: [TEAM_RESOURCE, resource("Identity", "own", own, {})] }, live);
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
    const left = [TEAM_RESOURCE, resource("Group", "new", uidIn(TEAM, 31), { name: "fresh", parent: TEAM })];
    const found = report({ left, steps: [step("create", "Group", "new")] }, liveWith(), { entries });
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

  test("come from the engine's state, unless the journal has the create", () => {
    const begun = ["open", "both"].map((name) => ({ urn: urnOf("Group", name), inputs: { name, parent: TEAM } }));
    const left = [TEAM_RESOURCE, resource("Group", "both", uidIn(TEAM, 32), { name: "both", parent: TEAM })];
    const found = report({ left, begun }, liveWith(), { entries: [entry("Group::both")] });
    expect(found.pending.map(({ logicalName, name, source, time }) => [logicalName, name, source, time])).toEqual([
      ["both", "both", "journal", "2026-11-22T00:00:00.000Z"],
      ["open", "open", "state", null],
    ]);
    expect(hasDifferences(found)).toBe(true);
  });
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
      stored: [resource("Group", "group", TEAM, hidden), resource("RoleBinding", "b", binding, pair, OUTPUTS)],
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
