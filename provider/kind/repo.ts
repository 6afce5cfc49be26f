// Repo: a repository of images. One that syncs from another shows what it inherits, and its source by uid, however the
// program names it. The service would delete a repo together with its tags.
import { type Json, resources } from "../../schema/index.ts";
import type { Blockers, Kind } from "./kind.ts";

const tags = resources.tag.list;

export const repo: Kind = {
  ...resources.repo,
  filters: ({ name }) => ({ name }),
  unique: ["name"],
  arguments: { sync_config: "syncConfig" },
  respelled: ["sync_config.source"],
  choosesFor: ({ sync_config }: Json) => sync_config !== undefined,
  replacementBreaks: "its uid would change, and its images and tags would go with the old one",
  normalizeResponse: ({ syncConfig, ...record }: Json) =>
    syncConfig === undefined ? record : { sync_config: syncConfig, ...record },
  stored: ({ sync_config, ...record }: Json) =>
    sync_config === undefined ? record : { syncConfig: sync_config, ...record },
  blockers: (uid): Blockers[] => [
    { ...tags, request: { ...tags.always, uidp: { childrenOf: uid } }, word: resources.tag.word },
  ],
  deleteGuard: "tags of the repo would be deleted with it, and this run deletes none of them",
  supportsForceDestroy: "guarded",
};
