// Repos: read here; their rows come with the seed.
import type { Repo } from "../../schema/index.ts";
import type { Services } from "../service.ts";
import { equals } from "../store/list.ts";
import { repos } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import { existing, page, times } from "./record.ts";

export const repoFrom = (row: Row): Repo =>
  ({ uid: row.uid, name: row.columns.name, ...row.body, ...times(row) }) as Repo;

export const insertRepo = (store: Store, uid: string, { name, ...body }: Partial<Repo>, now: number): void =>
  store.insert(repos, { uid, createTime: now, updateTime: now, columns: { name: name as string }, body });

export const repoService = {
  GetRepo: ({ uid }, context) => repoFrom(existing(context, repos, "Repo", uid)),

  ListRepos: (request, context) => {
    const { items, ...envelope } = page(context, repos, request, ["repo.list"], equals("name", request.name), repoFrom);
    return { repos: items, ...envelope };
  },
} satisfies Services<"GetRepo" | "ListRepos">;
