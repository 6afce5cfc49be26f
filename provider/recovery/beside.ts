// Creates that are in flight at the same time: the engine runs several steps at once, and creates of one group go in one request where the
// API has one for that.
import { setTimeout as sleep } from "node:timers/promises";
import { BATCH_MAX } from "../../schema/index.ts";
import type { Desired } from "../record/desired.ts";
import { perSession, type Session } from "../run/session.ts";
import { createAll, type Outcome } from "./create.ts";

/** How long the first one waits for others. The engine begins its steps within a millisecond or two. */
const GATHER_MS = 4;

interface Gathering {
  asked: Desired[];
  outcomes: Promise<Outcome[]>;
}

/** By parent. Equal creates are in turn (provider/run/turns.ts), so all of these differ. */
const gatherings = perSession(() => new Map<string, Gathering>());

/** Of a kind with `batchCreate`. */
export const createBeside = async (session: Session, desired: Desired): Promise<Outcome> => {
  const { kind, parent } = desired;
  const open = gatherings(session);
  const place = [kind.type, parent].join(" ");
  const gathering = open.get(place) ?? gather(session, open, place);
  const at = gathering.asked.push(desired) - 1;
  if (gathering.asked.length === BATCH_MAX) open.delete(place);
  return (await gathering.outcomes)[at];
};

const gather = (session: Session, open: Map<string, Gathering>, place: string): Gathering => {
  const asked: Desired[] = [];
  const send = async (): Promise<Outcome[]> => {
    await sleep(GATHER_MS);
    if (open.get(place)?.asked === asked) open.delete(place);
    return createAll(session, asked);
  };
  const gathering = { asked, outcomes: send() };
  open.set(place, gathering);
  return gathering;
};
