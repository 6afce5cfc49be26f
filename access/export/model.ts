// A program's declarations of existing records, with unique names, in the order of their references. Pure.
import { isAncestor, isRoleName, isRoot, type Json, parentOf, printable, resources } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { groupOf } from "../graph/hidden.ts";
import type { Listed } from "../graph/live-record.ts";
import { argumentsFrom, fieldsOf, reasonToLeaveOut, secretPath } from "./arguments.ts";
import { identifier, namedOf, uniqueNames } from "./names.ts";
import { presetFor } from "./preset.ts";
import { type Contents, type ExportKind, KINDS, type NotVisible, pathIn } from "./read.ts";
import { type Entry, type ExportOptions, Fields, Reference, Secret, type Value } from "./value.ts";

/** A record that the program does not declare. */
export interface LeftOut {
  kind: ExportKind;
  uid: string;
  /** of the record; empty if it has none */
  name: string;
  why: string;
}

export interface Export {
  /** name of the group that is exported */
  title: string;
  top: string;
  /** only the records that Terraform manages; otherwise all existing records */
  isPart: boolean;
  isAdopted: boolean;
  entries: readonly Entry[];
  leftOut: readonly LeftOut[];
  /** records below the group that others name and no list contained: deleted meanwhile, or not visible; as `identity 7209…` */
  notListed: readonly string[];
  notVisible: readonly (NotVisible & { path: string })[];
}

export const exportOf = (contents: Contents, options: ExportOptions): Export => {
  const { top, isPart = false, groupNames } = contents;
  const { isAdopted } = options;
  let entries: ReadonlyMap<string, Entry> = new Map();
  const leftOut: LeftOut[] = [];
  const notListed = new Set<string>();
  for (const kind of KINDS) {
    const { kept, left } = declarable(kind, contents.records[kind], options);
    leftOut.push(...left);
    const all = declare(kind, kept, entries, contents, options);
    // A record may name another one of its kind that is left out: a repo follows a repo.
    leftOut.push(...all.left);
    for (const one of all.missing)
      if (
        !isPart &&
        isAncestor(top, one.uid) &&
        !leftOut.some(({ kind: left, uid }) => left === one.kind && uid === one.uid)
      )
        notListed.add(missingText(one));
    // Records that are left out do not affect the names.
    const others = kept.filter(({ record }) => all.left.every(({ uid }) => uid !== record.uid));
    ({ entries } = all.left.length > 0 ? declare(kind, others, entries, contents, options) : all);
  }
  const notVisible = contents.notVisible.map((one) => ({ ...one, path: one.group && pathIn(contents, one.group) }));
  const title = groupNames.get(top) ?? (top || "Terraform");
  return {
    title,
    top,
    isPart,
    isAdopted,
    entries: [...entries.values()],
    leftOut,
    notListed: [...notListed],
    notVisible,
  };
};

/** The entries of a kind, after the entries of the kinds before. */
const declare = (
  kind: ExportKind,
  kept: readonly Candidate[],
  before: ReadonlyMap<string, Entry>,
  contents: Contents,
  options: ExportOptions,
): { entries: ReadonlyMap<string, Entry>; left: LeftOut[]; missing: Missing[] } => {
  const entries = new Map(before);
  const left: LeftOut[] = [];
  const all: Missing[] = [];
  const names = uniqueNames(kept.map(({ record }) => namedOf(kind, record, contents, before)));
  for (const one of inOrder(kind, kept, names, contents)) {
    const { record, fields } = one;
    const name = names.get(record.uid) as string;
    const { entry, missing } = entryOf(kind, one, name, entries, { contents, options });
    all.push(...missing);
    // On another service, the uids of this one mean nothing.
    if (options.isAdopted || missing.length === 0)
      entries.set(`${kind} ${record.uid}`, withSecret(withPreset(entry, fields)));
    else
      left.push(
        leave(kind, record, `refers to what this program does not create: ${missing.map(missingText).join(", ")}`),
      );
  }
  return { entries, left, missing: all };
};

/** A record that another record names and the program does not declare. */
interface Missing {
  kind: ExportKind;
  uid: string;
}

const missingText = ({ kind, uid }: Missing) => `${resources[kind].word} ${printable(uid)}`;

const leave = (kind: ExportKind, { uid, name }: Listed, why: string) => ({
  kind,
  uid,
  name: typeof name === "string" ? name : "",
  why,
});

/** A record with the fields that a program sets. */
interface Candidate {
  record: Listed;
  fields: Json;
}

const declarable = (
  kind: ExportKind,
  records: readonly Listed[],
  options: ExportOptions,
): { kept: Candidate[]; left: LeftOut[] } => {
  const kept: Candidate[] = [];
  const left: LeftOut[] = [];
  const pairs = new Set<string>();
  for (const record of records.toSorted((a, b) => compare(a.uid, b.uid))) {
    const all = fieldsOf(kind, record);
    const fields = options.isAdopted ? withoutChoices(all) : withoutOperators(all, options);
    const pair =
      kind === "roleBinding" ? `${parentOf(record.uid)} ${fields.identityUid} ${fields.roleUid}` : record.uid;
    const twin = pairs.has(pair) ? "grants the same as another role binding of its group" : undefined;
    const why = reasonToLeaveOut(kind, record, fields, options) ?? twin;
    pairs.add(pair);
    if (why === undefined) kept.push({ record, fields });
    else left.push(leave(kind, record, why));
    if (!options.isAdopted && options.isPolicy && all.kind !== undefined)
      left.push(leave(kind, record, `a policy cannot say its kind, ${all.kind}, which is up to the other service`));
  }
  return { kept, left };
};

/**
 * The entry of a record, and the records that it names and the program does not declare. `entries`: of the kinds before, and of this kind
 * so far.
 */
const entryOf = (
  kind: ExportKind,
  { record: { uid }, fields }: Candidate,
  name: string,
  entries: ReadonlyMap<string, Entry>,
  { contents, options: { isAdopted, isImported = false } }: { contents: Contents; options: ExportOptions },
): { entry: Entry; missing: Missing[] } => {
  const missing: Missing[] = [];
  const refer = (type: string, other: string): Value => {
    const builtIn = type === "Role" ? contents.builtInRoles.get(other) : undefined;
    const hasName = kind === "roleBinding" || !isImported;
    if (builtIn !== undefined && isRoleName(builtIn)) return hasName ? builtIn : other;
    const entry = entries.get(`${kindOf(type)} ${other}`);
    if (entry) return new Reference(entry);
    missing.push({ kind: kindOf(type), uid: other });
    return other;
  };
  const isTop = kind === "group" && (uid === contents.top || isRoot(uid));
  /** uid of the holder of the record */
  const holder = kind === "accountAssociation" ? uid : parentOf(uid);
  const parent = isTop ? topParent(uid, isAdopted) : refer(resources[kind].parent, holder);
  const args = argumentsFrom(kind, fields, refer);
  // The other service may have an organization of this name, such as that of a development server.
  if (isTop && !isAdopted) args.set("allowDuplicate", true);
  return { entry: { kind, uid, name, isAdopted, args, ...(parent !== undefined && { parent }) }, missing };
};

/** Without the end of keys, which cannot change and which an import does not read: the service has chosen it, or the record contains it. */
const withoutChoices = ({ staticKeys, ...fields }: Json): Json => {
  if (staticKeys === undefined) return fields;
  const { expirationTime: _, ...keys } = staticKeys as Json;
  return { ...fields, staticKeys: keys };
};

/** Without fields that only the operator of a service may set, and without the kind of an organization, which a policy cannot set. */
const withoutOperators = ({ verified: _, kind, ...fields }: Json, { isPolicy = false }: ExportOptions): Json =>
  kind === undefined || isPolicy ? fields : { ...fields, kind };

/** A group that is exported without the groups above it keeps its parent; on another service it becomes an organization. */
const topParent = (uid: string, isAdopted: boolean) => (isAdopted ? parentOf(uid) || undefined : undefined);

const kindOf = (type: string) => (type.charAt(0).toLowerCase() + type.slice(1)) as ExportKind;

/** By path and name, so that a group precedes its contents; repos after their sources. */
const inOrder = (
  kind: ExportKind,
  kept: readonly Candidate[],
  names: ReadonlyMap<string, string>,
  contents: Contents,
): Candidate[] => {
  const keyOf = ({ record: { uid, name } }: Candidate) => {
    const path = pathIn(contents, groupOf(kind, uid));
    return [path === "/" ? "" : path, typeof name === "string" ? name : "", names.get(uid) as string];
  };
  const keyed = kept.map((one) => ({ one, key: keyOf(one) }));
  const sorted = keyed.sort((a, b) => a.key.map((text, i) => compare(text, b.key[i] as string)).find(Boolean) ?? 0);
  const candidates = sorted.map(({ one }) => one);
  return kind === "repo" ? inOrderOfSources(candidates) : candidates;
};

/** Repos after the repos that they sync from. In a circle of syncs, one repo precedes its source. */
const inOrderOfSources = (repos: readonly Candidate[]): Candidate[] => {
  const byUid = new Map(repos.map((repo) => [repo.record.uid, repo]));
  const done = new Set<Candidate>();
  for (const repo of repos) {
    const chain = new Set<Candidate>();
    for (
      let one: Candidate | undefined = repo;
      one && !done.has(one) && !chain.has(one);
      one = byUid.get(sourceOf(one))
    )
      chain.add(one);
    for (const one of [...chain].reverse()) done.add(one);
  }
  return [...done];
};

const sourceOf = ({ fields }: Candidate) => {
  const { source } = (fields.sync_config ?? {}) as Json;
  return typeof source === "string" ? source : "";
};

const withPreset = (entry: Entry, fields: Json) => {
  const replaces = ["claimMatch", "awsIdentity"].find((name) => fields[name] !== undefined);
  const preset = replaces === undefined ? undefined : presetFor({ [replaces]: fields[replaces] });
  return preset && replaces ? { ...entry, preset: { ...preset, replaces } } : entry;
};

/** A secret that the record needs and the API does not show becomes a setting. */
const withSecret = (entry: Entry): Entry => {
  const path = secretPath(entry);
  if (path === undefined) return entry;
  const [holder, field] = path;
  const secret = new Secret(`${identifier(entry.name)}ClientSecret`);
  const inner = entry.args.get(holder) as Fields;
  const args = new Fields(entry.args).set(holder, new Fields(inner).set(field, secret));
  return { ...entry, args, secret };
};
