// Repo: a repository of images. A repo that syncs from another inherits the metadata of its images.
import { z } from "zod";
import {
  bool,
  enumeration,
  int32,
  message,
  optional,
  output,
  plain,
  required,
  string,
  stringMap,
  strings,
  timestamp,
} from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest, updateRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { alias, bundle, description, nonEmpty, tagName } from "../text.ts";
import { uidp } from "../uidp.ts";

export const CatalogTier = enumeration("registry.CatalogTier", {
  CATALOG_TIER_UNSPECIFIED: 0,
  CATALOG_TIER_APPLICATION: 1,
  CATALOG_TIER_BASE: 2,
  CATALOG_TIER_FIPS: 3,
  CATALOG_TIER_AI: 4,
  CATALOG_TIER_DEVTOOLS: 5,
  CATALOG_TIER_COMMERCIAL: 6,
});

// Longer than any uid. Each part of a path is looked up.
const SOURCE_MAX = 2048;

export const SyncConfig = message("registry.SyncConfig", {
  /** uid of a repo, `group/repo` or `registry/group/repo`; kept as the uid */
  source: required(1, nonEmpty.max(SOURCE_MAX, `must be at most ${SOURCE_MAX} characters`), {
    references: "Repo",
    respelled: true,
  }),
  /** exported tags are uniquely labelled; a setting of the organization */
  uniqueTags: output(2, bool.optional()),
  /** 14 days after syncing began */
  expirationTime: output(3, timestamp.optional()),
  google: optional(4, string),
  amazon: optional(5, string),
  azure: optional(6, string),
  /** configuration applied when images are rebuilt; managed by the service */
  apkoOverlay: output(7, string.optional()),
  /** a grace period follows the end of life; a setting of the organization */
  gracePeriod: output(8, bool.optional()),
});

const NamedContent = (name: string) => message(name, { name: required(1, nonEmpty), content: required(2, nonEmpty) });

// Keys that are reserved for the platform.
const keysWithout = (...prefixes: string[]) =>
  stringMap.refine(
    (map) => !Object.keys(map).some((key) => prefixes.some((prefix) => key.startsWith(prefix))),
    `must have no key that begins with ${prefixes.map((prefix) => `"${prefix}"`).join(" or ")}`,
  );

export const CustomOverlay = message("registry.CustomOverlay", {
  contents: optional(
    1,
    message("registry.CustomOverlay.ImageContents", {
      packages: optional(1, strings, { list: "set" }),
      // The first repository that has a package provides it.
      runtimeRepositories: optional(2, strings, { list: "ordered" }),
      runtimeKeyring: optional(3, z.array(NamedContent("registry.CustomOverlay.ImageContents.RuntimeKeyringEntry")), {
        list: { key: "name" },
      }),
    }),
  ),
  environment: optional(2, keysWithout("CHAINGUARD_")),
  annotations: optional(3, keysWithout("dev.chainguard.", "org.opencontainers.")),
  accounts: optional(
    4,
    message("registry.CustomOverlay.Accounts", {
      runAs: optional(1, string),
      users: optional(
        2,
        z.array(
          message("registry.CustomOverlay.Accounts.User", {
            username: required(1, nonEmpty),
            uid: optional(2, int32),
            gid: optional(3, int32),
            groupName: optional(4, string),
            shell: optional(5, string),
            homeDir: optional(6, string),
          }),
        ),
        { list: { key: "username" } },
      ),
      groups: optional(
        3,
        z.array(
          message("registry.CustomOverlay.Accounts.Group", {
            groupname: required(1, nonEmpty),
            gid: optional(2, int32),
            members: optional(3, strings, { list: "set" }),
          }),
        ),
        { list: { key: "groupname" } },
      ),
    }),
  ),
  certificates: optional(
    5,
    message("registry.CustomOverlay.Certificates", {
      additional: optional(1, z.array(NamedContent("registry.CustomOverlay.Certificates.AdditionalEntry")), {
        list: { key: "name" },
      }),
      providers: optional(2, strings, { list: "set" }),
    }),
  ),
});

const NAME_TEXT = "must be at most 255 characters without white space";
const listOf = <T extends z.ZodType>(item: T) => z.array(item, { error: "must be a list of strings" });

/** Fields that a syncing repo inherits from its source and cannot change. */
export const INHERITED = ["catalogTier", "bundles", "aliases", "activeTags"] as const;

export const Repo = message(
  "registry.Repo",
  {
    /** uid of its group, then a segment of its own */
    uid: output(1, uidp),
    /** unique in its group */
    name: required(2, nonEmpty.regex(/^\S{0,255}$/, NAME_TEXT)),
    /** one line, at most 512 characters; default: that of the repo that this one syncs from */
    description: optional(3, description, { serverChosen: true }),
    catalogTier: optional(4, CatalogTier, { serverChosen: true }),
    bundles: optional(5, listOf(bundle), { list: "set", serverChosen: true }),
    /** other names of the image, each with a tag */
    aliases: optional(7, listOf(alias), { list: "set", serverChosen: true }),
    activeTags: optional(8, listOf(tagName), { list: "set", serverChosen: true }),
    // The published JSON name is the snake_case one (docs/contract.md#json).
    sync_config: optional(9, SyncConfig, { alias: "syncConfig" }),
    customOverlay: optional(10, CustomOverlay),
    createTime: output(11, timestamp),
    updateTime: output(12, timestamp),
  },
  { reserved: [6, "readme"] },
);
export type Repo = z.infer<typeof Repo>;

export const README_MAX = 256 * 1024;

/** The readme of a repo, in Markdown. */
export const RepoReadme = message("registry.RepoReadme", {
  /** uid of the repo */
  uid: output(1, uidp),
  content: optional(2, string.max(README_MAX, `must be at most ${README_MAX} characters`)),
});
export type RepoReadme = z.infer<typeof RepoReadme>;

const repoOperations = rows("registry.ReposService", "/registry/{version}", {
  GetRepo: {
    http: "GET /repos/{uid=**}",
    request: getRequest("registry.GetRepoRequest"),
    response: Repo,
    capabilities: ["repo.list"],
    scope: "uid",
  },
  CreateRepo: {
    http: "POST /repos/{parent=**}",
    body: "repo",
    request: createRequest("registry.CreateRepoRequest", "repo", Repo),
    response: Repo,
    capabilities: ["repo.create"],
    scope: "parent",
  },
  UpdateRepo: {
    http: "PATCH /repos/{repo.uid=**}",
    body: "repo",
    request: updateRequest("registry.UpdateRepoRequest", "repo", Repo),
    response: Repo,
    capabilities: ["repo.update"],
    scope: "repo.uid",
  },
  DeleteRepo: {
    http: "DELETE /repos/{uid=**}",
    request: getRequest("registry.DeleteRepoRequest"),
    response: Empty,
    capabilities: ["repo.delete"],
    scope: "uid",
  },
  ListRepos: {
    http: "GET /repos",
    request: listRequest(
      "registry.ListReposRequest",
      {
        /** the whole name */
        name: plain(2, string, { presence: true }),
      },
      4,
      7,
      {
        reserved: [3, "exclude_readme"],
      },
    ),
    response: listResponse("registry.ListReposResponse", "repos", Repo),
    capabilities: ["repo.list"],
  },
  GetRepoReadme: {
    http: "GET /repos/{uid=**}/readme",
    request: getRequest("registry.GetRepoReadmeRequest"),
    response: RepoReadme,
    capabilities: ["repo.list"],
    scope: "uid",
  },
  // The second capability is internal: people change a readme where the images are built (docs/contract.md#repos).
  UpdateRepoReadme: {
    http: "PATCH /repos/{repoReadme.uid=**}/readme",
    body: "repoReadme",
    request: updateRequest("registry.UpdateRepoReadmeRequest", "repoReadme", RepoReadme),
    response: RepoReadme,
    capabilities: ["repo.update", "repo.internal.admin"],
    scope: "repoReadme.uid",
  },
}) satisfies Operations;

export const repo = resource("Repo", repoOperations, {
  schema: Repo,
  unique: ["name"],
  cascades: true,
  choosesFor: ({ sync_config }) => sync_config !== undefined,
  replacementBreaks: "its uid would change, and its images and tags would go with the old one",
});
