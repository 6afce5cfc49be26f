// Repo: a repository of the registry. Read here; writing comes with the other kinds.
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
} from "./field.ts";
import { listRequest, listResponse } from "./list.ts";
import { type Operations, rows } from "./operation.ts";
import { getRequest } from "./request.ts";
import { description, nonEmpty } from "./text.ts";
import { uidp } from "./uidp.ts";

export const CatalogTier = enumeration("registry.CatalogTier", {
  CATALOG_TIER_UNSPECIFIED: 0,
  CATALOG_TIER_APPLICATION: 1,
  CATALOG_TIER_BASE: 2,
  CATALOG_TIER_FIPS: 3,
  CATALOG_TIER_AI: 4,
  CATALOG_TIER_DEVTOOLS: 5,
  CATALOG_TIER_COMMERCIAL: 6,
});

export const SyncConfig = message("registry.SyncConfig", {
  source: required(1, nonEmpty),
  uniqueTags: output(2, bool.optional()),
  expirationTime: output(3, timestamp.optional()),
  google: optional(4, string),
  amazon: optional(5, string),
  azure: optional(6, string),
  apkoOverlay: output(7, string.optional()),
  gracePeriod: output(8, bool.optional()),
});

const NamedContent = (name: string) => message(name, { name: required(1, nonEmpty), content: required(2, nonEmpty) });

export const CustomOverlay = message("registry.CustomOverlay", {
  contents: optional(
    1,
    message("registry.CustomOverlay.ImageContents", {
      packages: optional(1, strings),
      runtimeRepositories: optional(2, strings),
      runtimeKeyring: optional(3, z.array(NamedContent("registry.CustomOverlay.ImageContents.RuntimeKeyringEntry"))),
    }),
  ),
  environment: optional(2, stringMap),
  annotations: optional(3, stringMap),
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
      ),
      groups: optional(
        3,
        z.array(
          message("registry.CustomOverlay.Accounts.Group", {
            groupname: required(1, nonEmpty),
            gid: optional(2, int32),
            members: optional(3, strings),
          }),
        ),
      ),
    }),
  ),
  certificates: optional(
    5,
    message("registry.CustomOverlay.Certificates", {
      additional: optional(1, z.array(NamedContent("registry.CustomOverlay.Certificates.AdditionalEntry"))),
      providers: optional(2, strings),
    }),
  ),
});

export const Repo = message("registry.Repo", {
  uid: output(1, uidp),
  name: required(2, nonEmpty),
  description: optional(3, description),
  catalogTier: optional(4, CatalogTier),
  bundles: optional(5, strings),
  aliases: optional(7, strings),
  activeTags: optional(8, strings),
  // The published JSON name is the snake_case one (contract 1.2).
  sync_config: optional(9, SyncConfig, { alias: "syncConfig" }),
  customOverlay: optional(10, CustomOverlay),
  createTime: output(11, timestamp),
  updateTime: output(12, timestamp),
});
export type Repo = z.infer<typeof Repo>;

export const repoOperations = rows("registry.ReposService", "/registry/{version}", {
  GetRepo: {
    http: "GET /repos/{uid=**}",
    request: getRequest("registry.GetRepoRequest"),
    response: Repo,
    capabilities: ["repo.list"],
    scope: "uid",
  },
  ListRepos: {
    http: "GET /repos",
    request: listRequest("registry.ListReposRequest", { name: plain(2, string, { presence: true }) }, 4),
    response: listResponse("registry.ListReposResponse", "repos", Repo),
    capabilities: ["repo.list"],
  },
}) satisfies Operations;
