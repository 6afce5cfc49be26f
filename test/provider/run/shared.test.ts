// The journal of a stack whose run has several processes: they create at the same time, and to any other run they are one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { journalFile } from "../../../provider/log/entries.ts";
import type { Entry } from "../../../provider/log/entry.ts";
import { holderHere } from "../../../provider/log/holder.ts";
import type { Operation } from "../../../provider/log/operation.ts";
import { createJournal, type NewIntent } from "../../../provider/run/journal.ts";
import { manualClock } from "../../harness/clock.ts";
import { deadPid, ENGINE, useOperations } from "../../support/operations.ts";

const operations = useOperations();
const { closeAll } = operations;
let file: string;
let lock: string;
beforeEach(() => {
  file = `${operations.temporary}.jsonl`;
  lock = `${operations.temporary}.lock`;
});

type Process = ReturnType<typeof processOf>;
const processOf = (operation?: Operation) => {
  const clock = manualClock();
  const messages: string[] = [];
  const log = (text: string) => void messages.push(text);
  const own = { pathOf: () => file, clock, timeoutMs: 60_000, log, ...(operation && { operation }) };
  return { journal: createJournal(own), clock, messages, operation };
};
const joined = (): Process => processOf(operations.join());
const otherRun = (): Process => processOf();

const keyOf = (name: string): string => `organization/project/stack/Group::${name}`;
const ofGroup = { kind: "group", parent: "", given: [] };
const intentOf = (name: string, inputs = name): NewIntent => ({ key: keyOf(name), ...ofGroup, inputs });
const beginCreate = async ({ journal }: Process, ...parts: [name: string, inputs?: string]): Promise<Entry> => {
  const [entry] = (await journal.begin([intentOf(...parts)], async () => 1)) ?? [];
  return entry as Entry;
};
const uidOf = (digit: string): string => digit.repeat(40);

it("two processes create at the same time, and another run waits for both of them", async () => {
  const [one, two, other] = [joined(), joined(), otherRun()];
  const first = await beginCreate(one, "one");
  const second = await beginCreate(two, "two");
  for (const { clock, messages } of [one, two]) expect([clock.sleeps, messages]).toEqual([[], []]);
  const { sleep } = other.clock;
  other.clock.sleep = async (ms) => {
    await sleep(ms);
    if (other.clock.sleeps.length === 2) await one.journal.end([first]);
    if (other.clock.sleeps.length === 4) await two.journal.end([second]);
  };
  const third = await beginCreate(other, "three");
  expect(other.clock.sleeps).toHaveLength(4);
  expect(other.messages).toEqual([expect.stringContaining(`waiting for process ${process.pid} on `)]);
  await other.journal.end([third]);
  expect(existsSync(lock)).toBe(false);
});

it("two processes report what an earlier run left once, and nothing that the other has under way", async () => {
  const killed = otherRun();
  const left = await beginCreate(killed, "left");
  await killed.journal.end([left]);
  const [one, two] = [joined(), joined()];
  expect(await two.journal.isOfOther(uidOf("a"), keyOf("two"))).toBe(false);
  const entry = await beginCreate(one, "one");
  expect(await two.journal.takeUnreported(keyOf("two"))).toMatchObject([{ intent: left.intent }]);
  expect(await one.journal.takeUnreported(keyOf("one"))).toEqual([]);
  expect(await joined().journal.takeUnreported(keyOf("three"))).toEqual([]);
  await one.journal.end([entry]);
});

it("two processes take nothing under way for a create of an earlier run, and the next run does", async () => {
  const [one, two] = [joined(), joined()];
  const entry = await beginCreate(one, "one");
  expect(await two.journal.findUnsettled(keyOf("one"))).toEqual([]);
  expect(await two.journal.findUnsettled(keyOf("two"), () => true)).toEqual([]);
  await one.journal.end([entry]);
  // The stack had no journal, although one of them has written it.
  expect(await joined().journal.isNew(keyOf("two"))).toBe(true);
  expect(await otherRun().journal.isNew(keyOf("three"))).toBe(false);
  closeAll();
  expect(await joined().journal.findUnsettled(keyOf("one"))).toMatchObject([{ intent: entry.intent }]);
});

it("two processes count the pending creates of both, and know what the other has created", async () => {
  const [one, two] = [joined(), joined()];
  const second = await beginCreate(two, "two", "same");
  const first = await beginCreate(one, "one", "same");
  expect(await two.journal.countPendingAlike(second)).toBe(2);
  await one.journal.recordSuccess([{ entry: first, uid: uidOf("a") }], 1);
  expect(await two.journal.countPendingAlike(second)).toBe(1);
  expect(await two.journal.isOfOther(uidOf("a"), keyOf("two"))).toBe(true);
  expect(await one.journal.isOfOther(uidOf("a"), keyOf("one"))).toBe(false);
  await one.journal.end([first]);
  await two.journal.end([second]);
});

it("two processes lose no line: the second one does not compact what the first one writes to", async () => {
  const [one, two] = [joined(), joined()];
  const first = await beginCreate(one, "one");
  const failed = await beginCreate(one, "failed");
  await one.journal.recordFailure(failed);
  await one.journal.end([failed]);
  const { ino } = statSync(file);
  const second = await beginCreate(two, "two");
  expect(statSync(file).ino).toBe(ino);
  await two.journal.recordSuccess([{ entry: second, uid: uidOf("b") }], 1);
  await one.journal.recordSuccess([{ entry: first, uid: uidOf("a") }], 1);
  await two.journal.end([second]);
  await one.journal.end([first]);
  const [found] = await otherRun().journal.findUnsettled(keyOf("one"));
  expect(found?.uid).toBe(uidOf("a"));
  expect((await otherRun().journal.findUnsettled(keyOf("two")))[0]?.uid).toBe(uidOf("b"));
});

it("several processes at once of two runs, those of a run side by side, create their records one run after the other, without a lost or torn line", async () => {
  const [names, each] = [["a1", "a2", "b1", "b2"], 5];
  const script = fileURLToPath(new URL("../../support/journal-process.ts", import.meta.url));
  const trace = `${operations.temporary}.trace`;
  // The lock of a dead run blocks them at first.
  writeFileSync(lock, JSON.stringify({ ...holderHere("theirs"), pid: await deadPid() }));
  const codes = names.map(async (name) => {
    const args = [script, file, trace, name, String(each), `127.0.0.1:${name.charAt(0)}`];
    const [code] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit");
    return code as number;
  });
  expect(new Set(await Promise.all(codes))).toEqual(new Set([0]));
  const inside = new Set<string>();
  const steps = readFileSync(trace, "utf8").trim().split("\n");
  for (const step of steps) {
    const [verb, name = ""] = step.split(" ");
    if (verb === "enter") inside.add(name);
    else inside.delete(name);
    expect(new Set([...inside].map((one) => one.charAt(0))).size).toBeLessThan(2);
  }
  expect(steps).toHaveLength(2 * names.length * each);
  const { entries, invalid } = (await journalFile(file).read()) ?? {};
  const uids = names.flatMap((name) => Array.from({ length: each }, (_, i) => `${name}${i}`.padEnd(40, "0")));
  expect([...(entries?.values() ?? [])].map(({ uid }) => uid).sort()).toEqual(uids.sort());
  expect(invalid).toEqual([]);
  expect(existsSync(lock)).toBe(false);
});

const killInCreate = async (): Promise<number> => {
  const script = fileURLToPath(new URL("../../support/begun-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, file, ENGINE.address, String(ENGINE.pid), keyOf("killed")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const end = once(child, "exit");
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await end;
  return child.pid as number;
};

it("a process that is killed in a create leaves its lock to the other, and its create to the next run", async () => {
  const two = joined();
  await killInCreate();
  const entry = await beginCreate(two, "two");
  expect([two.clock.sleeps, two.messages]).toEqual([[], []]);
  const other = otherRun();
  const { sleep } = other.clock;
  other.clock.sleep = async (ms) => {
    await sleep(ms);
    if (other.clock.sleeps.length === 3) await two.journal.end([entry]);
  };
  expect(await other.journal.findUnsettled(keyOf("killed"))).toMatchObject([{ key: keyOf("killed") }]);
  expect(other.clock.sleeps).toHaveLength(3);
  expect(existsSync(lock)).toBe(false);
});

it("a process that is killed in a create blocks no run once no process of its own is left", async () => {
  await killInCreate();
  const other = otherRun();
  const [entry] = await other.journal.findUnsettled(keyOf("killed"));
  expect(entry?.uid).toBeUndefined();
  expect(other.clock.sleeps).toEqual([]);
});

it("a process that is killed in a create does not keep the other from taking the lock again", async () => {
  const two = joined();
  const pid = await killInCreate();
  rmSync(lock);
  const entry = await beginCreate(two, "two");
  expect(existsSync(lock)).toBe(true);
  await two.journal.end([entry]);
  expect(existsSync(lock)).toBe(false);
  // Nor where it died before the lock was open.
  writeFileSync(lock, JSON.stringify({ ...holderHere("theirs", two.operation?.id), pid }));
  const next = await beginCreate(two, "next");
  expect(two.clock.sleeps).toEqual([]);
  await two.journal.end([next]);
  expect(existsSync(lock)).toBe(false);
});
