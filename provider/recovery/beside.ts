// Creates that are in flight at the same time: the engine runs several steps at once, and creates of one group go in one request where the
// API has one for that. The engine saves its state between two creates that it begins together, which takes longer the larger the stack
// is. It has checked both by then, so the first one waits for the second.
import { setTimeout as sleep } from "node:timers/promises";
import { BATCH_MAX } from "../../schema/index.ts";
import type { Desired } from "../record/desired.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { createAll, type Outcome } from "./create.ts";

/** How long a create waits for others of its group that nobody has announced. */
const GATHER_MS = 4;
/** How long it waits for one that the engine has checked. */
const CHECKED_MS = 250;
/** How many groups wait at once. The engine has few steps under way, and each that waits is one of them. */
const WAITING_MAX = 4;
/** After so many vain waits in a row the engine seems to begin one create at a time. */
const VAIN_MAX = 3;

interface Gathering {
  asked: Desired[];
  outcomes: Promise<Outcome[]>;
  /** It waits for what the engine has checked. */
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
}

/** Equal creates are in turn (provider/run/turns.ts), so all of a gathering differ. */
const creates = perSession((): Creates => ({ gatherings: new Map(), checked: new Map(), vainWaits: 0 }));

type Place = Pick<Desired, "kind" | "parent">;
type Placed = Place & Pick<Desired, "key">;

const placeKey = ({ kind, parent }: Place): string => [kind.type, parent].join(" ");

/** The engine has checked a new resource of a kind with `batchCreate`: its create follows. */
export const expectCreate = (ledger: Parameters<typeof creates>[0], expected: Placed): void => {
  const { checked, vainWaits } = creates(ledger);
  if (vainWaits >= VAIN_MAX) return;
  const place = placeKey(expected);
  checked.set(place, (checked.get(place) ?? new Set()).add(expected.key));
};

/** Of a kind with `batchCreate`. */
export const createBeside = async (session: Session, desired: Desired): Promise<Outcome> => {
  const { gatherings, checked } = creates(session);
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
  const own = creates(session);
  const ended = new AbortController();
  const isOver = (ms: number): Promise<boolean> => sleep(ms, true, { signal: ended.signal }).catch(() => false);
  const waitForOthers = async (): Promise<void> => {
    if (!(await isOver(GATHER_MS)) || !own.checked.has(place)) return;
    gathering.isExpecting = true;
    const isVain = await isOver(CHECKED_MS);
    own.vainWaits = isVain ? own.vainWaits + 1 : 0;
    if (isVain) own.checked.delete(place);
  };
  const send = async (): Promise<Outcome[]> => {
    await waitForOthers();
    gathering.go();
    return createAll(session, gathering.asked);
  };
  const go = (): void => {
    if (own.gatherings.get(place) === gathering) own.gatherings.delete(place);
    ended.abort();
  };
  const gathering: Gathering = { asked: [], outcomes: Promise.resolve([]), isExpecting: false, go };
  own.gatherings.set(place, gathering);
  gathering.outcomes = send();
  const [oldest] = own.gatherings.values();
  if (own.gatherings.size > WAITING_MAX) oldest?.go();
  return gathering;
};
