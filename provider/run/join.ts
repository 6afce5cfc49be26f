// One process of an operation that has several: it joins, shares reducers over their log, and leaves when it ends.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { type Engine, findLog, logPath, withPath } from "../log/place.ts";
import { isAlive } from "../log/process.ts";
import { type Line, type Log, openLog } from "../log/shared.ts";
import type { Operation } from "./operation.ts";

type Reduce = (event: never, member: string) => unknown;

const MEMBERS = "members";
/** The members that an event adds or removes. */
type Change = { join: string } | { leave: readonly string[] };

/** Joins the operation of this engine, until `close` or the end of this process. Begins it where no other process has. */
export const joinOperation = (engine: Engine): Operation => {
  const path = logPath(engine);
  return joinAt(findLog(engine.address) ?? path);
};

/** Joins it where another process has begun it. */
export const joinBegun = ({ address }: Engine): Operation | undefined => {
  const path = findLog(address);
  return path === undefined ? undefined : joinAt(path);
};

const joinAt = (path: string): Operation => {
  const member = `${process.pid}.${randomUUID()}`;
  const { log, members, reducers, early } = join(path, member);
  const isActive = (other: string): boolean => members.joined.has(other) && isAlive(pidOf(other));
  const close = (): void => {
    onExit.delete(close);
    try {
      const killed = [...members.joined].filter((other) => !isActive(other));
      const isLast = log.append(MEMBERS, { leave: [...killed, member] } satisfies Change);
      if (isLast) rmSync(path, { force: true });
    } catch {
      // The next operation removes it.
    }
    log.close();
  };
  onExit.add(close);
  process.removeListener("exit", closeAll).on("exit", closeAll);
  return {
    member,
    id: basename(path),
    share: (topic, reduce) => {
      reducers.set(topic, reduce as Reduce);
      for (const [, from, , event] of early.get(topic) ?? []) reduce(event as never, from);
      early.delete(topic);
      return { append: (event) => log.append(topic, event) as never, refresh: log.refresh };
    },
    isActive,
    close,
  };
};

const onExit = new Set<() => void>();
const closeAll = (): void => {
  for (const close of onExit) close();
};

const pidOf = (member: string): number => Number.parseInt(member, 10);

interface Joined {
  log: Log;
  members: Members;
  reducers: Map<string, Reduce>;
  /** lines of topics that this process does not share yet */
  early: Map<string, Line[]>;
}

const openAt = (path: string, member: string): Joined => {
  const members = membersOf();
  const reducers = new Map<string, Reduce>([[MEMBERS, members.reduce as Reduce]]);
  const early = new Map<string, Line[]>();
  const dispatch = (line: Line): unknown => {
    const [topic, from, , event] = line;
    const reduce = reducers.get(topic);
    if (reduce) return reduce(event as never, from);
    const lines = early.get(topic) ?? [];
    lines.push(line);
    early.set(topic, lines);
    return undefined;
  };
  try {
    return { log: openLog(path, member, dispatch), members, reducers, early };
  } catch (error) {
    throw withPath(path, error);
  }
};

const WAIT_MS = 1;

// The last process to leave removes the file. One that joins at that moment waits for it, and begins another file.
const join = (path: string, member: string): Joined => {
  for (;;) {
    const joined = openAt(path, member);
    const { log } = joined;
    const last = log.append(MEMBERS, { join: member } satisfies Change) as string | undefined;
    const isLeaving = () => last !== undefined && pidOf(last) !== process.pid && isAlive(pidOf(last));
    while (log.isInPlace() && isLeaving()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    if (log.isInPlace()) return joined;
    log.close();
  }
};

interface Members {
  joined: Set<string>;
  /** Of one that leaves: whether it was the last. Of one that joins: the process that left as the last before it, if any. */
  reduce(change: Change, member: string): boolean | string | undefined;
}

const membersOf = (): Members => {
  const joined = new Set<string>();
  let last: string | undefined;
  return {
    joined,
    reduce: (change, member) => {
      if ("join" in change) {
        const left = joined.size === 0 ? last : undefined;
        joined.add(change.join);
        return left;
      }
      for (const one of change.leave) joined.delete(one);
      last = member;
      return joined.size === 0;
    },
  };
};
