// Operations that a killed run left in the engine's state (docs/internals/faults.md#f26): only what it created is adopted.
import { describe, expect, it } from "vitest";
import { findLost } from "../../../provider/attribution/lost-machine.ts";
import { openStacks } from "../../../provider/engine/open-stacks.ts";
import type { StepParts } from "../../../provider/engine/steps.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { TYPE_PREFIX } from "../../../provider/record/kind.ts";
import type { Session } from "../../../provider/run/session.ts";
import { type EngineRun, EngineStateError } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";
import { startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";
import { SECOND_MS, type StoredState, storedWith, urnOf } from "../../support/stored-stack.ts";

const { group, roleBinding } = kindRecords;
const machine = startMachine();

const MINUTE_MS = 60 * SECOND_MS;

const newArgs = (): Json => {
  const { __key, ...args } = machine.inputs();
  return { ...args, __key: String(__key).replace("/Test::", "/Group::") };
};
const existing = async () => {
  const args = newArgs();
  const there = await machine.createByOther(args);
  return { args, there, uid: there.uid };
};

const runWith = (state: StoredState) => {
  const { stored, asked } = storedWith(state);
  machine.stored = stored;
  return { ...machine.run(), asked };
};

const stateGroup = (key: unknown, agoMs: number, id = `${machine.org}/0123456789abcdef`): Json => ({
  ...{ urn: urnOf(key), type: `${TYPE_PREFIX}Group`, id },
  outputs: { createTime: new Date(Date.now() - agoMs).toISOString() },
});

const create = (session: Session, args: Json) => reconcile.create(group, session, args);

describe("a create that a killed run left in the engine's state", () => {
  it("gives its record, and no second one is created; without one, no more is asked for", async () => {
    const { args, there } = await existing();
    const { session, asked } = runWith({ pending: [{ args }] });
    expect((await create(session, args)).id).toBe(there.uid);
    expect(machine.posts).toBe(0);
    expect(machine.messages.at(-1)).toBe(
      `${args.__key}: adopting group ${there.uid} "${args.name}", created by an earlier run at ${there.createTime}`,
    );
    // The state is read once in a run, and not again for the creates that follow.
    await create(session, newArgs());
    expect(asked).toEqual({ states: 1, secrets: 0, runs: 1 });
    const other = runWith({ pending: [] });
    await create(other.session, newArgs());
    await create(other.session, newArgs());
    expect(other.asked).toEqual({ states: 1, secrets: 0, runs: 0 });
    expect(machine.messages).toHaveLength(1);
  });

  it("gives a record that a later killed run has changed already", async () => {
    const args = newArgs();
    const changed = { ...args, description: "changed" };
    const { uid } = await machine.createByOther(changed);
    const { session } = runWith({ pending: [{ args: changed }, { args, agoMs: 5 * SECOND_MS }] });
    expect((await create(session, changed)).id).toBe(uid);
    expect(machine.posts).toBe(0);
  });

  it("waits until no request of the killed run can arrive, and not after a later run, which began when it had ended", async () => {
    const args = newArgs();
    const { session, clock } = runWith({ pending: [{ args }] });
    await create(session, args);
    expect(clock.now()).toBeGreaterThanOrEqual(65 * SECOND_MS - SECOND_MS);
    expect(machine.posts).toBe(1);
    const runs: EngineRun[] = [{ kind: "refresh", result: "succeeded", startedAt: Date.now() - 2 * MINUTE_MS }];
    const later = runWith({ pending: [{ args: newArgs(), agoMs: 3 * MINUTE_MS }], runs });
    await create(later.session, newArgs());
    expect(later.clock.now()).toBe(0);
  });

  it("of which two records match stops, and lists them", async () => {
    const args = newArgs();
    const twins = [await machine.createByOther(args), await machine.createByOther(args)];
    const { session } = runWith({ pending: [{ args }] });
    const error = (await create(session, args).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain("2 records match it:");
    for (const { uid } of twins) expect(error.message).toContain(`group ${uid} "${args.name}", created `);
    expect(machine.posts).toBe(0);
  });

  it("that equals another one: each resource gets one of the two records", async () => {
    const args = newArgs();
    const other = { ...args, __key: `${args.__key}-too` };
    await machine.createByOther(args);
    await machine.createByOther(args);
    const { session } = runWith({ pending: [{ args }, { args: other }] });
    const ids = await Promise.all([args, other].map(async (one) => (await create(session, one)).id));
    expect((await machine.named(args.name)).map(({ uid }) => uid).sort()).toEqual(ids.sort());
    expect(machine.posts).toBe(0);
  });

  it("is matched by secrets, which the engine is asked for only then, also of a resource that had another name then", async () => {
    const { args, uid } = await existing();
    const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
    const hidden = { ...args, name: { ...secret, ciphertext: "v1:abc" } };
    const clear = { ...args, name: { ...secret, plaintext: JSON.stringify(args.name) } };
    const { session, asked } = runWith({ pending: [{ args: hidden }], secrets: [{ args: clear }] });
    expect((await create(session, { ...args, __key: `${args.__key}-renamed` })).id).toBe(uid);
    expect(asked).toEqual({ states: 1, secrets: 1, runs: 1 });
  });

  const refuses = (why: string, state: (args: Json, uid: string) => StoredState): void =>
    it(`gives no record that ${why}: the create is refused`, async () => {
      const { args, uid } = await existing();
      const { session } = runWith(state(args, uid));
      const error = (await create(session, args).catch((thrown: unknown) => thrown)) as Error;
      expect(error.message).toContain("and nothing shows that this stack created it; nothing was sent:");
      expect(error.message).toContain(`group ${uid} "${args.name}", created `);
      expect(machine.posts).toBe(0);
    });
  const ended = (result: "succeeded" | "failed", agoMs: number): EngineRun[] => [
    { kind: "update", result, startedAt: Date.now() - agoMs },
  ];
  refuses("is older than the killed run", (args) => ({ pending: [{ args, agoMs: -5 * SECOND_MS }] }));
  refuses("differs from what was sent", (args) => ({ pending: [{ args: { ...args, description: "another" } }] }));
  refuses("was adopted, or created again, by an update that has succeeded since", (args) => ({
    pending: [{ args, agoMs: 5 * SECOND_MS }],
    runs: ended("succeeded", SECOND_MS),
  }));
  refuses("is later than a run after the killed one, by more than a request may take", (args) => ({
    pending: [{ args, agoMs: 10 * MINUTE_MS }],
    runs: ended("failed", 5 * MINUTE_MS),
  }));
  refuses(
    "is later than the end of the killed run, which nobody followed, by more than a request may take",
    (args) => ({ pending: [{ args, agoMs: 20 * MINUTE_MS }], savedMs: 15 * MINUTE_MS }),
  );
  refuses("may be of a resource that the state has, and that is as new", (args) => ({
    pending: [{ args, agoMs: 5 * SECOND_MS }],
    resources: [stateGroup(args.__key, SECOND_MS)],
  }));
  refuses("was begun by another process of this run", (args) => ({ pending: [{ args, agoMs: -3 * SECOND_MS }] }));
  refuses("was to be adopted", (args, uid) => ({ pending: [{ args: { ...args, adopt: uid } }] }));
  refuses("was to be changed", (args) => ({ pending: [{ args, action: "updating" }] }));
  refuses("is of another type", (args) => ({ pending: [{ args, type: "aws:s3/bucket:Bucket" }] }));

  it("counts in place of an older resource that it was to replace", async () => {
    const { args, uid } = await existing();
    const { session } = runWith({ pending: [{ args }], resources: [stateGroup(args.__key, MINUTE_MS)] });
    expect((await create(session, args)).id).toBe(uid);
  });

  it("does not count where the journal has an entry of the resource", async () => {
    const args = newArgs();
    await create(machine.run("timeout").session, args).catch(() => undefined);
    const there = await machine.createByOther({ ...args, description: "of another run" });
    const { session } = runWith({ pending: [{ args: { ...args, description: "of another run" } }] });
    const { id } = await create(session, args);
    expect(id).not.toBe(there.uid);
  });
});

it("an equal record that another resource of the state has is no obstacle: the program renames that one without an alias", async () => {
  const { args, uid } = await existing();
  const owner = { ...stateGroup("organization/project/stack/Group::owner", 0, uid), outputs: {} };
  const { session } = runWith({ pending: [], resources: [owner] });
  expect((await create(session, args)).id).not.toBe(uid);
  expect(machine.messages).toEqual([]);
});

it("an equal record is refused with the reason where the state cannot be read", async () => {
  const { args } = await existing();
  const refuse = async (): Promise<never> => {
    throw new EngineStateError("pulumi stack export: no stack named that found");
  };
  machine.stored = { engineState: refuse, engineSecrets: refuse, engineRuns: refuse, engineAgeMs: () => 0 };
  await expect(create(machine.run().session, args)).rejects.toThrow(
    "What the engine has stored, which would show the creates of a killed run, could not be read: pulumi stack export: no stack named that found.",
  );
});

it("a role binding that exists is adopted only where the killed run created it", async () => {
  const roleUid = await machine.service.role("viewer");
  for (const isTaken of [true, false]) {
    const { uid: parent } = await machine.createByOther(machine.inputs());
    const key = { __key: "organization/project/stack/RoleBinding::b" };
    const args = { ...key, parent, identityUid: machine.service.identity, roleUid };
    const other = { ...args, ...keyOf("by other") };
    const { id: there } = await reconcile.create(roleBinding, machine.onOtherMachine(), other);
    const pending = [{ args, type: `${TYPE_PREFIX}RoleBinding`, agoMs: isTaken ? 2 * SECOND_MS : -5 * SECOND_MS }];
    const { session } = runWith({ pending });
    machine.messages.splice(0);
    const { id } = await reconcile.create(roleBinding, session, args);
    expect(id === there).toBe(isTaken);
    if (!isTaken) expect(machine.messages.at(-1)).toContain(`- role binding ${there} `);
  }
});

describe("a resource that no program declares any more", () => {
  const stacksOf = (session: Session) =>
    openStacks(
      {
        ledger: async () => session,
        connect: async () => session,
        hasCredentials: async () => true,
        log: session.log,
        sentence: (_key, text) => session.log(text),
        cwd: ".",
        names: {} as StepParts["names"],
        isDeclared: () => true,
      },
      { reason: undefined },
    );

  it("keeps a record that is older than the killed run, one of two that match, and what the engine would keep: of a resource that is protected, or retained on delete", async () => {
    const [older, twin] = [newArgs(), newArgs()];
    await machine.createByOther(older);
    await machine.createByOther(twin);
    await machine.createByOther(twin);
    const { session } = runWith({ pending: [{ args: older, agoMs: -5 * SECOND_MS }, { args: twin }] });
    await stacksOf(session).removeLost(older.__key as string);
    expect(await machine.named(older.name)).toHaveLength(1);
    expect(await machine.named(twin.name)).toHaveLength(2);
    for (const options of [{ protect: true }, { retainOnDelete: true }]) {
      const { args } = await existing();
      await stacksOf(runWith({ pending: [{ args, options }] }).session).removeLost(args.__key as string);
      expect(await machine.named(args.name)).toHaveLength(1);
    }
  });

  it("has its record for certain, though another killed create sent the same name and other fields", async () => {
    const { args, uid } = await existing();
    const other = { ...args, __key: `${args.__key}-other`, description: "another" };
    for (const sent of [
      [args, other],
      [other, args],
    ]) {
      const { session } = runWith({ pending: sent.map((one) => ({ args: one })) });
      const found = await findLost(session, args.__key as string);
      expect(found.map(({ record, doubt }) => [record?.uid, doubt])).toEqual([[uid, undefined]]);
    }
  });

  it("says nothing on a machine with a journal of the stack, which knows what its runs have left", async () => {
    await create(machine.run().session, newArgs());
    const { args } = await existing();
    const { session, asked } = runWith({ pending: [{ args }] });
    await stacksOf(session).look(args.__key as string, false);
    expect(asked.states).toBe(0);
    expect(machine.messages).toEqual([]);
  });
});
