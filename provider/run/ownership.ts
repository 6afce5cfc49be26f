// Which resource owns a record, in this run (`recordId` distinguishes records that share a uid). A record has one owner. A run never
// deletes a record that it has taken or keeps, and no resource takes a record that the run deletes. That holds across the processes of an
// operation.
import type { Clock } from "../../client/retry.ts";
import { getOrInsert } from "../../schema/index.ts";
import { type Operation, soleOperation } from "../log/operation.ts";

/** How a resource obtained its record in this run. */
export type Origin = "created" | "recovered" | "adopted";

export type Ownership = ReturnType<typeof createOwnership>;

/**
 * The acts of a run's resources on records, in one order. The event names are written to a file that processes of two versions may share.
 */
type Event = Act & {
  /** address of the service */
  at: string;
};

type Act =
  | { is: "inState"; uid: string; key?: string | undefined; declared?: true }
  | { is: "kept"; uid: string; adopted: boolean }
  | { is: "taken"; uid: string; key: string; origin: Origin }
  | { is: "planned"; uid: string; key: string }
  | { is: "released"; uid: string; own: boolean; key?: string | undefined }
  | { is: "named"; uid: string; key: string }
  | { is: "forgotten"; uid: string };

/**
 * The ownership of all records at one address of the service. `operation`: the processes that share it. Another address may be the same
 * service: neither deletes a record that the other takes or keeps.
 */
export const createOwnership = (operation: Operation = soleOperation, service = "") => {
  const leaving = new Set<string>();
  const records = recordsOf(leaving);
  const all = new Map([[service, records]]);
  const { append: share, refresh } = operation.share("ownership", ({ at, ...act }: Event) => {
    const recordsHere = getOrInsert(all, at, () => recordsOf(leaving));
    if (act.is !== "released") return recordsHere.reduce(act);
    const refusals = [...all.values()].map(({ deletionRefusal }) => deletionRefusal(act));
    return refusals.find((reason) => reason !== undefined) ?? recordsHere.reduce(act);
  });
  const append = (act: Act) => share({ ...act, at: service });
  // Each query includes the events of other processes so far.
  const current = () => {
    refresh?.();
    return records;
  };
  return {
    /**
     * The engine asked for this record, so its state has it. `key` is the resource there, which owns the record once the program has
     * declared it (`isDeclared`). Throws if another declared resource also owns it. A refresh comes before the program: its names may be
     * earlier ones, of an alias or of a resource whose record another one adopts.
     */
    inState: (uid: string, key?: string, isDeclared = false) => {
      const other = append({ is: "inState", uid, key, ...(isDeclared && { declared: true }) });
      if (other !== undefined)
        throw new Error(
          `${key}: ${uid} is already managed by ${other}; a record can be managed by only one resource, so adopt or import it in one of ` +
            "them; pulumi state delete removes the other from the state, and the record stays",
        );
    },
    /** The resource that owns this record keeps it in this run; `adopted`: the record existed before that resource. */
    keep: (uid: string, adopted: boolean): void => void append({ is: "kept", uid, adopted }),
    /** The resource that adopted this record is deleted, and the record is kept. */
    leave: (uid: string): void => void append({ is: "kept", uid, adopted: false }),
    /** A resource becomes the owner. Throws if another one owns the record, or this run deletes it. */
    take: (uid: string, key: string, origin: Origin) => {
      const reason = append({ is: "taken", uid, key, origin });
      if (reason) throw new Error(`${uid} ${reason}`);
    },
    /** A resource is going to adopt the record. Returns why it must not; undefined when it may. */
    plan: (uid: string, key: string) => append({ is: "planned", uid, key }),
    /** This resource owns the record: the engine's state has it, or the resource has taken it in this run. */
    isOwnedBy: (uid: string, key: string) => current().ownerOf(uid) === key,
    /** Key of the resource that owns this record; undefined if none does. */
    ownerOf: (uid: string) => current().ownerOf(uid),
    /** The program declares a resource that owns this record, or is going to adopt it. */
    isDeclared: (uid: string) => {
      const { ownerOf, planned } = current();
      return ownerOf(uid) !== undefined || planned.has(uid);
    },
    /** How this run took the record, if it has. A group that the run created holds only records that it creates there. */
    originOf: (uid: string): Origin | undefined => current().taken.get(uid)?.origin,
    /** This run took the record, keeps it, or leaves it in place. */
    isHeld: (uid: string): boolean => {
      const { taken, kept } = current();
      return taken.has(uid) || kept.has(uid);
    },
    /** Why a create of `key` cannot have produced the record; undefined when it can. */
    creationRefusal: (uid: string, key: string): string | undefined => {
      const { inState, taken, adoptionRefusal } = current();
      if (inState.has(uid) && !taken.has(uid)) return "is already managed by another resource of this stack";
      return adoptionRefusal(uid, key);
    },
    /** Why `key` must not adopt the record. Its presence in the state is not a reason: it may be there under the resource's old name. */
    adoptionRefusal: (uid: string, key: string): string | undefined => current().adoptionRefusal(uid, key),
    /**
     * This run is about to delete the record. Returns false when the run has taken it, is going to adopt it, keeps it as adopted, or keeps
     * it for another resource than `key`, which is deleted. `own`: the resource that adopted it is deleted itself.
     */
    release: (uid: string, key?: unknown, own = false): boolean =>
      append({ is: "released", uid, own, key: typeof key === "string" ? key : undefined }) === undefined,
    /** This run is deleting the record, or has deleted it. */
    isLeaving: (uid: string): boolean => current().leaving.has(uid),
    /**
     * A resource creates the record of this name, for a kind whose create changes an existing record. Returns the key of the first resource
     * that did, which may be another one.
     */
    claimName: (place: string, key: string): string => append({ is: "named", uid: place, key }) ?? key,
    /** The record is deleted. A new one may have the same uid: an account association has the uid of its group. */
    forget: (uid: string): void => void append({ is: "forgotten", uid }),
  };
};

/**
 * The state after the events so far. Processes that read the same events agree. `leaving`: the records that the run deletes, at any
 * address.
 */
const recordsOf = (leaving: Set<string>) => {
  const inState = new Set<string>();
  const owners = new Map<string, string>();
  const taken = new Map<string, { key: string; origin: Origin }>();
  const kept = new Set<string>();
  const adopted = new Set<string>();
  const planned = new Map<string, string>();
  const named = new Map<string, string>();

  const ownerOf = (uid: string) => taken.get(uid)?.key ?? owners.get(uid);

  const adoptionRefusal = (uid: string, key: string) => {
    if (leaving.has(uid)) return "is being deleted by this run";
    const owner = ownerOf(uid);
    return owner === undefined || owner === key ? undefined : `is already managed by ${owner}`;
  };

  const deletionRefusal = ({ uid, own, key }: Act & { is: "released" }) => {
    if (taken.has(uid) || ((planned.has(uid) || adopted.has(uid)) && !own))
      return "is taken, adopted or kept by this run";
    const owner = kept.has(uid) ? owners.get(uid) : undefined;
    return owner === undefined || key === undefined || owner === key ? undefined : `is kept by ${owner}`;
  };

  /** Applies an event. Returns why it has no effect, or which other resource was first. */
  const reduce = (event: Act): string | undefined => {
    const { uid } = event;
    switch (event.is) {
      case "inState": {
        const { key } = event;
        inState.add(uid);
        // A refresh finds records under names that the program may no longer declare.
        if (key === undefined || !event.declared) return undefined;
        const other = ownerOf(uid) ?? planned.get(uid);
        if (other !== undefined && other !== key) return other;
        owners.set(uid, key);
        return undefined;
      }
      case "kept":
        kept.add(uid);
        if (event.adopted) adopted.add(uid);
        return undefined;
      case "taken": {
        const { key, origin } = event;
        const reason = adoptionRefusal(uid, key);
        if (reason === undefined) taken.set(uid, { key, origin });
        return reason;
      }
      case "planned": {
        const other = planned.get(uid);
        if (other !== undefined && other !== event.key) return `is adopted by ${other} as well`;
        planned.set(uid, event.key);
        return adoptionRefusal(uid, event.key);
      }
      case "released":
        leaving.add(uid);
        return undefined;
      case "named":
        return getOrInsert(named, uid, () => event.key);
      case "forgotten":
        for (const uids of [inState, kept, adopted, leaving]) uids.delete(uid);
        owners.delete(uid);
        return undefined;
      default:
        // An act of a later version.
        return undefined;
    }
  };

  return { reduce, ownerOf, owners, adoptionRefusal, deletionRefusal, inState, taken, kept, leaving, planned };
};

// Equal records are created one after the other, across the processes of an operation. A search for one must not find the record that
// another create is producing.

const POLL_MS = 50;

export type Turns = ReturnType<typeof turnsOf>;

type TurnEvent = { is: "enters"; name: string } | { is: "leaves"; name: string; who: string };

/** `timeoutMs`: no process has its turn for longer. */
export const turnsOf = (operation: Operation, service: string, clock: Clock, timeoutMs: number) => {
  // By name: the processes that wait for their turn, and first the one that has it.
  const queues = new Map<string, string[]>();
  const { append, refresh } = operation.share(`turns ${service}`, (event: TurnEvent, member) => {
    const { is, name } = event;
    const queue = queues.get(name) ?? [];
    const next =
      is === "enters" ? [...queue, member] : is === "leaves" ? queue.filter((one) => one !== event.who) : queue;
    if (next.length > 0) queues.set(name, next);
    else queues.delete(name);
  });
  const leave = (name: string, who: string) => append({ is: "leaves", name, who });

  const inTurn = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    append({ is: "enters", name });
    try {
      await turnOf(name);
      return await work();
    } finally {
      try {
        leave(name, operation.member);
      } catch {
        // The result of the work is kept. The others wait until this process ends, or its turn times out.
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
    take: async <T>(name: string, work: () => Promise<T>) => {
      const turn = (lastTurns.get(name) ?? Promise.resolve()).then(() => (isAlone ? work() : inTurn(name, work)));
      lastTurns.set(
        name,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
};

/** State of one step, for as long as a run has its ownership: sessions that are derived from another one share both. */
export const perSession = <T>(create: () => T): ((session: { ownership: object }) => T) => {
  const states = new WeakMap<object, T>();
  return ({ ownership }) => getOrInsert(states, ownership, create);
};
