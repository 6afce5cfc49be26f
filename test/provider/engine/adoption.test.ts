// What `adopt` means: which record, what it changes, what is left once the record is deleted, and the file of uids.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../client/addresses.ts";
import { DRIFT_PREVIEW, isDoubt } from "../../../client/preview-marks.ts";
import { adoptionChanges, findAdopted, MATCHES } from "../../../provider/engine/adoption.ts";
import { type Methods, providerWith } from "../../../provider/engine/methods.ts";
import { type KindName, kindRecords } from "../../../provider/kind/index.ts";
import { FORMER, KEY, MATCH, PREVIEW, PROVIDER } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { startMachine } from "../../harness/provider.ts";
import { GROUP, journalFolder, json, keyOf, ORG, ROLE, scriptedSession } from "../../support/scripted.ts";

const machine = startMachine();

const folderWith = (uids?: Json): string => {
  const folder = mkdtempSync(join(tmpdir(), "irm-adoption-"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: p\nruntime: yaml\n");
  if (uids !== undefined) writeFileSync(join(folder, "adopt.json"), JSON.stringify({ resources: uids }));
  return folder;
};
const folder = folderWith();

describe.each([
  ["dynamic", false],
  ["native", true],
])("of a %s resource, adopt", (form, looksUp) => {
  const start = async ({
    kind = "group" as KindName,
    cwd = folder,
    journal = machine.journal,
    aheadMs = 0,
    env = {} as Env,
  } = {}): Promise<Methods> => {
    const { environment } = machine.runAt(aheadMs);
    const own = { ...environment, env: { ...environment.env, IRM_JOURNAL: journal, ...env }, cwd };
    const methods = providerWith(own, { looksUp }).kinds[kind];
    await methods.configure({ config: { get: () => undefined } });
    return methods;
  };
  /** What the program passes where it finds no record: of a native resource the provider looks. */
  const missing = (adopt: string): unknown => (looksUp ? adopt : { adopt, reason: `no groups with the uid ${adopt}` });
  const keyed = (args: Json): Json & { [KEY]: string } => ({
    ...args,
    ...(looksUp ? {} : { [PROVIDER]: "text" }),
    [KEY]: `organization/project/stack/Group::${args.name}`,
  });
  const checked = async (group: Methods, olds: Json, news: Json): Promise<Json> => {
    const { inputs, failures } = await group.check(olds, news);
    expect(failures).toEqual([]);
    return inputs;
  };
  /** The engine gives a native resource its outputs and inputs, and a dynamic one its outputs. */
  const refreshed = async (id: string, outs: Json, inputs: Json, own: Parameters<typeof start>[0] = {}) => {
    // By then no new record is hidden any more.
    const methods = await start({ ...own, aheadMs: 60_000 });
    return (await methods.read(id, { ...inputs, ...outs }, looksUp ? inputs : undefined)).id;
  };
  const remove = (uid: string) => machine.service.call("DeleteGroup", { uid });
  const adopted = async (args: Json) => {
    const { uid } = await machine.createByOther(args);
    const group = await start();
    const inputs = await checked(group, {}, { ...args, adopt: uid });
    const { id, outs } = await group.create(inputs);
    expect({ id, posts: machine.posts }).toEqual({ id: uid, posts: 0 });
    return { uid, inputs, outs };
  };
  /** The same, whose record somebody has deleted, as a refresh has found. */
  const gone = async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    expect(await refreshed(uid, outs, inputs)).toBe("");
    return { args, uid };
  };

  it("creates the record again that a refresh has found gone, says so, and means nothing from then on", async () => {
    const { args, uid } = await gone();
    const update = await start();
    machine.messages.length = 0;
    const news = await checked(update, {}, { ...args, adopt: missing(uid) });
    expect(machine.messages).toEqual([
      `Group ${args.name} creates its group again: ${uid}, which it had adopted, was deleted`,
    ]);
    expect(news).not.toHaveProperty("adopt");
    expect(news).not.toHaveProperty("onDelete");
    const created = await update.create(news);
    expect(created.id).not.toBe(uid);
    expect(created.outs.adopted).toBeUndefined();
    expect(machine.posts).toBe(1);

    const next = await start();
    const same = await checked(next, news, { ...args, adopt: missing(uid) });
    expect(same).toEqual(news);
    expect((await next.diff(created.id, { ...news, ...created.outs }, same)).changes).toBe(false);

    // Once more, of the record that the update has created.
    await remove(created.id);
    expect(await refreshed(created.id, created.outs, news)).toBe("");
    const again = await start();
    await again.create(await checked(again, {}, { ...args, adopt: missing(uid) }));
    expect(machine.posts).toBe(2);
  });

  it("by match, or of a component, creates it again too", async () => {
    const { args, uid } = await gone();
    const update = await start();
    expect(await checked(update, {}, { ...args, adopt: missing("match") })).toMatchObject({ [FORMER]: uid });
    // Once more, of the record that the update creates, which nothing matches either once it is gone.
    const next = await start();
    const news = await checked(next, {}, { ...args, adopt: missing("match") });
    if (!looksUp) expect(await checked(next, news, { ...args, adopt: missing("match") })).toEqual(news);
    // Another name is another record, which the resource never had.
    const mistyped = { ...args, name: "mistyped", adopt: missing("match") };
    const { failures, inputs: left } = await (await start()).check({}, mistyped);
    expect(failures).toMatchObject([{ property: looksUp ? "adopt" : "" }]);
    expect(left).not.toHaveProperty(FORMER);
    expect(machine.posts).toBe(0);
    const text = readdirSync(machine.journal).map((file) => readFileSync(join(machine.journal, file), "utf8"));
    const [line = ""] = /.*"removed".*/.exec(text.join("")) ?? [];
    // A name may be secret.
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(JSON.parse(line).identity).toEqual({ name: hash, place: hash });
    const component = await start();
    // Likewise in the run of the refresh, of which the program does not know.
    expect(await checked(component, {}, { ...args, adopt: uid })).toMatchObject({ [FORMER]: uid });
    const ofComponent = await checked(component, {}, { ...args, [MATCH]: uid });
    expect(ofComponent).toMatchObject({ [FORMER]: uid });
    expect(ofComponent).not.toHaveProperty("adopt");
    expect(await checked(await start(), ofComponent, { ...args, [MATCH]: uid })).toEqual(ofComponent);
  });

  it("by match of a role binding means the same identity and role, also by the name of the role", async () => {
    const { call, role } = machine.service;
    const parent = machine.org;
    const claimMatch = { issuer: "https://issuer.example", subject: `of ${form}` };
    const { uid: identity } = await call("CreateIdentity", { parent, identity: { name: "ci", claimMatch } });
    const roles = [await role("viewer"), await role("editor")];
    const roleBinding = { identityUid: identity, roleUid: roles[0] };
    const { uid } = await call("CreateRoleBinding", { parent, roleBinding });
    const own = { parent, identity, ...(looksUp ? {} : { [PROVIDER]: "text" }) };
    // The program has resolved the name, where the provider does not.
    const args = (i: number): Json => ({
      ...own,
      role: looksUp ? ["viewer", "editor"][i] : roles[i],
      [KEY]: "organization/project/stack/RoleBinding::ci",
    });
    const kind = "roleBinding";
    const binding = await start({ kind });
    const inputs = await checked(binding, {}, { ...args(0), adopt: uid });
    const { id, outs } = await binding.create(inputs);
    await call("DeleteRoleBinding", { uid });
    expect(await refreshed(id, outs, inputs, { kind })).toBe("");

    const same = await (await start({ kind })).check({}, { ...args(0), adopt: missing("match") });
    expect(same).toMatchObject({ failures: [], inputs: { [FORMER]: uid } });
    const other = await (await start({ kind })).check({}, { ...args(1), adopt: missing("match") });
    expect(other.failures).toHaveLength(1);
  });

  it("means the record that is there, also where a refresh has found it gone before", async () => {
    const { uid: group } = await machine.createByOther(machine.inputs());
    // It has the uid of its group, and so has its successor.
    const { call } = machine.service;
    const amazon = { account: "111111111111" };
    const make = (name: string) =>
      call("CreateAccountAssociation", { parent: group, accountAssociation: { name, amazon } });
    const args = {
      ...keyed({ parent: group, name: "mine", amazon }),
      [KEY]: "organization/project/stack/AccountAssociation::mine",
    };
    await make("by hand");
    const kind = "accountAssociation";
    const first = await start({ kind });
    const inputs = await checked(first, {}, { ...args, adopt: group });
    const { id, outs } = await first.create(inputs);
    await call("DeleteAccountAssociation", { uid: group });
    expect(await refreshed(id, outs, inputs, { kind })).toBe("");

    await make("by hand again");
    for (const given of [{ adopt: group }, { [MATCH]: group }]) {
      const update = await start({ kind });
      const news = await checked(update, {}, { ...args, ...given });
      expect(news).toMatchObject({ adopt: group });
      expect((await update.create(news)).outs).toMatchObject({ uid: group, adopted: true, name: "mine" });
    }
    expect(machine.posts).toBe(0);
  });

  it("stays an error where nothing shows that the resource had the record: no POST is sent", async () => {
    const { args, uid } = await gone();
    const mistyped = `${machine.org}/00000000000000ab`;
    const other = keyed(machine.inputs());
    const elsewhere = mkdtempSync(join(journalFolder, "elsewhere-"));
    for (const [group, news, adopt] of [
      [await start(), args, mistyped],
      [await start(), other, uid],
      [await start({ journal: elsewhere }), args, uid],
    ] as const) {
      const { inputs: left, failures } = await group.check({}, { ...news, adopt: missing(adopt) });
      expect(failures).toEqual([
        { property: looksUp ? "adopt" : "", reason: expect.stringContaining(`no groups with the uid ${adopt}`) },
      ]);
      expect(left).not.toHaveProperty(FORMER);
    }
    expect(machine.posts).toBe(0);
  });

  it("that names no record is a line in the preview of `irm drift`, and no update creates anything by it", async () => {
    const args = keyed(machine.inputs());
    const uid = `${machine.org}/00000000000000ab`;
    const inDrift = () => start({ env: { [DRIFT_PREVIEW]: "1" } });
    for (const [adopt, reason] of [
      [uid, `no groups with the uid ${uid}`],
      ["match", looksUp ? `no groups that match in ${machine.org}` : "no groups with the uid match"],
    ] as const) {
      const news = { ...args, adopt: missing(adopt) };
      const preview = await inDrift();
      machine.messages.length = 0;
      const { inputs, failures } = await preview.check({}, { ...news, [PREVIEW]: true });
      expect(failures).toEqual([]);
      expect(inputs).toMatchObject({ adopt });
      const line = expect.stringContaining(`adopt of Group::${args.name} names no record: ${reason}`);
      expect(machine.messages).toEqual([line]);
      expect(isDoubt(machine.messages.join())).toBe(true);
      // Whoever sets the variable for an update, or says that it is a preview.
      await expect((await inDrift()).create(inputs)).rejects.toThrow();
      const update = await (await inDrift()).check({}, { ...news, ...(looksUp && { [PREVIEW]: false }) });
      expect(update.failures).toHaveLength(1);
      expect((await (await start()).check({}, { ...news, [PREVIEW]: true })).failures).toHaveLength(1);
    }
    expect(machine.posts).toBe(0);
  });

  it("of a resource that is in the state is not looked up again, also where its record is gone, and does not keep a replacement from being created", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    const group = await start();
    const same = await checked(group, inputs, { ...args, adopt: missing(uid) });
    expect(same).toEqual(inputs);
    expect((await group.diff(uid, { ...inputs, ...outs }, same)).changes).toBe(false);
    expect(await checked(group, {}, { ...args, adopt: uid })).toMatchObject({ [FORMER]: uid });
  });

  it("comes from adopt.json beside the program, until the resource has a record", async () => {
    const args = keyed(machine.inputs());
    const { uid } = await machine.createByOther(args);
    const cwd = folderWith({ [`Group::${args.name}`]: uid });
    const first = await start({ cwd });
    const inputs = await checked(first, {}, args);
    expect(inputs).toMatchObject({ adopt: uid, onDelete: "the adopted record stays" });
    expect(machine.messages).toEqual([expect.stringContaining(`Group ${args.name} adopts group ${uid}`)]);
    const { id, outs } = await first.create(inputs);
    expect(id).toBe(uid);
    const second = await start({ cwd });
    expect(await checked(second, inputs, args)).toEqual(inputs);
    // A resource that has created its record keeps it.
    const { adopt: _, onDelete: _onDelete, ...created } = inputs;
    expect(await checked(second, created, args)).toEqual(created);

    await remove(uid);
    expect(await refreshed(id, outs, inputs, { cwd })).toBe("");
    const update = await start({ cwd });
    await update.create(await checked(update, {}, args));
    expect(machine.posts).toBe(1);
    const mistyped = folderWith({ [`Group::${args.name}`]: `${machine.org}/00000000000000ab` });
    const { failures } = await (await start({ cwd: mistyped })).check({}, args);
    expect(failures).toMatchObject([{ property: "adopt" }]);
    expect(machine.posts).toBe(1);
  });
});

it("a file of uids with mistakes is one error, with all of them", async () => {
  const { environment } = machine.run();
  const cwd = folderWith({ "Gruop::a": "x", team: `${machine.org}/00000000000000ab` });
  const { group } = providerWith({ ...environment, cwd }).kinds;
  await group.configure({ config: { get: () => undefined } });
  await expect(group.check({}, machine.inputs())).rejects.toThrow(
    [
      `${join(cwd, "adopt.json")}: resources.Gruop::a: there is no resource type Gruop; did you mean Group?`,
      `${join(cwd, "adopt.json")}: resources.Gruop::a: must be a uid`,
      `${join(cwd, "adopt.json")}: resources.team: must be Type::name, such as Group::platform`,
    ].join("\n"),
  );
});

// The service, or a proxy that ignores the filter of a list, does not choose the record.
it.each([
  ["the uid", GROUP],
  ["the name", MATCHES],
])("adopt, of a list that shows other records as well means the record of %s alone", async (_, adopt) => {
  const groups = [
    { uid: ROLE, name: "ops" },
    { uid: GROUP, name: "eng" },
  ];
  const { session } = scriptedSession(json({ groups, totalCount: "2" }));
  const found = await findAdopted(kindRecords.group, session, { ...keyOf("g"), parent: ORG, name: "eng", adopt });
  expect(found.map(({ uid }) => uid)).toEqual([GROUP]);
});

const VIEWER = "b".repeat(40);
const record = { uid: GROUP, name: "sso", defaultRole: VIEWER, oidc: { issuer: "https://a.example", clientId: "c" } };
const args = { ...keyOf("sso"), parent: ORG, name: "sso", defaultRole: "viewer", oidc: record.oidc };

const changes = `IdentityProvider sso changes on identity provider ${GROUP}:\n  - defaultRole: "${VIEWER}" becomes "viewer"`;
it.each<[string, uid: string | undefined, text: string | undefined]>([
  ["is nothing where the role has the name", VIEWER, undefined],
  ["names the role where it is another one", "c".repeat(40), changes],
  ["is told by the name where the roles cannot be read", undefined, changes],
])("what an adoption changes %s", async (_, uid, text) => {
  const { session } = scriptedSession(json({ roles: [{ uid, name: "viewer" }] }));
  const connect = async () => (uid === undefined ? Promise.reject(new Error("no connection")) : session);
  expect(await adoptionChanges(kindRecords.identityProvider, connect, "sso", record, args, false)).toBe(text);
});

it("what an adoption changes is refused by the update where the API cannot change it", async () => {
  const staticKeys = { issuer: "https://a.example", subject: "s", issuerKeys: '{"keys":[]}' };
  const now = { uid: GROUP, name: "ci", staticKeys };
  const asked = { ...keyOf("ci"), parent: ORG, name: "ci", staticKeys: { ...staticKeys, subject: "other" } };
  const { session } = scriptedSession();
  expect(await adoptionChanges(kindRecords.identity, async () => session, "ci", now, asked, false)).toBe(
    [
      `Identity ci changes on identity ${GROUP}:`,
      '  - staticKeys.subject: "s" becomes "other"',
      "The update refuses this: staticKeys cannot be changed on it; declare what it has, or leave adopt out to create another one.",
    ].join("\n"),
  );
});
