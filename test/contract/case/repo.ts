import { createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { byName, type Cases, creates, deletes, type Fixture, gets, ownGroup, WRITE } from "../fixture.ts";

export const repo = async (fixture: Fixture, body: Body = {}): Promise<string> =>
  createUid(fixture.api, "repos", await ownGroup(fixture), { name: "repo", ...body });

const overlay = {
  contents: { packages: ["curl"], runtimeKeyring: [{ name: "k", content: "c" }] },
  environment: { A_B: "1" },
  annotations: { "my.org/x": "y" },
  accounts: { runAs: "65532", users: [{ username: "u", uid: 7 }], groups: [{ groupname: "g", members: ["u"] }] },
};

export const cases = {
  GetRepo: gets("repo", () => ({ name: "nginx" })),
  ListRepos: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, ...byName }),
    answer: () => ({ repos: [{ name: "nginx" }], totalCount: "3", skipped: 1 }),
  },
  ListReposV1: {
    request: ({ eng, repo }) => ({ id: repo, name: "nginx", uidp: { childrenOf: eng } }),
    answer: ({ repo }) => ({ items: [{ id: repo, name: "nginx" }] }),
  },
  CreateRepo: creates(
    "repo",
    ({ repo: source }) => ({ name: "new", description: "d", sync_config: { source, google: "g" } }),
    ownGroup,
  ),
  UpdateRepo: {
    request: async (fixture) => ({
      repo: {
        uid: await repo(fixture, { customOverlay: overlay }),
        name: "ignored",
        catalogTier: "CATALOG_TIER_BASE",
        bundles: ["base"],
        aliases: ["other:1"],
        customOverlay: { environment: { C_D: "2" } },
      },
      updateMask: "catalogTier,bundles,aliases,customOverlay.environment",
    }),
    answer: () => ({
      name: "repo",
      catalogTier: "CATALOG_TIER_BASE",
      bundles: ["base"],
      customOverlay: { ...overlay, environment: { C_D: "2" } },
    }),
  },
  DeleteRepo: deletes(repo),
  GetRepoReadme: gets("repo", () => ({ content: "# nginx" })),
  UpdateRepoReadme: {
    access: {
      ...WRITE,
      why: "an internal capability, which no customer's role grants",
      owner: "denied",
      ownerLacks: "repo.internal.admin",
    },
    request: async (fixture) => ({ repoReadme: { uid: await repo(fixture), content: "# new" }, updateMask: "content" }),
    answer: () => ({ content: "# new" }),
    bearer: ({ api, librarian }) => api.token(librarian, { subject: "librarian" }),
  },
} satisfies Cases;
