// Role bindings: a built-in role by its name, secret names, and records that look like a new one.
import { beforeEach, describe, expect, it } from "vitest";
import { duplicateWarnings } from "../../../provider/engine/duplicates.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";
import { keyOf, lostAnswer, scriptedSession, UNKNOWN } from "../../support/scripted.ts";

const { roleBinding } = kindRecords;
const builtIn: Record<string, string> = {};
const call = (operation: string, request: object): Promise<Json> =>
  service.session.call(operation as never, request as never) as never;
const operations = () => service.requests.splice(0).map(({ method, url }) => `${method} ${url.pathname.split("/")[3]}`);
beforeEach(() => {
  service.requests.splice(0);
});

const args = (role: unknown, name = "b"): Json => ({ ...keyOf(name), parent: org, identity: ci, role });
const create = (inputs: Json) => reconcile.create(roleBinding, service.otherSession(), inputs);
const names = (identity: string) => ({ identity, role: "viewer", group: "dev" });

const service = await startSharedService();
const org: string = service.organization as string;
const { roles } = (await call("ListRoles", { uidp: { inRoot: true } })) as { roles: { uid: string; name: string }[] };
for (const { uid, name } of roles) builtIn[name] = uid;
const identity = { name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "secret subject" } };
const ci: string = (await call("CreateIdentity", { parent: org, identity })).uid as string;
// A role that anyone can create in a group must not be granted instead.
await call("CreateRole", { parent: org, role: { name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] } });

describe("a built-in role by its name", () => {
  it("is granted, never a role of that name in a group; the state keeps the name without a change", async () => {
    const { id, outs } = await create(args("viewer"));
    const { roleUid } = (await call("GetRoleBinding", { uid: id }).then(({ role }) => ({
      roleUid: (role as Json).uid,
    }))) as Json;
    expect(roleUid).toBe(builtIn.viewer);
    expect(outs).toMatchObject({ role: { uid: builtIn.viewer, name: "viewer" }, identity: { uid: ci, name: "ci" } });
    expect(reconcile.diff(roleBinding, id, outs, args("viewer"))).toEqual({ changes: false, replaces: [] });
    expect(reconcile.diff(roleBinding, id, outs, args(builtIn.viewer))).toEqual({ changes: false, replaces: [] });
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
    expect(outs).toMatchObject({ role: { uid: builtIn.viewer, name: "viewer" } });
    expect(operations()).toEqual(["PATCH roleBindings"]);
  });

  it("that does not exist is an error with the nearest names, before any write", async () => {
    await expect(create(args("viewr"))).rejects.toThrow('no built-in role is named "viewr"; did you mean viewer?');
    expect(operations().filter((text) => text.endsWith(" roleBindings"))).toEqual([]);
  });

  it("is bound again by its name once the service has it under another uid", async () => {
    const { id, outs } = await create(args("viewer", "rebuilt"));
    // As a refresh finds it: the bound role is gone, and its name with it.
    const found = { ...outs, role: { uid: "0".repeat(40), name: "" } };
    expect(reconcile.diff(roleBinding, id, found, args("viewer")).changes).toBe(true);
    const updated = await reconcile.update(roleBinding, service.otherSession(), id, found, args("viewer"));
    expect(updated.outs).toMatchObject({ role: { uid: builtIn.viewer, name: "viewer" } });
  });
});

it("a name that is secret in the program is not in the state, and an update without a request removes it from an older one", async () => {
  const { id, outs } = await create({ ...args("viewer", "secret"), names: names("[secret]") });
  expect(outs.identity).toEqual({ uid: ci });
  expect(outs.role).toEqual({ uid: builtIn.viewer, name: "viewer" });
  const plain = { ...outs, identity: { uid: ci, name: "ci" } };
  const news = { ...args("viewer", "secret"), names: names("[secret]") };
  expect(reconcile.diff(roleBinding, id, plain, news)).toEqual({ changes: true, replaces: [] });
  service.requests.splice(0);
  expect((await reconcile.update(roleBinding, service.session, id, plain, news)).outs).toEqual(outs);
  expect(operations()).toEqual([]);
});

describe("an existing record that looks like a new one", () => {
  it("is reported by uid after one list for a group, but not with unknown inputs or for an adoption", async () => {
    const { id } = await create(args("viewer", "there"));
    const duplicates = duplicateWarnings();
    const session = service.otherSession();
    service.requests.splice(0);
    const text = await duplicates.warningOf(roleBinding, session, args("viewer", "again"));
    expect(text).toMatch(
      /^warning: RoleBinding again is new, and a role binding with the same parent and fields already exists/,
    );
    expect(text).toContain(`role binding ${id}, created `);
    expect(await duplicates.warningOf(roleBinding, session, args(ci, "other"))).toBeUndefined();
    expect(operations().filter((one) => one === "GET roleBindings")).toHaveLength(1);
    const silent = [
      { ...args("viewer"), adopt: id },
      { ...args("viewer"), identity: UNKNOWN },
      { ...args("viewer"), parent: UNKNOWN },
    ];
    for (const inputs of silent) expect(await duplicates.warningOf(roleBinding, session, inputs)).toBeUndefined();
  });

  it("is not requested again after a failure", async () => {
    const duplicates = duplicateWarnings();
    const { session, requests } = scriptedSession(lostAnswer(false));
    for (const name of ["one", "two"])
      expect(await duplicates.warningOf(roleBinding, session, args(builtIn.viewer, name))).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});
