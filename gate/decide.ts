// Which requests pass the gate: those that ask for a write of the change, at most as often as the change contains it. A request reserves
// its write before it is sent, so that no write is sent twice at a time.
import { canonical } from "../access/canonical.ts";
import { type Call, makesUid, methodOf } from "../access/change/methods.ts";
import { unknownIn } from "../access/change/unknown.ts";
import { referencesIn } from "../access/change/value.ts";
import type { Write } from "../access/change/write.ts";
import { placeText } from "../client/records.ts";
import { getOrInsert, isAncestor, isObject, isUidp, isWithin, type Json, printable } from "../schema/index.ts";
import { type Resolved, requestIfSame, resolvedRequest, resolvedWrite } from "./resolved.ts";

/** A request for one record. */
export type Asked = Pick<Call, "method" | "request">;

/** A write of the change, and its outcome. */
export interface Line {
  write: Write;
  /** Paths of an update that were sent, and have not failed; WHOLE for another write. */
  sent: Set<string>;
  /** Paths of an update that a later one has changed. */
  ended: Set<string>;
  /** By the paths that were sent: the answer, or a promise of it. */
  answers: Map<string, Promise<Json>>;
  isDone: boolean;
  /** A request was sent, and its outcome is unknown. */
  isUnknown: boolean;
}

/** A request to send: the recorded write, or a part of its paths. Call `settle` or `release` for it. */
export interface Reserved {
  is: "send";
  line: Line;
  /** with the uids of the service */
  recorded: Resolved;
  request: Json;
  paths: readonly string[];
  answer: Promise<Json>;
  end: Pick<PromiseWithResolvers<Json>, "resolve" | "reject">;
  isOver: boolean;
}

export type Decision =
  | Reserved
  /** the service carried it out, or that is under way */
  | { is: "answer"; answer: Promise<Json> }
  | { is: "refuse"; why: string };

/** The reasons against the writes; empty: they can be applied. */
export const writeProblems = (writes: readonly Write[]): string[] =>
  writes.flatMap((write) => {
    const foreign = referencesOf(write).filter((n) => writes[n - 1]?.service !== write.service);
    const reasons = [
      ...unknownIn(write),
      ...foreign.map((n) => `it refers to write ${n}, which is for another service`),
    ];
    return reasons.length === 0 ? [] : [`write ${write.n}, ${write.method}: ${reasons.join("; ")}`];
  });

const referencesOf = ({ parent, uid, fields }: Write) => referencesIn([parent, uid, fields]);

const WHOLE = "";

interface Known {
  line: Line;
  recorded: Resolved;
}

/** `writes` are those of one service. `recordOf`: a record of its copy, or one that a write has made, by the plural of its kind. */
export const decideOn = (writes: readonly Write[], recordOf: (plural: string, uid: string) => Json | undefined) => {
  const uids = new Map<number, string>();
  const lines = writes.map(lineOf);
  const index = indexOfLines();
  /** lines that refer to the record that a write creates */
  const waiting = new Map<number, Line[]>();
  const missingOf = ({ write }: Line) => referencesOf(write).filter((n) => !uids.has(n));

  const resolve = (line: Line) => {
    if (missingOf(line).length > 0) return;
    index.add({ line, recorded: resolvedWrite(line.write, (n) => uids.get(n) as string) });
  };
  for (const line of lines) {
    for (const n of referencesOf(line.write)) getOrInsert(waiting, n, () => []).push(line);
    resolve(line);
  }
  const reserve = ({ line, recorded }: Known, request: Json, paths: readonly string[]): Reserved => {
    for (const path of paths) line.sent.add(path);
    // The later write of a path wins, in whatever order a program sends them.
    for (const { line: other } of recorded.method.verb === "update" ? index.at(line.write.method, recorded) : [])
      if (other.write.n < line.write.n) for (const path of paths) other.ended.add(path);
    const { promise: answer, ...end } = Promise.withResolvers<Json>();
    // The request for it gets the error; a later request may come too late for it.
    answer.catch(() => {});
    line.answers.set(paths.join(), answer);
    return { is: "send", line, recorded, request, paths, answer, end, isOver: false };
  };

  const decide = (asked: Asked): Decision => {
    const own = resolvedRequest(asked);
    const paths = own.method.verb === "update" ? own.mask : [WHOLE];
    const differing: { line: Line; differs: string[] }[] = [];
    let last: Line | undefined;
    let overtaken: Line | undefined;
    for (const one of index.candidates(asked.method, own)) {
      const found = requestIfSame(one.recorded, own);
      const { line } = one;
      if ("differs" in found) {
        differing.push({ line, differs: found.differs });
        continue;
      }
      const isSent = paths.every((path) => [...line.sent].some((above) => isWithin(path, above)));
      const isEnded = paths.some((path) =>
        [...line.ended].some((other) => isWithin(path, other) || isWithin(other, path)),
      );
      if (!isSent && !isEnded) return reserve(one, found.request, paths);
      if (isSent) last = line;
      else overtaken = line;
    }
    const answer = last && (last.answers.get(paths.join()) ?? [...last.answers.values()].at(-1));
    if (answer) return { is: "answer", answer };
    const removal = own.method.verb === "delete" ? removalOf(asked, own) : undefined;
    return removal ?? { is: "refuse", why: whyNot(asked, own, differing, overtaken) };
  };

  /**
   * A delete of a record that the service deletes with another record of the change. The records in a group are deleted before the group. A
   * cascading delete of a record includes the records in it and those that refer to it (docs/internals/contract.md#d7, docs/internals/contract.md#d8). Passes
   * only a record that the copy contains or the change created: the review has not shown the loss of any other. So forceDestroy of a group
   * stops at a record that someone has created in it meanwhile.
   */
  const removalOf = (asked: Asked, own: Resolved): Decision | undefined => {
    const { resource } = own.method;
    const uid = own.uid as string;
    const record = recordOf(resource.plural, uid);
    if (record === undefined) return undefined;
    const covering = index.all().find(({ recorded: { method, uid: above } }) => {
      if (method.verb !== "delete" || above === undefined) return false;
      const isIn = isAncestor(above, uid) || (resource.list.sharesUid === true && above === uid);
      return isIn || (method.resource.cascades === true && refersTo(record, above));
    });
    if (!covering) return undefined;
    if (covering.line.isDone) return { is: "answer", answer: Promise.resolve({}) };
    const alike = lines.find(({ write }) => write.method === asked.method) ?? covering.line;
    const line = lineOf({ n: alike.write.n, method: asked.method, uid, fields: {} });
    const known = { line, recorded: own };
    index.add(known);
    return reserve(known, { uid }, [WHOLE]);
  };

  const whyNot = (
    { method: name }: Asked,
    { method, uid, parent = "" }: Resolved,
    differing: readonly { line: Line; differs: string[] }[],
    overtaken: Line | undefined,
  ): string => {
    const what = uid === undefined ? `${name} ${placeText(cut(parent))}` : `${name} ${method.resource.word} ${uid}`;
    if (overtaken) return `${what}: a later write of the change has changed that already (write ${overtaken.write.n})`;
    const [nearest] = differing.toSorted((a, b) => a.differs.length - b.differs.length);
    if (nearest) {
      const paths = nearest.differs.map((path) => (path === "" ? "its value" : cut(path)));
      return `${what}: it is not in the change; write ${nearest.line.write.n} differs in ${paths.join(", ")}`;
    }
    const later = lines.find((line) => line.write.method === name && missingOf(line).length > 0);
    const hint = later && `; write ${later.write.n} needs what write ${missingOf(later)[0]} makes`;
    return `${what}: it is not in the change${hint ?? ""}`;
  };

  return {
    lines,
    uids: uids as ReadonlyMap<number, string>,
    decide,
    /** The write has succeeded. */
    settle: (reserved: Reserved, answer: Json): void => {
      const { line, end } = reserved;
      reserved.isOver = true;
      line.isDone = true;
      line.isUnknown = false;
      const { uid } = answer;
      const { n, method } = line.write;
      if (typeof uid === "string" && makesUid(methodOf(method))) {
        uids.set(n, uid);
        for (const other of waiting.get(n) ?? []) resolve(other);
        waiting.delete(n);
      }
      end.resolve(answer);
    },
    /** The write has failed, and may be requested again. */
    release: (reserved: Reserved, error: unknown) => {
      const { line, paths, end, isOver } = reserved;
      if (isOver) return;
      reserved.isOver = true;
      for (const path of paths) line.sent.delete(path);
      line.answers.delete(paths.join());
      end.reject(error);
    },
  };
};

const lineOf = (write: Write): Line => ({
  ...{ write, sent: new Set<string>(), ended: new Set<string>(), answers: new Map() },
  ...{ isDone: false, isUnknown: false },
});

/** The lines whose uids are known. */
const indexOfLines = () => {
  const byPlace = new Map<string, Known[]>();
  const byContent = new Map<string, Known[]>();
  const at = (method: string, { uid, parent }: Resolved): readonly Known[] =>
    byPlace.get(`${method} ${uid ?? parent ?? ""}`) ?? [];
  const all = () => [...byPlace.values()].flat();
  return {
    at,
    all,
    add: (one: Known) => {
      const { method } = one.line.write;
      const { uid, parent } = one.recorded;
      getOrInsert(byPlace, `${method} ${uid ?? parent ?? ""}`, () => []).push(one);
      if (parent !== undefined) getOrInsert(byContent, contentOf(method, one.recorded), () => []).push(one);
    },
    /** In the order of the change. Looks first among equal creates: a group may contain thousands of records. */
    candidates: (method: string, asked: Resolved): Known[] => {
      const { parent } = asked;
      const isPath = parent !== undefined && parent !== "" && !isUidp(parent);
      const found = parent === undefined ? undefined : byContent.get(contentOf(method, asked));
      const list = found ?? (isPath ? all().filter(({ line }) => line.write.method === method) : at(method, asked));
      return list.toSorted((a, b) => a.line.write.n - b.line.write.n);
    },
  };
};

const contentOf = (method: string, { parent, fields }: Resolved) => `${method} ${parent} ${canonical(fields)}`;

const refersTo = (value: unknown, uid: string): boolean =>
  value === uid ||
  (Array.isArray(value) && value.some((item) => refersTo(item, uid))) ||
  (isObject(value) && Object.values(value).some((item) => refersTo(item, uid)));

const SHOWN_MAX = 200;

/** A text of the program. */
const cut = (text: string) => printable(text.slice(0, SHOWN_MAX));
