// Repos: a name is unique in a group (docs/internals/contract.md#d19). A repo that syncs from another shows the current values of that
// repo in the fields that it inherits, and cannot change them (docs/internals/contract.md#inherited). Deleting a repo deletes its
// tags.
import { isDeepStrictEqual } from "node:util";
import {
  alreadyExists,
  ancestorsOf,
  type FieldViolation,
  INHERITED,
  inputFields,
  isUidp,
  isZero,
  type Json,
  maskTouches,
  Repo,
  RepoReadme,
  SyncConfig,
  WILDCARD,
  zeroOf,
} from "../../schema/index.ts";
import { can } from "../caller/caller.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { readmeViolation } from "./readme.ts";
import { changeInput, existing, recordFrom, recordsOf, throwIfAny, timeText, uidIn } from "./record.ts";

// Two repos may sync from each other: `seen` ends the search.
export const repoFrom = (row: Row, store: Store, seen: readonly string[] = []): Repo => {
  const repo = recordFrom<Repo>(row);
  const source = sourceOf(store, row, seen);
  if (!source) return repo;
  const { description, ...inherited } = repoFrom(source, store, [...seen, row.uid]);
  return {
    ...repo,
    ...(!repo.description && description && { description }),
    ...Object.fromEntries(INHERITED.map((name) => [name, inherited[name]])),
  };
};

/** The readme is the one of the source, like the images. */
export const readmeOf = (store: Store, row: Row, seen: readonly string[] = []): string => {
  const source = sourceOf(store, row, seen);
  return source ? readmeOf(store, source, [...seen, row.uid]) : (row.columns.readme as string);
};

const records = recordsOf("repo", repoFrom);

export const repoService = {
  GetRepo: records.get,

  ListRepos: records.list(({ name }) => equals({ name })),

  CreateRepo: ({ parent, repo }, context) => {
    const input = records.input(context, repo);
    existing(context, "group", parent);
    // A copy also keeps inherited values, since its source may be missing here.
    const stored = context.original ? input : withSync(context, input, [WILDCARD]);
    throwIfTaken(context.store, parent, input.name);
    return records.insert(context, uidIn(context, parent), stored);
  },

  UpdateRepo: ({ repo, updateMask }, context) => {
    const row = records.row(context, repo.uid);
    const { uid, createTime, updateTime, ...shown } = repoFrom(row, context.store);
    const current = { ...shown, description: row.body.description };
    const { next, paths } = changeInput(Repo, current, repo, updateMask);
    const stored = withSync(context, next as Repo, paths, row);
    if (stored.name !== row.body.name) throwIfTaken(context.store, row.parent as string, stored.name);
    return records.update(context, uid, stored);
  },

  DeleteRepo: records.delete,

  GetRepoReadme: ({ uid }, context) => ({
    uid,
    content: readmeOf(context.store, records.row(context, uid)),
  }),

  UpdateRepoReadme: ({ repoReadme, updateMask }, context) => {
    const row = records.row(context, repoReadme.uid);
    const current = readmeOf(context.store, row);
    const { next } = changeInput(RepoReadme, { content: current }, repoReadme, updateMask, (changed) => {
      const description = changed.content ? readmeViolation(changed.content as string) : undefined;
      return description ? [{ field: "content", description }] : [];
    });
    const { content = "" } = next as RepoReadme;
    if (content !== current && sourceOf(context.store, row)) throwIfAny([inheritedViolation("content")]);
    if (content !== current) records.update(context, row.uid, row.body, { readme: content });
    return { uid: row.uid, content };
  },
} satisfies ServiceMethods;

/** Removes the values that copied repos inherit from a copied source: they disappear with the source. */
export const leaveToSources = (store: Store, uids: readonly string[]): void => {
  for (const uid of uids) {
    const row = store.get(shapes.repo, uid);
    const source = row && sourceOf(store, row);
    if (!source) continue;
    const body = { ...row.body };
    for (const name of INHERITED) delete body[name];
    if (body.description === repoFrom(source, store, [uid]).description) delete body.description;
    store.update(shapes.repo, { ...row, body });
  }
};

// Inherited fields are not stored: reads take them from the source.
const withSync = (
  context: ServiceContext,
  { sync_config: given, ...repo }: Repo,
  paths: readonly string[],
  row?: Row,
): Omit<Repo, "uid" | "createTime" | "updateTime"> => {
  const sync = given && resolveSync(context, given, row);
  throwIfAny(inheritedViolations(context.store, repo, sync, paths));
  if (!sync) return repo;
  for (const name of INHERITED) delete repo[name];
  return { ...repo, sync_config: sync };
};

const inheritedViolation = (field: string): FieldViolation => ({
  field,
  description: "is inherited from the repo that this one syncs from and cannot be changed",
});

// To restate an inherited value is not a change (docs/internals/contract.md#inherited), nor is leaving it unset under `*`.
const inheritedViolations = (
  store: Store,
  input: Json,
  sync: Repo["sync_config"],
  paths: readonly string[],
): FieldViolation[] => {
  const source = sync && store.get(shapes.repo, sync.source);
  if (!source) return [];
  const inherited = repoFrom(source, store);
  const named = paths.filter((path) => path !== WILDCARD);
  return INHERITED.filter((name) => {
    const [value, sourceValue] = [input, inherited].map((repo) => (repo as Json)[name] ?? zeroOf(Repo.shape[name]));
    const given = maskTouches(named, name) || (paths.includes(WILDCARD) && !isZero(Repo.shape[name], value));
    return given && !isDeepStrictEqual(value, sourceValue);
  }).map(inheritedViolation);
};

const throwIfTaken = (store: Store, group: string, name: string) => {
  const taken = store.statement("SELECT uid FROM repos WHERE parent = ? AND name = ?").get(group, name);
  if (taken) throw alreadyExists("Repo", taken.uid as string, `the group ${group} has a repo ${name} already`);
};

// The source of a repo (docs/internals/contract.md#sync-source): another repo that the caller may pull from. A request names it by uid,
// by its path in the catalog (`chainguard/nginx`) or by the image (`cgr.dev/chainguard/nginx`). The uid is stored.

type Sync = NonNullable<Repo["sync_config"]>;

const LIFE_MS = 14 * 24 * 60 * 60 * 1000;

// The capabilities to pull an image.
const PULL = ["manifest.list", "repo.blobs.get"];

// Each read of a repo follows its sources: in a list of a thousand repos, a thousand times.
const SOURCES_MAX = 10;

/** The source of a repo, if it exists, is not one of `seen`, and is near enough. */
const sourceOf = (store: Store, row: Row, seen: readonly string[] = []) => {
  const uid = (row.body.sync_config as Sync | undefined)?.source;
  const isNear = uid && uid !== row.uid && !seen.includes(uid) && seen.length < SOURCES_MAX;
  return isNear ? store.get(shapes.repo, uid) : undefined;
};

/** The stored form of a sync config: the source as uid, the rest as given, the time of `row` or of now. */
const resolveSync = (context: ServiceContext, sync: Sync, row: Row | undefined): Sync => {
  const before = row?.body.sync_config as Sync | undefined;
  const source = sync.source === before?.source ? before.source : resolve(context, sync.source);
  if (!source || source === row?.uid) {
    const description = source
      ? "must be another repo"
      : `${JSON.stringify(sync.source)} is not a repo that you may pull from`;
    throwIfAny([{ field: "sync_config.source", description }]);
  }
  const given = Object.fromEntries(inputFields(SyncConfig).map((name) => [name, (sync as Json)[name]]));
  const expirationTime = before?.expirationTime ?? timeText(context.now + LIFE_MS);
  return { ...given, source, expirationTime } as Sync;
};

const resolve = ({ store, caller }: ServiceContext, text: string) => {
  const found = isUidp(text) ? [text] : withPath(store, text);
  const [only, ...others] = found.filter((uid) => store.get(shapes.repo, uid) && can(caller, PULL, uid));
  return others.length === 0 ? only : undefined;
};

// A path lists the names of the groups from the root, then the repo. It may begin with the host of a registry. The name of a
// repo may contain slashes.
const withPath = (store: Store, text: string) => {
  const segments = text.split("/");
  const paths = [text, ...(segments.length > 2 ? [segments.slice(1).join("/")] : [])];
  const named = store.statement("SELECT uid FROM repos WHERE name = ?");
  const names = segments.map((_, i) => segments.slice(i).join("/"));
  const uids = names.flatMap((name) => named.all(name)).map(({ uid }) => uid as string);
  return uids.filter((uid) => {
    const above = ancestorsOf(uid).map((group) => store.get(shapes.group, group)?.body.name);
    return paths.includes([...above, store.get(shapes.repo, uid)?.body.name].join("/"));
  });
};
