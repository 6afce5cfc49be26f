// Carries the writes of a change out on fresh twins: no program, no engine, no stack. What a file says beside its writes counts for nothing.
import { randomUUID } from "node:crypto";
import { canonical } from "../../access/canonical.ts";
import type { ChangeContent } from "../../access/change/change.ts";
import { type Call, makesUid, methodOf } from "../../access/change/methods.ts";
import { requestOf } from "../../access/change/request.ts";
import { madeUids, secretIn, type Text } from "../../access/change/text.ts";
import { unknownIn } from "../../access/change/unknown.ts";
import { referencesIn } from "../../access/change/value.ts";
import { type Write, writesFrom } from "../../access/change/write.ts";
import type { Copy } from "../../access/copy/copy.ts";
import type { Client } from "../../client/client.ts";
import { isApiError, isUidp, type Json } from "../../schema/index.ts";
import type { ServerOptions } from "../../server/index.ts";
import { accessOfChange, type Sides, sidesOf } from "./sides.ts";
import { readTwin, recordsOf, startTwin, type Twin, type TwinLive } from "./twin.ts";

interface WriteOutcome {
  n: number;
  ok: boolean;
  /** why not: what the twin says, or why the write is not known and was not sent */
  message?: string;
}

type Access = Pick<ChangeContent, "rows" | "between" | "before" | "after">;

export interface Replay extends Access {
  outcomes: WriteOutcome[];
  /** uids that the twin made, by the number of the write */
  uids: ReadonlyMap<number, string>;
  services: Sides[];
  /** a text, such as a uid, as the change has it */
  encodeText(text: string): Text;
}

interface ReplayInput {
  change: Pick<ChangeContent, "services" | "writes">;
  /** by address */
  copies: ReadonlyMap<string, Copy>;
  /** uid of the identity that acts with the rights of an operator, by address; null: it is not known */
  actors: ReadonlyMap<string, string | null>;
  options?: ServerOptions;
}

/** Ends with no twin left, also when `signal` aborts. */
export const replay = async (
  { change, copies, actors, options }: ReplayInput,
  signal?: AbortSignal,
): Promise<Replay> => {
  const [first] = change.services;
  const calls: Call[] = [];
  const twins = new Map<string, Twin>();
  try {
    for (const [address, copy] of copies) {
      signal?.throwIfAborted();
      const service = address === first ? {} : { service: address };
      const onWrite = (call: Call): void => void calls.push({ ...call, ...service });
      twins.set(address, await startTwin(copy, address, { ...options, onWrite }));
    }
    const all = [...twins.values()];
    const before = await Promise.all(all.map(readTwin));
    const hidden = `hidden-${randomUUID()}`;
    const operators = await Promise.all(
      [...twins].map(
        async ([address, twin]): Promise<[string, Client]> => [
          address,
          await twin.operatorOf(actors.get(address) ?? undefined),
        ],
      ),
    );
    const clients = new Map(operators);
    const { outcomes, uids } = await carryOut(change.writes, { first: first as string, clients, hidden }, signal);
    const services = await Promise.all(all.map((twin, i) => sidesOf(twin, before[i] as TwinLive)));
    const normal = writesFrom(calls, { secrets: [hidden], recordOf: recordsOf(twins, first as string) });
    const { add, encodeText } = madeUids(secretIn([hidden]));
    for (const [n, uid] of uids) add(uid, n);
    return {
      outcomes: withOthers(outcomes, change.writes, normal.writes),
      uids,
      services,
      ...accessOfChange(services, { writes: change.writes, uids, encodeText }),
      encodeText,
    };
  } finally {
    await Promise.all([...twins.values()].map((twin) => twin.close()));
  }
};

/** What the file of a change has beside its writes. */
export const accessIn = ({ rows, between, before, after }: Replay): Access => ({ rows, between, before, after });

interface Places {
  /** address of the writes that name no service */
  first: string;
  clients: ReadonlyMap<string, Client>;
  /** stands for a secret */
  hidden: string;
}

/** One after the other. A refused one does not keep back those that need nothing of it. */
export const carryOut = async (
  writes: readonly Write[],
  { first, clients, hidden }: Places,
  signal?: AbortSignal,
): Promise<Pick<Replay, "outcomes" | "uids">> => {
  const uids = new Map<number, string>();
  const outcomes: WriteOutcome[] = [];
  for (const write of writes) {
    signal?.throwIfAborted();
    const { n, service = first } = write;
    const problem = waitsFor(write, uids) ?? unknownText(write);
    if (problem !== undefined) {
      outcomes.push({ n, ok: false, message: problem });
      continue;
    }
    const { method, request } = requestOf(write, { uidOf: (made) => uids.get(made) as string, hidden });
    try {
      const { uid } = (await (clients.get(service) as Client).call(method, request as never)) as Json;
      if (makesUid(methodOf(method)) && isUidp(uid)) uids.set(n, uid);
      outcomes.push({ n, ok: true });
    } catch (error) {
      if (!isApiError(error)) throw error;
      outcomes.push({ n, ok: false, message: error.message });
    }
  }
  return { outcomes, uids };
};

const waitsFor = ({ parent, uid, fields }: Write, uids: ReadonlyMap<number, string>): string | undefined => {
  const missing = referencesIn([parent, uid, fields]).filter((n) => !uids.has(n));
  return missing.length === 0 ? undefined : `it needs what write ${Math.min(...missing)} makes`;
};

const unknownText = (write: Write): string | undefined => {
  const reasons = unknownIn(write);
  return reasons.length === 0 ? undefined : `what it gives is not known: ${reasons.join("; ")}`;
};

/** A write that the twin took for another one than it says, such as one that a hand has added to the file. */
const withOthers = (outcomes: WriteOutcome[], writes: readonly Write[], normal: readonly Write[]): WriteOutcome[] => {
  if (outcomes.some(({ ok }) => !ok)) return outcomes;
  const at = writes.findIndex((write, i) => canonical(write) !== canonical(normal[i]));
  if (at < 0) return outcomes;
  const message = "on this copy it is another write than the file says";
  return outcomes.map((one) => (one.n === at + 1 ? { ...one, ok: false, message } : one));
};
