// What is particular to a kind. Role bindings: a built-in role by its name, secret names, and records that look like a new one.
import { beforeEach, describe, expect, it, test } from "vitest";
import { duplicateWarnings } from "../../../provider/engine/duplicates.ts";
import { type KindName, kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { recordId } from "../../../provider/record/id.ts";
import { REPLACE_ON } from "../../../provider/record/state.ts";
import { createOwnership } from "../../../provider/run/ownership.ts";
import type { Session } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";
import { keyOf, lostAnswer, scriptedSession, UNKNOWN } from "../../support/scripted.ts";
import { digest } from "./case.ts";

let group: string;
let count = 0;
const service = await startSharedService();

const { call } = service;
const uidOf = async (created: Promise<Json>): Promise<string> => (await created).uid as string;

beforeEach(async () => {
  count += 1;
  group = await uidOf(call("CreateGroup", { parent: service.organization, group: { name: `p${count}` } }));
  service.requests.length = 0;
});

const create = async (kindName: KindName, args: Json, session = service.otherSession()) => {
  const kind = kindRecords[kindName];
  const { inputs, failures } = reconcile.check(kind, {}, { ...args, ...keyOf(`${kindName}-${count}`) });
  expect(failures).toEqual([]);
  const { id, outs } = await reconcile.create(kind, session, inputs);
  return { kind, id, inputs, outs: outs as Json };
};

const patches = () =>
  service.requests
    .filter(({ method }) => method === "PATCH")
    .map(({ url, json }) => ({ mask: url.searchParams.get("updateMask"), body: json }));

const login = {
  ...{ name: "l", defaultRole: "viewer" },
  oidc: { issuer: "https://login.example.com", clientId: "c", clientSecret: "s3cret" },
};
const noChange = { changes: false, replaces: [] };

it("a tag that was deleted by hand is not created again by an update", async () => {
  const parent = await uidOf(call("CreateRepo", { parent: group, repo: { name: "r" } }));
  const { kind, id, inputs, outs } = await create("tag", { parent, name: "latest", digest: digest("a") });
  await call("DeleteTag", { uid: id });
  service.clock.advance(6_000);
  const news = { ...inputs, digest: digest("b") };
  await expect(reconcile.update(kind, service.otherSession(), id, outs, news)).rejects.toThrow(
    /GetTag tag .*NOT_FOUND/,
  );
  expect((await call("ListTags", { uidp: { childrenOf: inputs.parent } })).tags ?? []).toEqual([]);
});

it("a tag is not moved by another resource of the same run that declares its name at the same time", async () => {
  const session = service.otherSession();
  const parent = (await create("repo", { parent: group, name: "r" }, session)).id;
  const names = ["first", "second"];
  const declare = (resource: string) => {
    const args = { parent, name: "latest", digest: digest("a"), ...keyOf(resource) };
    return reconcile.create(kindRecords.tag, session, reconcile.check(kindRecords.tag, {}, args).inputs);
  };
  // Which of the two is first depends on the disk.
  const outcomes = await Promise.allSettled(names.map(declare));
  const refused = outcomes.findIndex(({ status }) => status === "rejected");
  const [loser, owner] = [names[refused], names[1 - refused]].map((name) => keyOf(name as string).__key);
  expect((outcomes[refused] as PromiseRejectedResult).reason.message).toMatch(
    new RegExp(
      `^${loser}: ${owner} declares tag "latest" in .* too, and a second create would change it; nothing was sent\\. Remove one of the two\\.$`,
    ),
  );
  expect(outcomes[1 - refused]?.status).toBe("fulfilled");
  // Nothing is left open for the next run.
  expect(await session.journal.findUnsettled(loser as string)).toEqual([]);
});

it("a tag is not created where the tags cannot be listed", async () => {
  const parent = await uidOf(call("CreateRepo", { parent: group, repo: { name: "r" } }));
  const session = service.otherSession();
  const blind: Session = {
    ...session,
    call: (operation, request, options) =>
      operation === "ListTags" ? Promise.reject(new Error("no list")) : session.call(operation, request, options),
  };
  await expect(create("tag", { parent, name: "latest", digest: digest("a") }, blind)).rejects.toThrow(
    'cannot check whether tag "latest" exists, and a create would change it; nothing was sent. Grant the caller tag.list.',
  );
  expect((await call("ListTags", { uidp: { childrenOf: parent } })).tags ?? []).toEqual([]);
});

it("a repo that syncs has the fields of its source, and accepts any name of the source", async () => {
  const source = await uidOf(call("CreateRepo", { parent: group, repo: { name: "nginx", aliases: ["web:latest"] } }));
  const path = `acme/p${count}/nginx`;
  const { name } = await call("GetGroup", { uid: service.organization });
  const spelt = path.replace("acme", name as string);
  const args = { parent: group, name: "m", syncConfig: { source: spelt } };
  const { kind, id, inputs, outs } = await create("repo", args);
  expect(outs).toMatchObject({ syncConfig: { source }, aliases: ["web:latest"] });
  expect(reconcile.diff(kind, id, outs, inputs)).toEqual(noChange);
  const read = await reconcile.read(kind, service.otherSession(), id, outs);
  expect(read.inputs).toMatchObject({ syncConfig: { source: spelt } });
  expect(reconcile.diff(kind, id, read.props, inputs)).toEqual(noChange);
  // Changed by hand to another source: the text still means the first one.
  const other = await uidOf(call("CreateRepo", { parent: group, repo: { name: "other" } }));
  await call("UpdateRepo", { repo: { uid: id, sync_config: { source: other } }, updateMask: "sync_config.source" });
  const drifted = await reconcile.read(kind, service.otherSession(), id, outs);
  expect(reconcile.diff(kind, id, drifted.props, inputs)).toEqual({ changes: true, replaces: [] });
  service.requests.length = 0;
  const { outs: repaired } = await reconcile.update(kind, service.otherSession(), id, drifted.props, inputs);
  // The service resolves the text again.
  expect(patches()).toEqual([{ mask: "sync_config.source", body: { sync_config: { source: spelt } } }]);
  expect(repaired).toMatchObject({ syncConfig: { source } });
  expect(reconcile.diff(kind, id, repaired, inputs)).toEqual(noChange);
});

it("a repo shows a reordered list only where the order counts", async () => {
  const overlay = (runtimeRepositories: string[], packages: string[]) => ({
    customOverlay: { contents: { runtimeRepositories, packages } },
  });
  const args = { parent: group, name: "r", ...overlay(["b", "a"], ["y", "x"]) };
  const { kind, id, inputs, outs } = await create("repo", args);
  const diff = (further: Json) => reconcile.diff(kind, id, outs, { ...inputs, ...further });
  expect(diff(overlay(["b", "a"], ["x", "y"]))).toEqual(noChange);
  expect(diff(overlay(["a", "b"], ["y", "x"]))).toEqual({ changes: true, replaces: [] });
});

it("a repo with unmanaged tags stays, unless forceDestroy deletes them", async () => {
  const { kind, id, outs } = await create("repo", { parent: group, name: "r" });
  await call("CreateTag", { parent: id, tag: { name: "by-ci-r1", digest: digest("a") } });
  await expect(reconcile.remove(kind, service.otherSession(), id, outs)).rejects.toThrow(
    /tags of the repo would be deleted with it, and this run deletes none of them; forceDestroy: true deletes them too.*tag \S+ "by-ci-r1"/s,
  );
  await reconcile.remove(kind, service.otherSession(), id, { ...outs, forceDestroy: true });
  await expect(call("GetRepo", { uid: id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a role that the service refuses has the name of the argument in the error", async () => {
  const sso = await create("identityProvider", { parent: group, ...login });
  const role = `${service.organization}/${"9".repeat(16)}`;
  const args = { parent: sso.id, externalGroupId: "SRE", role, scope: service.organization };
  await expect(create("externalGroupRoleMapping", args)).rejects.toThrow(`: role: role ${role} does not exist`);
});

test("an identity provider with mappings of others is not deleted, and the error names them with advice", async () => {
  const { kind, id, outs } = await create("identityProvider", { parent: group, ...login });
  const mapping = { externalGroupId: "SRE", roleUid: outs.defaultRole, scope: service.organization };
  const uid = await uidOf(call("CreateExternalGroupRoleMapping", { parent: id, externalGroupRoleMapping: mapping }));
  service.requests.length = 0;
  await expect(reconcile.remove(kind, service.otherSession(), id, outs)).rejects.toThrow(
    new RegExp(
      `external group role mappings of the identity provider would be deleted with it, and this run deletes none of them; forceDestroy: true deletes them too.*external group role mapping ${uid}`,
      "s",
    ),
  );
  expect(service.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
});

const { oidc } = login;
const loginArgs = () => ({ parent: group, ...login });
const sent = [{ mask: "oidc.clientSecret", body: { oidc } }];

it("an existing identity provider gets the program's client secret when it is adopted", async () => {
  const theirs = { defaultRole: await service.role("viewer"), oidc: { ...oidc, clientSecret: "theirs" } };
  const identityProvider = { ...login, ...theirs };
  const adopt = await uidOf(call("CreateIdentityProvider", { parent: group, identityProvider }));
  const { kind, id, inputs, outs } = await create("identityProvider", { ...loginArgs(), adopt });
  expect(patches()).toEqual(sent);
  expect(reconcile.diff(kind, id, outs, inputs)).toEqual(noChange);
});

it("an existing identity provider gets it when a killed run created it, perhaps with another secret", async () => {
  const session = service.otherSession();
  const answered = Promise.withResolvers<void>();
  // The process dies before it gets the response.
  const recordSuccess = () => {
    answered.resolve();
    return new Promise<void>(() => undefined);
  };
  const killed: Session = { ...session, journal: { ...session.journal, recordSuccess } };
  void create("identityProvider", { ...loginArgs(), oidc: { ...oidc, clientSecret: "before" } }, killed);
  await answered.promise;
  service.requests.length = 0;
  await create("identityProvider", loginArgs());
  expect(patches()).toEqual(sent);
});

it("a role by its name is unchanged until a change by hand, and is restored", async () => {
  const { kind, id, inputs, outs } = await create("identityProvider", { parent: group, ...login });
  const defaultRole = await service.role("editor");
  await call("UpdateIdentityProvider", { identityProvider: { uid: id, defaultRole }, updateMask: "defaultRole" });
  const { props, inputs: read } = await reconcile.read(kind, service.otherSession(), id, outs);
  expect(read).toMatchObject({ defaultRole });
  expect(reconcile.diff(kind, id, props, inputs)).toEqual({ changes: true, replaces: [] });
  const { outs: repaired } = await reconcile.update(kind, service.otherSession(), id, props, inputs);
  expect(repaired.defaultRole).toBe(outs.defaultRole);
  expect(reconcile.diff(kind, id, repaired, inputs)).toEqual(noChange);
});

it("an account association is replaced in place: the old one is deleted first, and the new one has its uid", async () => {
  const session = service.otherSession();
  const args = { parent: group, name: "clouds" };
  const { kind, id, inputs, outs } = await create("accountAssociation", args, session);
  const diff = reconcile.diff(kind, id, outs, { ...inputs, name: "other", [REPLACE_ON]: ["name"] });
  expect(diff).toEqual({ changes: true, replaces: ["name"], deleteBeforeReplace: true });
  const next = service.otherSession();
  next.ownership.inState(recordId(kind.field, id), "organization/project/stack/Test::x", true);
  await reconcile.remove(kind, next, id, outs);
  expect((await create("accountAssociation", { ...args, name: "other" }, next)).id).toBe(group);
});

it("an account association differs from its group, although both have one uid", async () => {
  const ownership = createOwnership();
  const id = recordId("accountAssociation", group);
  ownership.inState(group, "stack/Group::g", true);
  expect(() => ownership.inState(id, "stack/AccountAssociation::a", true)).not.toThrow();
  expect(ownership.creationRefusal(id, "stack/AccountAssociation::a")).toBe(
    "is already managed by another resource of this stack",
  );
  expect(ownership.creationRefusal(recordId("accountAssociation", `${group}/1`), "b")).toBeUndefined();
});

const { roleBinding } = kindRecords;
const operations = () => service.requests.splice(0).map(({ method, url }) => `${method} ${url.pathname.split("/")[3]}`);
const args = (role: unknown, name = "b"): Json => ({ ...keyOf(name), parent: org, identity: ci, role });
const names = (identity: string) => ({ identity, role: "viewer", group: "dev" });

const bindAs = (inputs: Json) => reconcile.create(roleBinding, service.otherSession(), inputs);
const org: string = service.organization as string;
const viewer: string = await service.role("viewer");
const identity = { name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "secret subject" } };
const ci: string = (await call("CreateIdentity", { parent: org, identity })).uid;
// A role that anyone can create in a group must not be granted instead.
await call("CreateRole", { parent: org, role: { name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] } });

describe("a built-in role by its name", () => {
  it("is granted, never a role of that name in a group; the state keeps the name without a change", async () => {
    const { id, outs } = await bindAs(args("viewer"));
    expect(await call("GetRoleBinding", { uid: id })).toMatchObject({ role: { uid: viewer } });
    expect(outs).toMatchObject({ role: { uid: viewer, name: "viewer" }, identity: { uid: ci, name: "ci" } });
    expect(reconcile.diff(roleBinding, id, outs, args("viewer"))).toEqual({ changes: false, replaces: [] });
    expect(reconcile.diff(roleBinding, id, outs, args(viewer))).toEqual({ changes: false, replaces: [] });
    const read = await reconcile.read(roleBinding, service.session, id, outs);
    expect(read.inputs).toMatchObject({ identity: ci, role: "viewer" });
    expect(read.props).toEqual(outs);
  });

  it("is changed by one PATCH; its uid is looked up once in a run, and only for a change", async () => {
    const session = service.otherSession();
    const one = await reconcile.create(roleBinding, session, args("viewer", "one"));
    const two = await reconcile.create(roleBinding, session, args("editor", "two"));
    expect(operations().filter((text) => text === "GET roles")).toHaveLength(1);
    const same = await reconcile.update(roleBinding, service.session, one.id, one.outs, {
      ...args("viewer", "one"),
      allowReplace: true,
    });
    expect(same.outs).toMatchObject({ role: { name: "viewer" }, allowReplace: true, __role: "viewer" });
    expect(operations()).toEqual([]);
    expect(reconcile.diff(roleBinding, two.id, two.outs, args("viewer")).changes).toBe(true);
    const { outs } = await reconcile.update(roleBinding, session, two.id, two.outs, args("viewer"));
    expect(outs).toMatchObject({ role: { uid: viewer, name: "viewer" } });
    expect(operations()).toEqual(["PATCH roleBindings"]);
  });

  it("that does not exist is an error with the nearest names, before any write", async () => {
    await expect(bindAs(args("viewr"))).rejects.toThrow('no built-in role is named "viewr"; did you mean viewer?');
    expect(operations().filter((text) => text.endsWith(" roleBindings"))).toEqual([]);
  });

  it("is bound again by its name once the service has it under another uid", async () => {
    const { id, outs } = await bindAs(args("viewer", "rebuilt"));
    // As a refresh finds it: the bound role is gone, and its name with it.
    const found = { ...outs, role: { uid: "0".repeat(40), name: "" } };
    expect(reconcile.diff(roleBinding, id, found, args("viewer")).changes).toBe(true);
    const updated = await reconcile.update(roleBinding, service.otherSession(), id, found, args("viewer"));
    expect(updated.outs).toMatchObject({ role: { uid: viewer, name: "viewer" } });
  });
});

it("a name that is secret in the program is not in the state, and an update without a request removes it from an older one", async () => {
  const { id, outs } = await bindAs({ ...args("viewer", "secret"), names: names("[secret]") });
  expect(outs.identity).toEqual({ uid: ci });
  expect(outs.role).toEqual({ uid: viewer, name: "viewer" });
  const plain = { ...outs, identity: { uid: ci, name: "ci" } };
  const news = { ...args("viewer", "secret"), names: names("[secret]") };
  expect(reconcile.diff(roleBinding, id, plain, news)).toEqual({ changes: true, replaces: [] });
  service.requests.splice(0);
  expect((await reconcile.update(roleBinding, service.session, id, plain, news)).outs).toEqual(outs);
  expect(operations()).toEqual([]);
});

it("an existing record that looks like a new one is reported by uid after one list for a group, but not with unknown inputs or for an adoption", async () => {
  const { id } = await bindAs(args("viewer", "there"));
  const warningOf = duplicateWarnings();
  const session = service.otherSession();
  service.requests.splice(0);
  const text = await warningOf(roleBinding, session, args("viewer", "again"));
  expect(text).toMatch(
    /^warning: RoleBinding again is new, and a role binding with the same parent and fields already exists/,
  );
  expect(text).toContain(`role binding ${id}, created `);
  expect(await warningOf(roleBinding, session, args(ci, "other"))).toBeUndefined();
  expect(operations().filter((one) => one === "GET roleBindings")).toHaveLength(1);
  for (const own of [{ adopt: id }, { identity: UNKNOWN }, { parent: UNKNOWN }])
    expect(await warningOf(roleBinding, session, { ...args("viewer"), ...own })).toBeUndefined();
});

it("an existing record that looks like a new one is not requested again after a failure", async () => {
  const warningOf = duplicateWarnings();
  const { session, requests } = scriptedSession(lostAnswer(false));
  for (const name of ["one", "two"]) expect(await warningOf(roleBinding, session, args(viewer, name))).toBeUndefined();
  expect(requests).toHaveLength(1);
});
