// Repo: a repository of images. One that syncs from another shows what it inherits from it, and its source by uid, however the
// program names it. The service would delete a repo together with its tags.
import { type Json, Repo } from "../../schema/index.ts";
import type { Blockers, Kind } from "./kind.ts";
import { ALL_TAGS } from "./tag.ts";

export const repo: Kind = {
  type: "Repo",
  word: "repo",
  schema: Repo,
  field: "repo",
  operations: { get: "GetRepo", create: "CreateRepo", update: "UpdateRepo", delete: "DeleteRepo" },
  list: { operation: "ListRepos", plural: "repos", filters: ({ name }) => ({ name }) },
  unique: ["name"],
  arguments: { sync_config: "syncConfig" },
  respelled: ["sync_config.source"],
  choosesFor: ({ sync_config }: Json) => sync_config !== undefined,
  replacementBreaks: "its uid would change, and its images and tags would go with the old one",
  observed: ({ syncConfig, ...record }: Json) =>
    syncConfig === undefined ? record : { sync_config: syncConfig, ...record },
  stored: ({ sync_config, ...record }: Json) =>
    sync_config === undefined ? record : { syncConfig: sync_config, ...record },
  blockers: (uid): Blockers[] => [
    { operation: "ListTags", request: { ...ALL_TAGS, uidp: { childrenOf: uid } }, plural: "tags", word: "tag" },
  ],
  guarded: "tags of the repo would go with it, and this run deletes none of them",
  forceable: "guarded",
};
