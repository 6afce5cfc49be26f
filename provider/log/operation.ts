// State that the processes of one engine operation share. With dynamic resources one process serves all of them; a plugin runs one process
// for each explicit provider. Shared state is a reducer over one log of events, and the order of the log decides which process was first.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { isAlive } from "../../pulumi/process.ts";
import { getOrInsert } from "../../schema/index.ts";
import { openLog } from "./log.ts";
import { type Engine, logPath, withPath } from "./place.ts";

/** State that a reducer derives from the events of all processes. */
interface Shared<E, R> {
  /** Adds an event to the log. Returns the reducer's verdict on it, after all events before it. */
  append(event: E): R;
  /** Applies the events that other processes have added; absent if there are none. */
  refresh?: () => void;
}

export interface Operation {
  /** this process in it */
  readonly member: string;
  /** Id that all of its processes share; undefined if there is only this one. */
  readonly id: string | undefined;
  /** Each topic has one reducer. It must depend on nothing but the events, and ignore those of a later version. */
  share<E, R>(topic: string, reduce: (event: E, member: string) => R): Shared<E, R>;
  /** Whether that process is still part of it. */
  isActive(member: string): boolean;
  /** This process leaves it. */
  close(): void;
}

/** An operation of only this process. Its log needs no memory: each event is applied at once. */
export const soleOperation: Operation = {
  member: "",
  id: undefined,
  // The member matters only if several processes take turns.
  share: (_topic, reduce) => ({ append: reduce as unknown as (event: unknown) => never }),
  isActive: () => true,
  close: () => undefined,
};

// One process of an operation that has several: it joins, shares reducers over their log, and leaves when it ends. The log need not survive
// the machine, so nothing waits for the disk; it holds uids and keys of the journal, and no secrets.

/** The event that `member` added as its number `count`. */
type Line = [topic: string, member: string, count: number, event: unknown];

type Reduce = (event: never, member: string) => unknown;

const MEMBERS = "members";
/** The members that an event adds or removes. */
type Change = { join: string } | { leave: readonly string[] };

/** Joins the operation of this engine, until `close` or the end of this process. Begins it if no other process has. */
export const joinOperation = (engine: Engine): Operation => {
  const path = logPath(engine);
  const member = `${process.pid}.${randomUUID()}`;
  const { log, members, reducers, early } = join(path, member);
  const isActive = (other: string) => members.joined.has(other) && isAlive(pidOf(other));
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
const closeAll = () => {
  for (const close of onExit) close();
};

const pidOf = (member: string) => Number.parseInt(member, 10);

const openAt = (path: string, member: string) => {
  const members = membersOf();
  const reducers = new Map<string, Reduce>([[MEMBERS, members.reduce as Reduce]]);
  /** lines of topics that this process does not share yet */
  const early = new Map<string, Line[]>();
  const dispatch = (line: Line) => {
    const [topic, from, , event] = line;
    const reduce = reducers.get(topic);
    if (reduce) return reduce(event as never, from);
    getOrInsert(early, topic, () => []).push(line);
    return undefined;
  };
  const file = openLog<Line>(path, { staysOpen: true, explain: withPath });
  let count = 0;
  /** Every line once, in the order of the file. Returns the verdict on the last event of this process, if it is among them. */
  const read = () => {
    let own: { verdict: unknown } | undefined;
    for (const line of file.readOn()?.lines.flatMap(parseLines) ?? []) {
      const verdict = dispatch(line);
      if (line[1] === member && line[2] === count) own = { verdict };
    }
    return own;
  };
  /** Adds an event of this process, and reads up to it. Returns the result of its reducer. */
  const append = (topic: string, event: unknown) => {
    count += 1;
    const line: Line = [topic, member, count, event];
    if (file.add(line)) return dispatch(line);
    const own = read();
    if (!own) throw withPath(path, new Error("what was written is not in it"));
    return own.verdict;
  };
  const { isInPlace, close } = file;
  return { log: { append, refresh: () => void read(), isInPlace, close }, members, reducers, early };
};

const parseLines = (text: string): Line[] => {
  if (text === "") return [];
  try {
    const line: unknown = JSON.parse(text);
    return Array.isArray(line) && line.length === 4 ? [line as Line] : [];
  } catch {
    return [];
  }
};

const WAIT_MS = 1;

// The last process to leave removes the file. One that joins at that moment waits for it, and begins another file.
const join = (path: string, member: string): ReturnType<typeof openAt> => {
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

const membersOf = () => {
  const joined = new Set<string>();
  let last: string | undefined;
  return {
    joined,
    /** For a process that leaves: whether it was the last. For one that joins: the last process to leave before it, if any. */
    reduce: (change: Change, member: string): boolean | string | undefined => {
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
