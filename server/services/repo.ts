// Repos: a name is unique in a group (docs/contract.md#d19). A repo that syncs from another shows the current values of that
// repo in the fields that it inherits, and cannot change them (docs/contract.md#inherited). Deleting a repo deletes its
// tags.
import { isDeepStrictEqual } from "node:util";
import {
  alreadyExists,
  type FieldViolation,
  INHERITED,
  isZero,
  type Json,
  maskTouches,
  Repo,
  RepoReadme,
  WILDCARD,
  zeroOf,
} from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import { readmeViolation } from "./readme.ts";
import { changeInput, createInput, existingParent, recordsOf, throwIfAny, times, uidIn } from "./record.ts";
import type { ServiceMethods } from "./service.ts";
import { resolveSync, sourceOf } from "./sync-config.ts";

// Two repos may sync from each other: `seen` ends the search.
export const repoFrom = (store: Store, row: Row, seen: readonly string[] = []): Repo => {
  const repo = { uid: row.uid, name: row.columns.name, ...row.body, ...times(row) } as Repo;
  const source = sourceOf(store, row, seen);
  if (!source) return repo;
  const { description, ...inherited } = repoFrom(store, source, [...seen, row.uid]);
  return {
    ...repo,
    ...(!repo.description && description && { description }),
    ...Object.fromEntries(INHERITED.map((name) => [name, inherited[name]])),
  };
};

/** The readme comes from the source, like the images. */
export const readmeOf = (store: Store, row: Row, seen: readonly string[] = []): string => {
  const source = sourceOf(store, row, seen);
  return source ? readmeOf(store, source, [...seen, row.uid]) : (row.columns.readme as string);
};

const records = recordsOf(shapes.repo, "Repo", "repos", (row, store) => repoFrom(store, row));

export const repoService = {
  GetRepo: records.get,

  ListRepos: (request, context) => records.list(context, request, equals({ name: request.name })),

  CreateRepo: ({ parent, repo }, context) => {
    const { sync_config, ...input } = createInput(context, Repo, repo) as Repo;
    existingParent(context, parent);
    const uid = uidIn(context, parent);
    if (context.original) {
      throwIfTaken(context.store, parent, input.name);
      // Also what it inherits, since its source may not be here.
      const { name, ...body } = { ...input, ...(sync_config && { sync_config }) };
      return records.insert(context, uid, { columns: { name, readme: "" }, body });
    }
    const sync = resolveSync(context, sync_config);
    throwIfAny(inheritedViolations(context.store, input, sync, [WILDCARD]));
    throwIfTaken(context.store, parent, input.name);
    const { name, ...body } = storedFields(input, sync);
    return records.insert(context, uid, { columns: { name, readme: "" }, body });
  },

  UpdateRepo: ({ repo, updateMask }, context) => {
    const row = records.row(context, repo.uid);
    const { uid, createTime, updateTime, ...shown } = repoFrom(context.store, row);
    const current = { ...shown, description: row.body.description };
    const { next, paths } = changeInput(Repo, current, repo, updateMask);
    const { sync_config, ...input } = next as Repo;
    const sync = resolveSync(context, sync_config, row);
    throwIfAny(inheritedViolations(context.store, input, sync, paths));
    if (input.name !== row.columns.name) throwIfTaken(context.store, row.parent as string, input.name);
    const { name, ...body } = storedFields(input, sync);
    const columns = { name, readme: row.columns.readme as string };
    return records.update(context, uid, { columns, body });
  },

  DeleteRepo: records.delete,

  GetRepoReadme: ({ uid }, context) => ({
    uid,
    content: readmeOf(context.store, records.row(context, uid)),
  }),

  UpdateRepoReadme: ({ repoReadme, updateMask }, context) => {
    const row = records.row(context, repoReadme.uid);
    const current = readmeOf(context.store, row);
    const { next } = changeInput(RepoReadme, { content: current }, repoReadme, updateMask, readmeViolations);
    const { content = "" } = next as RepoReadme;
    if (content !== current && sourceOf(context.store, row)) throwIfAny([inheritedViolation("content")]);
    if (content !== current) {
      const columns = { ...row.columns, readme: content };
      context.store.update(shapes.repo, { uid: row.uid, updateTime: context.now, columns, body: row.body });
    }
    return { uid: row.uid, content };
  },
} satisfies ServiceMethods;

/** What copied repos show of a source that was copied too is not their own, and goes when the source goes. */
export const leaveToSources = (store: Store, uids: readonly string[]): void => {
  for (const uid of uids) {
    const row = store.get(shapes.repo, uid);
    const source = row && sourceOf(store, row);
    if (!source) continue;
    const body = { ...row.body };
    for (const name of INHERITED) delete body[name];
    if (body.description === repoFrom(store, source, [uid]).description) delete body.description;
    store.update(shapes.repo, { ...row, body });
  }
};

// Inherited fields are not stored: reads take them from the source.
const storedFields = ({ ...repo }: Omit<Repo, "uid" | "createTime" | "updateTime">, sync: Repo["sync_config"]) => {
  if (sync) for (const name of INHERITED) delete repo[name];
  return { ...repo, ...(sync && { sync_config: sync }) };
};

const inheritedViolation = (field: string): FieldViolation => ({
  field,
  description: "is inherited from the repo that this one syncs from and cannot be changed",
});

// Restating an inherited value is no change (docs/contract.md#inherited), nor is leaving it unset under `*`.
const inheritedViolations = (
  store: Store,
  input: Json,
  sync: Repo["sync_config"],
  paths: readonly string[],
): FieldViolation[] => {
  const source = sync && store.get(shapes.repo, sync.source);
  if (!source) return [];
  const inherited = repoFrom(store, source);
  const named = paths.filter((path) => path !== WILDCARD);
  return INHERITED.filter((name) => {
    const [value, sourceValue] = [input, inherited].map((repo) => (repo as Json)[name] ?? zeroOf(Repo.shape[name]));
    const given = maskTouches(named, name) || (paths.includes(WILDCARD) && !isZero(Repo.shape[name], value));
    return given && !isDeepStrictEqual(value, sourceValue);
  }).map(inheritedViolation);
};

const readmeViolations = ({ content }: Json): FieldViolation[] => {
  const description = content ? readmeViolation(content as string) : undefined;
  return description ? [{ field: "content", description }] : [];
};

const throwIfTaken = (store: Store, group: string, name: string): void => {
  const taken = store.statement("SELECT uid FROM repos WHERE parent = ? AND name = ?").get(group, name);
  if (taken) throw alreadyExists("Repo", taken.uid as string, `the group ${group} has a repo ${name} already`);
};
