// One after the other, across the processes of an operation: equal records are created in turn, since a search for one must not find what
// another create is producing.
import type { Clock } from "../../client/clock.ts";
import type { Operation } from "../log/operation.ts";

const POLL_MS = 50;

export type Turns = ReturnType<typeof turnsOf>;

type Event = { is: "enters"; name: string } | { is: "leaves"; name: string; who: string };

/** `timeoutMs`: no process has its turn for longer. */
export const turnsOf = (operation: Operation, service: string, clock: Clock, timeoutMs: number) => {
  // By name: the processes that wait for their turn, and first the one that has it.
  const queues = new Map<string, string[]>();
  const reduce = (event: Event, member: string): void => {
    const { is, name } = event;
    const queue = queues.get(name) ?? [];
    const next =
      is === "enters" ? [...queue, member] : is === "leaves" ? queue.filter((one) => one !== event.who) : queue;
    if (next.length > 0) queues.set(name, next);
    else queues.delete(name);
  };
  const { append, refresh } = operation.share(`turns ${service}`, reduce);
  const leave = (name: string, who: string): void => append({ is: "leaves", name, who });

  const inTurn = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    append({ is: "enters", name });
    try {
      await turnOf(name);
      return await work();
    } finally {
      try {
        leave(name, operation.member);
      } catch {
        // What the work has done stands. The others wait until this process ends, or has had its time.
      }
    }
  };
  const turnOf = async (name: string): Promise<void> => {
    let last: string | undefined;
    let since = clock.now();
    for (;;) {
      refresh?.();
      const [first = operation.member] = queues.get(name) ?? [];
      if (first === operation.member) return;
      if (first !== last) since = clock.now();
      last = first;
      if (operation.isActive(first) && clock.now() - since <= timeoutMs) await clock.sleep(POLL_MS);
      else leave(name, first);
    }
  };

  const isAlone = operation.id === undefined;
  // Within this process: each process is in a queue once.
  const lastTurns = new Map<string, Promise<unknown>>();
  return {
    /** Runs `work` when all work of this name that began before has ended. */
    take: async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const turn = (lastTurns.get(name) ?? Promise.resolve()).then(() => (isAlone ? work() : inTurn(name, work)));
      lastTurns.set(
        name,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
};
