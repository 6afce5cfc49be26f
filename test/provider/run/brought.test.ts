// A change to the repository that brings a journal of its own: the review would show a new identity, and the run would take over the one
// of somebody else, with all that it may do.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { methodsWith } from "../../../provider/engine/methods.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { desiredFrom } from "../../../provider/record/desired.ts";
import { KEY } from "../../../provider/record/state.ts";
import { journalPath } from "../../../provider/run/journal-path.ts";
import type { Json } from "../../../schema/index.ts";
import { type Process, startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { identity } = kindRecords;

const machine = startMachine();

const claimMatch = (repository: string): Json => ({
  issuer: "https://token.actions.githubusercontent.com",
  subject: `repo:${repository}:ref:refs/heads/main`,
});

const methodsOf = async ({ environment }: Process, cwd?: string) => {
  const { identity: methods } = methodsWith({ ...environment, ...(cwd !== undefined && { cwd }) });
  await methods.configure({ config: { get: () => undefined } });
  return methods;
};

/** What the program asks for, and the identity of somebody else. */
const records = async () => {
  const { name } = machine.inputs();
  const parent = machine.org;
  const args: Json = {
    ...keyOf(name as string),
    parent,
    name: `harmless ${name}`,
    claimMatch: claimMatch("acme/harmless"),
  };
  const boss: Json = { parent, name: `boss of ${name}`, claimMatch: claimMatch("acme/boss") };
  const request = { parent, identity: { name: boss.name, claimMatch: boss.claimMatch } };
  const { uid } = await machine.service.call("CreateIdentity", request);
  return { args, boss, uid };
};

/** A journal by which an interrupted run has created the record of `as` for the resource. */
const bring = (args: Json, as: Json, uid?: string): void => {
  const key = args[KEY] as string;
  const at = Date.now();
  const intent = {
    intent: "brought",
    key,
    kind: "identity",
    parent: machine.org,
    inputs: desiredFrom(identity, as).fingerprint,
    given: [],
    at,
    notBefore: 0,
  };
  const lines = [intent, ...(uid === undefined ? [] : [{ ...intent, uid }])];
  const config = { journal: machine.journal, baseUrl: machine.service.baseUrl } as never;
  const stack = key.split("/", 3).join("/");
  const { environment } = machine.run();
  const path = journalPath(stack, config, environment.env, process.cwd());
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
};

const preview = async (methods: Awaited<ReturnType<typeof methodsOf>>, args: Json) =>
  methods.check({}, { ...args, __preview: true });

it("a journal in the work tree is refused by the preview and by the update, which sends nothing; a read and a delete do without it", async () => {
  const { args, boss, uid } = await records();
  mkdirSync(join(machine.journal, ".git"));
  bring(args, boss, uid);
  const methods = await methodsOf(machine.run(), machine.journal);
  const problem = `the folder of the intent journals, ${machine.journal}, is in the work tree ${machine.journal}`;
  await expect(preview(methods, args)).rejects.toThrow(problem);
  await expect(methods.create(args)).rejects.toThrow(problem);
  expect(machine.posts).toBe(0);

  const { id, outs } = await (await methodsOf(machine.run())).create({ ...args, ...keyOf("other") });
  const later = await methodsOf(machine.run(), machine.journal);
  expect((await later.read(id, outs)).id).toBe(id);
  await later.delete(id, outs);
});

describe("a journal that names the identity of somebody else", () => {
  it.each([["by its uid"], ["by a create that is pending"]])(
    "%s: neither the preview nor the update takes it over",
    async (how) => {
      const { args, boss, uid } = await records();
      bring(args, boss, how === "by its uid" ? uid : undefined);
      const question =
        `${args[KEY]}: the intent journal of an earlier run names identity ${uid} "${boss.name}", which differs from what the ` +
        "program asks for: claimMatch.subject, name.\nIf it belongs to this resource";
      await expect(preview(await methodsOf(machine.run()), args)).rejects.toThrow(question);
      await expect((await methodsOf(machine.run())).create(args)).rejects.toThrow(question);
      expect(machine.posts).toBe(0);
    },
  );

  it("with what the program asks for: the preview says that it is taken over", async () => {
    const { boss, uid } = await records();
    const args = { ...boss, ...keyOf("harmless") };
    bring(args, boss, uid);
    await preview(await methodsOf(machine.run()), args);
    expect(machine.messages).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Identity harmless takes over identity ${uid} "${boss.name}", created by an earlier run at \\d{4}-.*Z$`,
        ),
      ),
    ]);
    expect((await (await methodsOf(machine.run())).create(args)).id).toBe(uid);
  });
});

describe("a preview", () => {
  it("shows what an interrupted run created, and does not write to the journal", async () => {
    const { args } = await records();
    const { id } = await reconcile.create(identity, machine.run().session, args);
    const lines = machine.lines();
    await preview(await methodsOf(machine.run()), args);
    expect(machine.messages.at(-1)).toContain(`takes over identity ${id} "${args.name}", created by an earlier run at`);
    expect(machine.lines()).toEqual(lines);
  });

  it("says that it is not certain where an argument is known only to the run", async () => {
    const { args } = await records();
    const { id } = await reconcile.create(identity, machine.run().session, args);
    const unknown = { ...args, name: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
    await preview(await methodsOf(machine.run()), unknown);
    expect(machine.messages.at(-1)).toContain(
      `may take over identity ${id} "${args.name}", created by an earlier run at`,
    );
  });

  it("says so where a request may still be under way, without a wait", async () => {
    const { args } = await records();
    const lost = machine.run("timeout");
    await expect(reconcile.create(identity, lost.session, args)).rejects.toThrow("It is unknown");
    const run = machine.run();
    await preview(await methodsOf(run), args);
    expect(machine.messages.at(-1)).toContain("may take over an identity, created by an earlier run at");
    expect(run.clock.sleeps).toEqual([]);
  });

  it("says nothing of a record that was deleted since", async () => {
    const { args } = await records();
    const { id } = await reconcile.create(identity, machine.run().session, args);
    await machine.service.session.call("DeleteIdentity", { uid: id });
    machine.messages.splice(0);
    await preview(await methodsOf(machine.run()), args);
    expect(machine.messages).toEqual([]);
  });
});
