// The log that the processes of one operation share: its order decides, whatever ends a process.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { joinOperation, type Operation } from "../../../provider/log/operation.ts";
import { OperationError } from "../../../provider/log/place.ts";
import { createOwnership, type Ownership, turnsOf } from "../../../provider/run/ownership.ts";
import { isAlive } from "../../../pulumi/process.ts";
import { manualClock } from "../../harness/clock.ts";
import { deadPid, ENGINE, useOperations } from "../../support/operations.ts";

const operations = useOperations();
const { join: joined, open, closeAll } = operations;
let temporary: string;
let shared: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  ({ temporary } = operations);
  shared = join(temporary, `pulumi-irm-${process.getuid?.()}`);
});
afterEach(async () => {
  closeAll();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const end = once(child, "exit");
    child.kill("SIGKILL");
    await end;
  }
});

const SERVICE = "https://service.example.com";
const ownershipOf = (operation = joined(), service = SERVICE): Ownership => createOwnership(operation, service);
const logs = () => readdirSync(shared);
const log = () => join(shared, logs()[0] as string);

describe("the processes of an operation", () => {
  it("still know what a killed one did, and the last one removes the file", async () => {
    const own = ownershipOf();
    const member = `${await deadPid()}.killed`;
    const taken = { is: "taken", uid: "uid", key: "one", origin: "created", at: SERVICE };
    for (const line of [
      ["members", member, 1, { join: member }],
      ["ownership", member, 2, taken],
    ])
      appendFileSync(log(), `${JSON.stringify(line)}\n`);
    for (const one of [own, ownershipOf()]) {
      expect(() => one.take("uid", "two", "adopted")).toThrow("uid is already managed by one");
      expect(one.originOf("uid")).toBe("created");
      expect(one.release("uid")).toBe(false);
    }
    open.shift()?.close();
    expect(logs()).toHaveLength(1);
    closeAll();
    expect(logs()).toEqual([]);
  });

  it("are not disturbed by a line that a killed one did not finish, nor by the events of a later version", () => {
    const [first, second] = [ownershipOf(), ownershipOf()];
    first.take("uid", "one", "created");
    appendFileSync(log(), `\n["ownership","1.x",1,{"is":"forg`);
    expect(() => second.take("uid", "two", "adopted")).toThrow("uid is already managed by one");
    second.take("other", "two", "adopted");
    expect(() => first.take("other", "one", "created")).toThrow("other is already managed by two");
    appendFileSync(
      log(),
      `["ownership","1.x",1,{"at":"${SERVICE}","is":"lent","uid":"uid"}]\n["later","1.x",2,{}]\n[1]\n`,
    );
    first.take("third", "one", "created");
    expect(second.isOwnedBy("third", "one")).toBe(true);
  });

  it("know what happened before they joined, in the operation of their engine alone", () => {
    const one = ownershipOf();
    one.take("uid", "one", "recovered");
    one.plan("planned", "one");
    const two = ownershipOf();
    expect([two.originOf("uid"), two.isHeld("uid"), two.isHeld("planned")]).toEqual(["recovered", true, false]);
    expect(two.adoptionRefusal("uid", "two")).toBe("is already managed by one");
    expect(two.plan("planned", "two")).toBe("is adopted by one as well");
    expect(two.release("planned")).toBe(false);
    expect(ownershipOf(joined({ ...ENGINE, address: "127.0.0.1:40124" })).release("uid")).toBe(true);
  });

  it("know records by their address, but delete nothing that is taken or kept at another one, which may be the same service", () => {
    const [own, elsewhere] = [ownershipOf(), ownershipOf(joined(), "https://elsewhere.example.com")];
    own.take("taken", "one", "created");
    own.inState("kept", "one", true);
    own.keep("kept", false);
    expect(elsewhere.originOf("taken")).toBeUndefined();
    expect(elsewhere.adoptionRefusal("kept", "two")).toBeUndefined();
    expect(["taken", "kept", "other"].map((uid) => elsewhere.release(uid, "two"))).toEqual([false, false, true]);
    expect(own.adoptionRefusal("other", "one")).toBe("is being deleted by this run");
  });
});

const turnsIn = (operation: Operation, timeoutMs = Infinity) => {
  const clock = manualClock();
  const { sleep } = clock;
  clock.sleep = async (ms) => {
    await sleep(ms);
    await setImmediate();
  };
  return { clock, ...turnsOf(operation, SERVICE, clock, timeoutMs) };
};

it("work of one name is done in turn, and that of another name at once", async () => {
  const [one, two] = [turnsIn(joined()), turnsIn(joined())];
  const order: string[] = [];
  const end = Promise.withResolvers<void>();
  const first = one.take("name", () => end.promise.then(() => order.push("first")));
  const second = two.take("name", async () => order.push("second"));
  await two.take("another", async () => order.push("another"));
  await expect.poll(() => two.clock.sleeps.length).toBeGreaterThan(2);
  end.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(["another", "first", "second"]);
  expect(one.clock.sleeps).toEqual([]);
});

it("work of one name goes on after a failure, and after the end of the process that has its turn", async () => {
  const [operation, left] = [joined(), joined()];
  const [one, two] = [turnsIn(operation), turnsIn(left)];
  await expect(one.take("name", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await two.take("name", async () => "done")).toBe("done");
  void two.take("name", () => new Promise(() => undefined));
  await setImmediate();
  const third = one.take("name", async () => "third");
  await expect.poll(() => one.clock.sleeps.length).toBeGreaterThan(0);
  open.splice(open.indexOf(left), 1);
  left.close();
  expect(await third).toBe("third");
});

it("work of one name goes on after one that does not end in its time", async () => {
  const [one, two] = [turnsIn(joined()), turnsIn(joined(), 60_000)];
  void one.take("name", () => new Promise(() => undefined));
  await setImmediate();
  expect(await two.take("name", async () => "done")).toBe("done");
  expect(two.clock.now()).toBeGreaterThan(60_000);
});

it("the folder of the logs is of the user alone, and so are its files", () => {
  ownershipOf();
  expect(statSync(shared).mode & 0o777).toBe(0o700);
  expect(statSync(log()).mode & 0o777).toBe(0o600);
});

it("the folder of the logs loses the files of engines that have ended, and no others", async () => {
  const child = spawn("sleep", ["60"]);
  children.push(child);
  joined({ address: "127.0.0.1:40124", pid: child.pid as number });
  const [theirs] = logs() as [string];
  const elsewhere = theirs.replace(/^\w+/, "another-machine");
  const reused = theirs.replace(/\.(\d+)\.(\d+)\./, ".$1.1.");
  for (const name of [elsewhere, reused]) writeFileSync(join(shared, name), "");
  joined();
  expect(logs()).toHaveLength(3);
  expect(logs()).not.toContain(reused);
  const end = once(child, "exit");
  child.kill("SIGKILL");
  await end;
  joined();
  expect(logs()).toHaveLength(2);
  expect(logs()).not.toContain(theirs);
  expect(logs()).toContain(elsewhere);
});

it.each<[string, () => void, string]>([
  ["that is a link", () => symlinkSync(temporary, shared), "must be a folder of this user alone, and is none"],
  ["that is a file", () => writeFileSync(shared, ""), "cannot be used (EEXIST)"],
  [
    "open to others",
    () => mkdirSync(shared, { mode: 0o755 }),
    "must be a folder of this user alone, and others have access to it",
  ],
])("the folder of the logs %s is one error with the advice", (_, prepare, problem) => {
  prepare();
  expect(() => joinOperation(ENGINE)).toThrow(OperationError);
  expect(() => joinOperation(ENGINE)).toThrow(problem);
  expect(() => joinOperation(ENGINE)).toThrow("; remove it, or set TMPDIR to a folder of your own");
});

it("the folder of the logs has no file that is a link", () => {
  joined();
  const path = log();
  closeAll();
  const target = join(temporary, "target");
  writeFileSync(target, "");
  symlinkSync(target, path);
  expect(() => joinOperation(ENGINE)).toThrow(`${path}, which the providers of one operation share, cannot be used`);
  expect(readFileSync(target, "utf8")).toBe("");
  rmSync(path);
});

it.runIf(process.platform === "linux")("a process that was killed and not reaped is not alive", async () => {
  const child = spawn("sh", ["-c", 'sleep 60 & exec sh -c "echo $!; exec sleep 60"'], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  // A shell would reap it; what it becomes does not.
  await expect.poll(() => readFileSync(`/proc/${child.pid}/comm`, "utf8")).toBe("sleep\n");
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
});
