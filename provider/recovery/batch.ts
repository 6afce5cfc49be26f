// Creates that are in flight at the same time. The engine runs several steps at once, and creates of one group share one request if the API
// offers one. The engine saves its state between two creates that it begins together, which takes longer the larger the stack is. It has
// checked both by then, so the first one waits for the second.
import { setTimeout as sleep } from "node:timers/promises";
import { BATCH_MAX, getOrInsert } from "../../schema/index.ts";
import type { Desired } from "../record/desired.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { createAll, type Outcome } from "./create.ts";

/** How long a create waits for others of its group that the engine has not announced. */
const GATHER_MS = 4;
/** How long it waits for one that the engine has checked: for the creates that the engine begins in between, within these bounds. */
const CHECKED_MS = { creates: 8, least: 250, most: 1_000 };
/** How many groups wait at once. The engine runs few steps at once, and each waiting create is one of them. */
const WAITING_MAX = 4;
/** After this many vain waits in a row, the engine seems to begin one create at a time, or in another order. */
const VAIN_MAX = 3;
/** How many creates are then not waited for. Each further vain wait doubles it. */
const PAUSE = 16;

interface Gathering {
  asked: Desired[];
  outcomes: Promise<Outcome[]>;
  /** It waits for creates that the engine has checked. */
  isExpecting: boolean;
  /** ends the wait */
  go(): void;
}

interface Creates {
  /** by place */
  gatherings: Map<string, Gathering>;
  /** keys that the engine has checked and not created yet, by place */
  checked: Map<string, Set<string>>;
  vainWaits: number;
  /** how many of the next creates are not waited for */
  pause: number;
  /** when the newest create began, and how long after the one before it: a large stack takes the engine longer */
  begunAt: number;
  gapMs: number;
}

/** Equal creates take turns (provider/run/ownership.ts), so all creates of a gathering differ. */
const creates = perSession(
  (): Creates => ({
    gatherings: new Map(),
    checked: new Map(),
    vainWaits: 0,
    pause: 0,
    begunAt: performance.now(),
    gapMs: 0,
  }),
);

type Place = Pick<Desired, "kind" | "parent">;
type Placed = Place & Pick<Desired, "key">;

const placeKey = ({ kind, parent }: Place) => [kind.type, parent].join(" ");

/** The engine has checked a new resource of a kind with `batchCreate`: its create follows. */
export const expectCreate = (ledger: Parameters<typeof creates>[0], expected: Placed): void => {
  const pending = creates(ledger);
  const { checked } = pending;
  pending.pause -= 1;
  if (pending.pause >= 0) return;
  getOrInsert(checked, placeKey(expected), () => new Set()).add(expected.key);
};

/** Creates a record of a kind with `batchCreate`, together with others of its group. */
export const createInBatch = async (session: Session, desired: Desired): Promise<Outcome> => {
  const pending = creates(session);
  const { gatherings, checked } = pending;
  const now = performance.now();
  pending.gapMs = now - pending.begunAt;
  pending.begunAt = now;
  const place = placeKey(desired);
  const gathering = gatherings.get(place) ?? gather(session, place);
  const at = gathering.asked.push(desired) - 1;
  const expected = checked.get(place);
  expected?.delete(desired.key);
  if (expected?.size === 0) checked.delete(place);
  const isComplete = gathering.isExpecting && !checked.has(place);
  if (isComplete || gathering.asked.length === BATCH_MAX) gathering.go();
  return (await gathering.outcomes)[at];
};

const gather = (session: Session, place: string): Gathering => {
  const pending = creates(session);
  const ended = new AbortController();
  const isOver = (ms: number) => sleep(ms, true, { signal: ended.signal }).catch(() => false);
  const waitForOthers = async (): Promise<void> => {
    if (!(await isOver(GATHER_MS)) || !pending.checked.has(place)) return;
    gathering.isExpecting = true;
    const { creates, least, most } = CHECKED_MS;
    const isVain = await isOver(Math.min(most, Math.max(least, creates * pending.gapMs)));
    pending.vainWaits = isVain ? pending.vainWaits + 1 : 0;
    if (!isVain) return;
    pending.checked.delete(place);
    if (pending.vainWaits >= VAIN_MAX) pending.pause = PAUSE * 2 ** (pending.vainWaits - VAIN_MAX);
  };
  const send = async () => {
    await waitForOthers();
    gathering.go();
    return createAll(session, gathering.asked);
  };
  const go = () => {
    if (pending.gatherings.get(place) === gathering) pending.gatherings.delete(place);
    ended.abort();
  };
  const gathering: Gathering = { asked: [], outcomes: Promise.resolve([]), isExpecting: false, go };
  pending.gatherings.set(place, gathering);
  gathering.outcomes = send();
  const [oldest] = pending.gatherings.values();
  if (pending.gatherings.size > WAITING_MAX) oldest?.go();
  return gathering;
};
