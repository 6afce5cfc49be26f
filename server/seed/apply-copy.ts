// Applies a seed of records that exist elsewhere: through the services, as the operator, in one transaction. The service gets the record
// as its original, which no request can give, and so keeps its uid and its times.
import {
  ancestorsOf,
  answerFromJson,
  isUidp,
  type Json,
  levelOf,
  parentOf,
  resources,
  UIDP_TEXT,
} from "../../schema/index.ts";
import { operator } from "../caller/caller.ts";

import { showSignIn } from "../services/identity.ts";
import { leaveToSources } from "../services/repo.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import type { SeedContext } from "./apply.ts";
import { COPIED_KINDS, type CopiedKind, type CopySeed, groupOf } from "./copy.ts";
import { createProblems, type Problem } from "./problem.ts";
import { problemText, SeedError } from "./record.ts";
import { copyMarkOf, setCopyMark, type Unseen } from "./unseen.ts";

/** Throws SeedError with every problem. A store that already contains this copy gets the records that it lacks. */
export const applyCopy = (seed: CopySeed, context: SeedContext): void =>
  context.store.transaction(() => {
    const { copy } = seed;
    const source = [copy?.of, copy?.time].filter(Boolean).join(" at ");
    refuseOtherRecords(context.store, source);
    const problems = createCopies(seed, context);
    if (problems.length > 0) throw new SeedError(problemText(seed, problems));
    const tops = topsOf(seed);
    const [organization] = tops;
    if (organization === undefined) throw new SeedError("the copy has no group, so there is nothing to serve");
    setCopyMark(context.store, { source, organization, tops, unseen: unseenIn(seed) });
  });

const unseenIn = ({ copy, records, named = {} }: CopySeed): Unseen => {
  const byName = (["group", "role", "identity"] as const).flatMap((kind) => {
    const { plural } = resources[kind];
    const listed = new Set(records[plural]?.map(({ uid }) => uid));
    const all: readonly { uid: string }[] = named[plural as "groups" | "roles" | "identities"] ?? [];
    return all.flatMap(({ uid }) => (listed.has(uid) ? [] : [`${kind} ${uid}`]));
  });
  return {
    places: (copy?.notVisible ?? []).map(({ kind, group }) => (group ? `${kind} ${group}` : kind)),
    named: byName,
    leftOut: (copy?.leftOut ?? []).map(({ kind, uid }) => `${kind} ${uid}`),
  };
};

// A mixed database would match neither source: two organizations could share uids, and each built-in role would have two.
const refuseOtherRecords = (store: Store, source: string) => {
  const held = copyMarkOf(store)?.source;
  if (held === source) return;
  const has = held === undefined ? "records of its own" : `another copy (${held || "of unnamed records"})`;
  if (held !== undefined || store.statement("SELECT 1 FROM groups LIMIT 1").get())
    throw new SeedError(`the database has ${has}; a copy needs a database of its own: name another file with --db`);
};

/** Creates the records and collects the refusals of the services. The dependents of a refused record are refused, too. */
export const createCopies = (seed: CopySeed, seedContext: SeedContext): Problem[] => {
  const { store } = seedContext;
  const { found, report, reportViolations, create } = createProblems();
  const { named = {} } = seed;

  for (const kind of COPIED_KINDS) {
    const { plural, schema } = resources[kind];
    const seen = new Set<string>();
    const records: { path: PropertyKey[]; json: Json }[] = [
      ...namedOf(seed, kind).map((json, i) => ({ path: ["named", plural, i], json })),
      ...(seed.records[plural] ?? []).map((json, i) => ({ path: ["records", plural, i], json })),
    ];
    const decoded = records.flatMap(({ path, json }) => {
      const { value, violations } = answerFromJson(schema, json, true);
      reportViolations(violations, path);
      const { uid } = value;
      const problem = violations.some(({ field }) => field === "uid") ? undefined : uidProblem(kind, uid, seen);
      if (problem !== undefined) report({ path: [...path, "uid"], text: problem });
      return violations.length > 0 || problem !== undefined
        ? []
        : [{ path, original: value as Json & { uid: string } }];
    });
    // A group is created after its parent.
    const ordered = decoded.toSorted((a, b) => levelOf(a.original.uid) - levelOf(b.original.uid));
    const created = ordered.flatMap(({ path, original }) => {
      // A restarted database already contains it.
      if (store.get(shapes[kind], original.uid)) return [];
      const parent = kind === "accountAssociation" ? original.uid : parentOf(original.uid);
      const context = { ...seedContext, caller: operator, capabilities: [], original };
      return create(context, kind, path, parent, original) ?? [];
    });
    if (kind === "repo") leaveToSources(store, created);
  }
  for (const { uid, ...shown } of named.identities ?? []) showSignIn(store, uid, shown);
  return found;
};

/** Groups, roles and identities that other records name, as records; a person's sign-in is not a record. */
const namedOf = ({ named = {}, records, copy }: CopySeed, kind: CopiedKind): Json[] => {
  const withTime = (one: Json): Json => ({ name: "", ...one, ...(copy?.time && { createTime: copy.time }) });
  if (kind === "group") return (named.groups ?? []).map(withTime);
  if (kind === "role") return (named.roles ?? []).map(withTime);
  if (kind !== "identity") return [];
  const listed = new Set(records.identities?.map(({ uid }) => uid));
  return (named.identities ?? [])
    .filter(({ uid }) => !listed.has(uid))
    .map(({ issuer: _, subject: _s, ...one }) => withTime(one));
};

/** Kinds whose records may be in no group: organizations, built-in roles, people. */
const AT_THE_ROOT: readonly CopiedKind[] = ["group", "role", "identity"];

const uidProblem = (kind: CopiedKind, uid: unknown, seen: Set<string>): string | undefined => {
  if (uid === undefined) return "is required";
  if (!isUidp(uid)) return UIDP_TEXT;
  if (seen.has(uid)) return "another record of this file has the same";
  seen.add(uid);
  return groupOf(kind, uid) === "" && !AT_THE_ROOT.includes(kind) ? "must be below the uid of a group" : undefined;
};

/** Organizations first. Groups that are only named merely lead to the copied groups. */
const topsOf = ({ records }: CopySeed): string[] => {
  const groups = new Set(
    COPIED_KINDS.flatMap((kind) =>
      (records[resources[kind].plural] ?? []).map(({ uid }) => groupOf(kind, uid as string)),
    ),
  );
  groups.delete("");
  return [...groups]
    .filter((uid) => !ancestorsOf(uid).some((above) => groups.has(above)))
    .sort((a, b) => levelOf(a) - levelOf(b) || (a < b ? -1 : 1));
};
