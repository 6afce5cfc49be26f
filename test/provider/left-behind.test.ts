// What a run that did not end has left: with the journal that tells of it, and on a machine without one.
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { group } from "../../provider/kind/group.ts";
import * as reconcile from "../../provider/reconcile.ts";
import type { Json } from "../../schema/index.ts";
import { startMachine } from "./machine.ts";

const machine = startMachine();

describe("the journal", () => {
  it("has the intent before the POST, with no input in it but the parent; nobody else may read it", async () => {
    const args: Json = { ...machine.inputs(), description: "very secret" };
    await reconcile.create(group, machine.run().session, args);
    const [intent, made] = machine.lines();
    expect(intent).toEqual({
      intent: expect.any(String),
      key: args.__key,
      kind: "group",
      parent: machine.org,
      inputs: expect.stringMatching(/^[0-9a-f]{64}$/),
      given: [],
      at: expect.any(Number),
      notBefore: expect.any(Number),
    });
    expect(made).toEqual({ made: intent?.intent, uid: expect.stringContaining(machine.org) });
    const [name] = readdirSync(machine.journal).filter((one) => one.endsWith(".jsonl"));
    expect(statSync(join(machine.journal, name as string)).mode & 0o777).toBe(0o600);
  });

  it("gives a record that the engine never heard of to the resource that it was made for, without a second POST", async () => {
    const args = machine.inputs();
    const killed = await reconcile.create(group, machine.run().session, args);
    const { id } = await reconcile.create(group, machine.run().session, args);
    expect(id).toBe(killed.id);
    expect(machine.posts).toBe(1);
  });

  it("gives it also when the program has changed in between, and makes it what the program says now", async () => {
    const args = machine.inputs();
    await reconcile.create(group, machine.run("timeout after").session, args).catch(() => undefined);
    const killed = await reconcile.create(group, machine.run().session, { ...args, description: "new" });
    expect(await machine.named(args.name)).toMatchObject([{ uid: killed.id, description: "new" }]);
  });

  it("does not give a record that the engine has asked for since", async () => {
    const args = machine.inputs();
    const first = await reconcile.create(group, machine.run().session, args);
    await machine.run().session.journal.known(first.id, args.__key as string);
    const second = await reconcile.create(group, machine.run().session, args);
    expect(second.id).not.toBe(first.id);
  });

  it("forgets a record that is gone", async () => {
    const args = machine.inputs();
    const first = await reconcile.create(group, machine.run().session, args);
    await machine.service.session.call("DeleteGroup", { uid: first.id });
    const second = await reconcile.create(group, machine.run().session, args);
    expect(await machine.named(args.name)).toMatchObject([{ uid: second.id }]);
  });

  it("that cannot be written refuses before the POST", async () => {
    writeFileSync(join(machine.journal, "file"), "");
    machine.journal = join(machine.journal, "file", "below");
    await expect(reconcile.create(group, machine.run().session, machine.inputs())).rejects.toThrow(
      /^the intent journal .* cannot be (read|written) \(ENOTDIR\); make room or choose another folder: irm:journal/,
    );
    expect(machine.posts).toBe(0);
  });
});

describe("a runner without a journal", () => {
  it("names what looks exactly like the record that it makes", async () => {
    const args = machine.inputs();
    const { uid } = await machine.theirs(args);
    await reconcile.create(group, machine.run().session, args);
    expect(machine.said).toEqual([expect.stringContaining(`- group ${uid} "${args.name}", made `)]);
    expect(await machine.named(args.name)).toHaveLength(2);
  });
});
