// Carries the writes of a change out on fresh twins, without a program, an engine and a stack. Only the writes of a file count here.
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
import { type Access, accessOfChange, type Sides, sidesOf } from "./sides.ts";
import { readTwin, recordsOf, startTwin, type Twin, type TwinLive } from "./twin.ts";

interface WriteOutcome {
  n: number;
  ok: boolean;
  /** of a failure: from the twin, or the reason against sending the write */
  message?: string;
}

export interface Replay extends Access {
  outcomes: WriteOutcome[];
  /** uids that the twin made, by the number of the write */
  uids: ReadonlyMap<number, string>;
  services: Sides[];
  /** a text, such as a uid, as the change has it */
  encodeText(text: string): Text;
}

/**
 * `copies` and `actors` are by address. An actor is the uid of the identity with the rights of an operator; null: it is not known. Closes all
 * twins at the end, also after an abort.
 */
export const replay = async (
  {
    change,
    copies,
    actors,
    options,
  }: {
    change: Pick<ChangeContent, "services" | "writes">;
    copies: ReadonlyMap<string, Copy>;
    actors: ReadonlyMap<string, string | null>;
    options?: ServerOptions;
  },
  signal?: AbortSignal,
): Promise<Replay> => {
  const [first] = change.services;
  const calls: Call[] = [];
  const twins = new Map<string, Twin>();
  try {
    for (const [address, copy] of copies) {
      signal?.throwIfAborted();
      const service = address === first ? {} : { service: address };
      const onWrite = (call: Call) => void calls.push({ ...call, ...service });
      twins.set(address, await startTwin(copy, address, { ...options, onWrite }));
    }
    const all = [...twins.values()];
    const before = await Promise.all(all.map(readTwin));
    const hidden = `hidden-${randomUUID()}`;
    const clients = new Map<string, Client>();
    for (const [address, twin] of twins) clients.set(address, await twin.operatorOf(actors.get(address) ?? undefined));
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

/** The access in the file of a change. */
export const accessIn = ({ rows, between, before, after }: Replay): Access => ({ rows, between, before, after });

/**
 * Sends the writes one after the other. Writes that do not need a refused one go on. `first`: address of the writes without a service.
 * `hidden` replaces secrets.
 */
export const carryOut = async (
  writes: readonly Write[],
  { first, clients, hidden }: { first: string; clients: ReadonlyMap<string, Client>; hidden: string },
  signal?: AbortSignal,
): Promise<Pick<Replay, "outcomes" | "uids">> => {
  const uids = new Map<number, string>();
  const outcomes: WriteOutcome[] = [];
  for (const write of writes) {
    signal?.throwIfAborted();
    const { n, service = first } = write;
    const reasons = unknownIn(write);
    const unknown = reasons.length === 0 ? undefined : `what it gives is not known: ${reasons.join("; ")}`;
    const problem = waitsFor(write, uids) ?? unknown;
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

/** Marks a write that the twin read as another one, such as one that a hand has added to the file. */
const withOthers = (outcomes: WriteOutcome[], writes: readonly Write[], normal: readonly Write[]): WriteOutcome[] => {
  if (outcomes.some(({ ok }) => !ok)) return outcomes;
  const at = writes.findIndex((write, i) => canonical(write) !== canonical(normal[i]));
  if (at < 0) return outcomes;
  const message = "on this copy it is another write than the file says";
  return outcomes.map((one) => (one.n === at + 1 ? { ...one, ok: false, message } : one));
};
