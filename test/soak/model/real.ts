// The other side of the model-based test: a reference server in this process with two callers, the owner and a reader who is
// granted what the commands bind to it, and the oracle as it is before the first command.
import { queryText, shuffledIds, startServer } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";
import type { Answer } from "../../support/http.ts";
import { type Json, KINDS, type Oracle, parentOf, type Row } from "./oracle.ts";

export interface Request {
  method: string;
  target: string;
  query?: Json;
  body?: Json;
}

export type Real = Awaited<ReturnType<typeof createReal>>["real"];

const TOKEN_MS = 50 * 60 * 1000;
const OUTPUT = "uid createTime updateTime lastSeenTime resourceLimits verified identity group role".split(" ");

export const createReal = async (seed: number) => {
  const clock = manualClock();
  const api = await startServer({ clock, ids: shuffledIds(seed) });
  const reader = await api.actor("reader");
  const callers = [api.owner, reader];
  /** commands that were carried out, and the requests of them */
  const counts = { commands: 0, requests: 0 };

  /** `caller` is an index. */
  const send = (caller: number, { method, target, query = {}, body }: Request): Promise<Answer> => {
    counts.requests += 1;
    const token = callers[caller]?.token as string;
    return api.call(method, target + queryText(query as Parameters<typeof queryText>[0]), { token, body });
  };

  /** Moves the clock; new tokens where the old ones are about to expire. */
  const advance = async (oracle: Oracle, ms: number): Promise<void> => {
    clock.advance(ms);
    oracle.nowMs = clock();
    if (oracle.nowMs - oracle.tokensMs < TOKEN_MS) return;
    api.owner.token = await api.token(api.owner.uid, { subject: "owner" });
    reader.token = await api.token(reader.uid, { subject: "reader" });
    oracle.tokensMs = oracle.nowMs;
    // An exchange moves lastSeenTime and nothing else (docs/internals/contract.md#d34).
    for (const caller of callers) (oracle.rows.get(caller.uid) as Row).seenMs = oracle.nowMs;
  };

  const oracle: Oracle = {
    nowMs: clock(),
    rows: new Map(),
    gone: [],
    walks: [],
    callers: callers.map(({ uid }) => uid),
    organization: api.organization,
    tokensMs: clock(),
  };
  for (const kind of KINDS) {
    const { [kind]: messages } = await api.ok("GET", `/iam/v2beta1/${kind}`, { query: { pageSize: 200 } });
    for (const message of messages as Json[]) {
      const row = rowFrom(kind, message);
      oracle.rows.set(row.uid, row);
    }
  }
  return { oracle, real: { send, advance, counts, close: api.close } };
};

const rowFrom = (kind: Row["kind"], message: Json): Row => {
  const uid = message.uid as string;
  const fields = Object.fromEntries(Object.entries(message).filter(([name]) => !OUTPUT.includes(name)));
  const ms = (name: string) => Date.parse((message[name] ?? message.createTime) as string);
  const row: Row = { kind, uid, parent: parentOf(uid), createMs: ms("createTime"), updateMs: ms("updateTime"), fields };
  if (kind === "identities") row.seenMs = ms("lastSeenTime");
  // The only binding there is at first is the one that made the owner owner.
  if (kind === "roleBindings") {
    row.founding = true;
    row.fields = { identityUid: (message.identity as Json).uid, roleUid: (message.role as Json).uid };
  }
  return row;
};
