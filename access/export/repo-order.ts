// Repos after the repos that they sync from.
import type { Json } from "../../schema/index.ts";
import type { Listed } from "../graph/live-record.ts";

/** Of repos that sync in a circle, one comes before its source. */
export const inOrderOfSources = <T extends { record: Listed; fields: Json }>(repos: readonly T[]): T[] => {
  const byUid = new Map(repos.map((repo) => [repo.record.uid, repo]));
  const done = new Set<T>();
  for (const repo of repos) {
    const chain = new Set<T>();
    for (let one: T | undefined = repo; one && !done.has(one) && !chain.has(one); one = byUid.get(sourceOf(one)))
      chain.add(one);
    for (const one of [...chain].reverse()) done.add(one);
  }
  return [...done];
};

const sourceOf = ({ fields }: { fields: Json }): string => {
  const { source } = (fields.sync_config ?? {}) as Json;
  return typeof source === "string" ? source : "";
};
