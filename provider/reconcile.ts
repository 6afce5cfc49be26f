// The one loop: check, diff, create, read, update, delete of any kind. It knows nothing of Pulumi: dynamic resources are one
// thin adapter over it, a native plugin would be another.
import { isApiError, isUidp, type Json, maskTouches, type OperationName, parentOf, rootOf } from "../schema/index.ts";
import { inputProblems } from "./check.ts";
import { LostAnswer } from "./client.ts";
import { deleteWhenFree } from "./delete-order.ts";
import { changedPaths, changeOf, normal } from "./diff.ts";
import { failure, otherAnswer } from "./failure.ts";
import type { Kind } from "./kind/kind.ts";
import { argumentOf, given, inputsFrom, outputsFrom, PROVIDER, spelt, withoutOwn, withSets } from "./record.ts";
import type { Session } from "./session.ts";
import { containsUnknown } from "./unknown.ts";

export interface CheckFailure {
  property: string;
  reason: string;
}

/** `olds` and `news` are inputs. The inputs that come back are in the API's spelling. */
export const check = (kind: Kind, olds: Json, news: Json): { inputs: Json; failures: CheckFailure[] } => {
  const inputs = spelt(kind, news);
  const problems = inputProblems(kind, inputs);
  const before = given(olds);
  const refusals = Object.keys(before).length === 0 ? [] : refusedReplacements(kind, before, given(inputs));
  return {
    inputs: withSets(inputs),
    failures: [...problems, ...refusals].map(({ field, description }) => ({ property: field, reason: description })),
  };
};

// Access outlives mistakes: other records depend on a uid, so that a new one must be asked for.
const refusedReplacements = (kind: Kind, before: Json, desired: Json) => {
  if (!kind.replacementBreaks || desired.allowReplace === true) return [];
  const { replaces } = changeOf(kind, (before.parent as string) ?? "", before, desired);
  return replaces.filter((field) => !containsUnknown(desired[field])).map((field) => refusal(kind, field));
};

const refusal = (kind: Kind, field: string) => ({
  field,
  description: `a change makes a new ${kind.word}: ${kind.replacementBreaks}; set allowReplace: true if that is meant`,
});

export interface DiffResult {
  changes: boolean;
  replaces: string[];
  /** for the person who reads the preview */
  warning?: string;
}

/** `olds` are outputs, as observed last; `news` are inputs. Never asks to delete first: access must not be interrupted. */
export const diff = (kind: Kind, id: string, olds: Json, news: Json): DiffResult => {
  const desired = given(news);
  const { paths, replaces } = changeOf(kind, parentOf(id), olds, desired);
  const changes = paths.length > 0 || replaces.length > 0;
  if (!kind.replacementBreaks || desired.allowReplace === true) return { changes, replaces };
  // check has refused already what differs from the last inputs; this is what differs from the record itself.
  const sure = replaces.find((field) => !containsUnknown(desired[field]));
  if (sure !== undefined) throw new Error(`${kind.word} ${id}: ${sure}: ${refusal(kind, sure).description}`);
  const [open] = replaces;
  if (open === undefined) return { changes, replaces: [] };
  // Not known before the update: it may turn out to be what it was, so that a preview cannot refuse.
  const warning = `${kind.word} ${id}: ${open} is not known yet, and the update refuses another one: ${refusal(kind, open).description}`;
  return { changes, replaces: [], warning };
};

export const create = async (kind: Kind, session: Session, inputs: Json): Promise<{ id: string; outs: Json }> => {
  const desired = given(inputs);
  const parent = (desired.parent as string | undefined) ?? "";
  const request = { parent, [kind.field]: normal(kind.schema, desired) };
  const permissionIsNew = session.newRoots.has(rootOf(parent));
  let answer: Json;
  try {
    answer = await call(session, kind.operations.create, request, { permissionIsNew });
  } catch (error) {
    if (error instanceof LostAnswer) throw lostCreate(kind, parent, desired, error);
    throw failure(error, kind, "create", { name: desired.name, parent });
  }
  // From here on the record exists: whatever fails must say so, or nobody would know of it.
  const id = answer.uid as string;
  if (parent === "") session.newRoots.add(id);
  const outs = outputsFrom(kind, answer, desired);
  const paths = changedPaths(kind, outs, desired);
  if (paths.length > 0) throw incomplete(kind, "create", outs, inputs, paths);
  return { id, outs };
};

// The one place where nobody knows whether a record was made.
const lostCreate = (kind: Kind, parent: string, desired: Json, error: LostAnswer): Error => {
  const where = parent === "" ? "at the root" : `in ${parent}`;
  const which = desired.name === undefined ? "with that identity and role" : `named "${desired.name}"`;
  const { message } = failure(error, kind, "create", { name: desired.name, parent });
  return new Error(
    `${message}\nThe ${kind.word} may exist all the same: the answer was lost, so it was not sent again. ` +
      `Look for a ${kind.word} ${which} ${where} that is younger than this run before you run again; ` +
      "delete it, or the next run makes a second one.",
  );
};

const incomplete = (kind: Kind, action: "create" | "update", outs: Json, inputs: Json, paths: string[]) => {
  const differing = paths.map((path) => argumentOf(kind, path));
  return otherAnswer(kind, action, { ...outs, [PROVIDER]: inputs[PROVIDER] }, differing);
};

export interface ReadResult {
  /** empty: the record is gone */
  id: string;
  props: Json;
  inputs?: Json;
}

/** `stored` are the outputs in the state. */
export const read = async (kind: Kind, session: Session, id: string, stored: Json): Promise<ReadResult> => {
  if (!isUidp(id)) throw new Error(`"${id}" is not the uid of a ${kind.word}`);
  let answer: Json;
  try {
    answer = await call(session, kind.operations.get, { uid: id });
  } catch (error) {
    if (!isApiError(error, "NOT_FOUND")) throw failure(error, kind, "get", { uid: id });
    await confirmGone(kind, session, id);
    return { id: "", props: {} };
  }
  if (answer.uid !== id) throw new Error(`${kind.word} ${id}: the service answered with ${answer.uid}`);
  const observed = outputsFrom(kind, answer, stored);
  return { id, props: kind.settled?.(observed, stored) ?? observed, inputs: inputsFrom(kind, id, observed, stored) };
};

// A wrong address or organisation answers NOT_FOUND to everything: a record is gone when the group that held it can be
// read, or is gone by the same rule.
const confirmGone = async (kind: Kind, session: Session, uid: string): Promise<void> => {
  const parent = parentOf(uid);
  if (parent === "") return;
  try {
    await call(session, "GetGroup", { uid: parent });
  } catch (error) {
    if (isApiError(error, "NOT_FOUND")) return confirmGone(kind, session, parent);
    throw failure(error, kind, "get", { uid });
  }
};

export const update = async (
  kind: Kind,
  session: Session,
  id: string,
  olds: Json,
  news: Json,
): Promise<{ outs: Json }> => {
  const desired = given(news);
  const { paths } = changeOf(kind, parentOf(id), olds, desired);
  // Only the arguments that we read differ (allowReplace), or an earlier error is being looked at again.
  if (paths.length === 0) return { outs: outputsFrom(kind, withoutOwn(olds), desired) };
  const resource = normal(kind.schema, desired);
  const touched = Object.entries(resource).filter(([name]) => maskTouches(paths, name));
  const request = { [kind.field]: { uid: id, ...Object.fromEntries(touched) }, updateMask: paths.join(",") };
  let answer: Json;
  try {
    answer = await call(session, kind.operations.update, request);
  } catch (error) {
    throw failure(error, kind, "update", { uid: id, name: desired.name });
  }
  const outs = outputsFrom(kind, answer, desired);
  const differing = changedPaths(kind, outs, desired).filter((path) => maskTouches(paths, path));
  if (differing.length > 0) throw incomplete(kind, "update", outs, news, differing);
  return { outs };
};

/** `stored` are the outputs in the state. */
export const remove = async (kind: Kind, session: Session, id: string, stored: Json): Promise<void> => {
  const attempt = async () => {
    try {
      await call(session, kind.operations.delete, { uid: id });
    } catch (error) {
      if (isApiError(error, "FAILED_PRECONDITION") && kind.blockers) return error;
      // Gone already is what was asked for.
      if (!isApiError(error, "NOT_FOUND")) throw failure(error, kind, "delete", { uid: id, name: stored.name });
    }
    return undefined;
  };
  await deleteWhenFree(kind, session, id, attempt);
  session.deletes.finished(id, kind.releases?.(stored));
};

const call = (session: Session, operation: OperationName, request: Json, options = {}): Promise<Json> =>
  session.call(operation, request as never, options) as Promise<Json>;
