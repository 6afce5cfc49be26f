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
  recordTimes,
  required,
  string,
  stringMap,
  strings,
  timestamp,
} from "../field.ts";
import { getRequest, rows, standardMethods, updateRequest } from "../operation.ts";
import { resource } from "../resource.ts";
import { alias, bundle, description, nonEmpty, tagName } from "../text.ts";
import { uidp } from "../uidp.ts";

export const CatalogTier = enumeration(
  "registry.CatalogTier",
  {
    CATALOG_TIER_UNSPECIFIED: 0,
    CATALOG_TIER_APPLICATION: 1,
    CATALOG_TIER_BASE: 2,
    CATALOG_TIER_FIPS: 3,
    CATALOG_TIER_AI: 4,
    CATALOG_TIER_DEVTOOLS: 5,
    CATALOG_TIER_COMMERCIAL: 6,
  },
  { argumentType: "CatalogTier", text: "Part of the catalog" },
);

// Longer than any uid, and bounded: the server looks up each part of a path.
const SOURCE_MAX = 2048;

export const SyncConfig = message(
  "registry.SyncConfig",
  {
    source: required(
      1,
      nonEmpty.max(SOURCE_MAX, `must be at most ${SOURCE_MAX} characters`),
      "uid of a repo, `group/repo` or `registry/group/repo`; stored as the uid",
      {
        argumentText:
          "The repo to sync from: a Repo, its uid, its path (`chainguard/nginx`), or its image (`registry.example.com/chainguard/nginx`)",
        references: "Repo",
        respelled: true,
      },
    ),
    uniqueTags: output(2, bool.optional(), "Exported tags are uniquely labeled; a setting of the organization"),
    expirationTime: output(3, timestamp.optional(), "When syncing ends, 14 days after it began: RFC 3339, UTC"),
    google: optional(4, string, "Registry at Google Cloud that images are copied to"),
    amazon: optional(5, string, "Registry at AWS that images are copied to"),
    azure: optional(6, string, "Registry at Azure that images are copied to"),
    apkoOverlay: output(7, string.optional(), "Configuration applied when images are rebuilt; managed by the service"),
    gracePeriod: output(8, bool.optional(), "A grace period follows the end of life; a setting of the organization"),
  },
  {
    argumentType: "SyncConfig",
    text: "Where images come from. The repo then has the source's catalog tier, bundles, aliases and active tags",
  },
);

const NamedContent = (name: string) =>
  message(
    name,
    {
      name: required(1, nonEmpty, "Name of the file"),
      content: required(2, nonEmpty, "Text of the file"),
    },
    { argumentType: "NamedContent", text: "A file by its name" },
  );

// Prefixes of keys that the platform reserves.
const keysWithout = (...prefixes: string[]) =>
  stringMap.refine(
    (map) => !Object.keys(map).some((key) => prefixes.some((prefix) => key.startsWith(prefix))),
    `must have no key that begins with ${prefixes.map((prefix) => `"${prefix}"`).join(" or ")}`,
  );

export const CustomOverlay = message(
  "registry.CustomOverlay",
  {
    contents: optional(
      1,
      message("registry.CustomOverlay.ImageContents", {
        packages: optional(1, strings, "Packages that are added", { list: "set" }),
        // The first repository that has a package provides it.
        runtimeRepositories: optional(2, strings, "Where packages come from at run time; the first has precedence", {
          list: "ordered",
        }),
        runtimeKeyring: optional(
          3,
          z.array(NamedContent("registry.CustomOverlay.ImageContents.RuntimeKeyringEntry")),
          "Keys of those repositories",
          { list: { key: "name" } },
        ),
      }),
      "Packages, and the repositories that they come from",
    ),
    environment: optional(2, keysWithout("CHAINGUARD_"), "Variables, by name; no name may begin with `CHAINGUARD_`"),
    annotations: optional(
      3,
      keysWithout("dev.chainguard.", "org.opencontainers."),
      "Annotations, by key; no key may begin with `dev.chainguard.` or `org.opencontainers.`",
    ),
    accounts: optional(
      4,
      message("registry.CustomOverlay.Accounts", {
        runAs: optional(1, string, "User that the image runs as: a name or a number"),
        users: optional(
          2,
          z.array(
            message(
              "registry.CustomOverlay.Accounts.User",
              {
                username: required(1, nonEmpty, "Name of the user"),
                uid: optional(2, int32, "Number of the user; default: 0"),
                gid: optional(3, int32, "Number of its main group; default: 0"),
                groupName: optional(4, string, "Name of its main group"),
                shell: optional(5, string, "Path of the shell"),
                homeDir: optional(6, string, "Path of the home directory"),
              },
              { argumentType: "OverlayUser", text: "A user of the image" },
            ),
          ),
          "Users that are added; their order does not matter",
          { list: { key: "username" } },
        ),
        groups: optional(
          3,
          z.array(
            message(
              "registry.CustomOverlay.Accounts.Group",
              {
                groupname: required(1, nonEmpty, "Name of the group"),
                gid: optional(2, int32, "Number of the group; default: 0"),
                members: optional(3, strings, "Names of users", { list: "set" }),
              },
              { argumentType: "OverlayGroup", text: "A group of the image" },
            ),
          ),
          "Groups that are added; their order does not matter",
          { list: { key: "groupname" } },
        ),
      }),
      "Users and groups of the image",
    ),
    certificates: optional(
      5,
      message("registry.CustomOverlay.Certificates", {
        additional: optional(
          1,
          z.array(NamedContent("registry.CustomOverlay.Certificates.AdditionalEntry")),
          "PEM certificates to trust besides the usual ones",
          { list: { key: "name" } },
        ),
        providers: optional(2, strings, "Trust stores that get them", { list: "set" }),
      }),
      "Certificate authorities that the image trusts",
    ),
  },
  { argumentType: "CustomOverlay", text: "What a repo adds to each of its images or removes from it" },
);

const NAME_TEXT = "must be at most 255 characters without white space";
const listOf = <T extends z.ZodType>(item: T) => z.array(item, { error: "must be a list of strings" });

/** Fields that a syncing repo inherits from its source and cannot change. */
export const INHERITED = ["catalogTier", "bundles", "aliases", "activeTags"] as const;

export const Repo = message(
  "registry.Repo",
  {
    uid: output(1, uidp, "uid of its group, then a segment of its own"),
    name: required(
      2,
      nonEmpty.regex(/^\S{0,255}$/, NAME_TEXT),
      "Without white space, at most 255 characters; unique in its group",
    ),
    description: optional(3, description, "One line, at most 512 characters; default: empty, or the source's", {
      serverChosen: true,
    }),
    catalogTier: optional(
      4,
      CatalogTier,
      "Part of the catalog that the images belong to; default: none, or the source's",
      { serverChosen: true },
    ),
    bundles: optional(
      5,
      listOf(bundle),
      "Bundles that the images belong to, such as `base`; order and duplicates do not matter; default: the source's",
      { list: "set", serverChosen: true },
    ),
    aliases: optional(
      7,
      listOf(alias),
      "Other names of the image, each with a tag, such as `nginx:latest`; order and duplicates do not matter; default: the source's",
      { list: "set", serverChosen: true },
    ),
    activeTags: optional(
      8,
      listOf(tagName),
      "Tags that are kept up to date; order and duplicates do not matter; default: the source's",
      { list: "set", serverChosen: true },
    ),
    // The published JSON name is the snake_case one (docs/internals/contract.md#json).
    sync_config: optional(9, SyncConfig, "Syncs the images of another repo", {
      outputText: "The repo to sync from, by its uid, and when syncing ends",
      alias: "syncConfig",
      excludes: INHERITED,
    }),
    customOverlay: optional(10, CustomOverlay, "What is added to each image or removed from it"),
    ...recordTimes(11),
  },
  { reserved: [6, "readme"] },
);
export type Repo = z.infer<typeof Repo>;

export const README_MAX = 256 * 1024;

/** The readme of a repo, in Markdown. */
export const RepoReadme = message("registry.RepoReadme", {
  uid: output(1, uidp, "uid of the repo"),
  content: optional(
    2,
    string.max(README_MAX, `must be at most ${README_MAX} characters`),
    "Markdown, at most 262,144 characters",
  ),
});
export type RepoReadme = z.infer<typeof RepoReadme>;

const standard = standardMethods(Repo, "repo", "repos");
const repoOperations = rows("registry.ReposService", "/registry/{version}", {
  GetRepo: standard.get("repo.list"),
  CreateRepo: standard.create("repo.create"),
  UpdateRepo: standard.update("repo.update"),
  DeleteRepo: standard.delete("repo.delete"),
  ListRepos: standard.list("repo.list", { name: plain(2, string, "The whole name", { presence: true }) }, 4, 7, {
    reserved: [3, "exclude_readme"],
  }),
  GetRepoReadme: {
    http: "GET /repos/{uid=**}/readme",
    request: getRequest("registry.GetRepoReadmeRequest"),
    response: RepoReadme,
    capabilities: ["repo.list"],
    scope: "uid",
  },
  // The second capability is internal: people change a readme where the images are built (docs/internals/contract.md#repos).
  UpdateRepoReadme: {
    http: "PATCH /repos/{repoReadme.uid=**}/readme",
    body: "repoReadme",
    request: updateRequest("registry.UpdateRepoReadmeRequest", "repoReadme", RepoReadme),
    response: RepoReadme,
    capabilities: ["repo.update", "repo.internal.admin"],
    scope: "repoReadme.uid",
  },
});

export const repo = resource("Repo", repoOperations, {
  texts: {
    about: "a repository of images, either your own or synced from another repository.",
    parent: {
      argument: "The group that the repo belongs to: a Group or a uid",
      output: "uid of the group that the repo belongs to",
    },
    allowReplace:
      "Allows a change of parent to create a new repo, without the images and tags of the old one; default: refused in the preview",
    forceDestroy: "Also deletes its tags that this run does not delete; default: they prevent the deletion",
    lookUp: { by: "uid or name", text: "The repo with this uid, or of this name in `parent`." },
    list: "Repositories that the caller may read.",
  },
  schema: Repo,
  unique: ["name"],
  cascades: true,
  givesNoAccess: true,
  choosesFor: ({ sync_config }) => sync_config !== undefined,
  replacementBreaks: "its uid would change, and its images and tags would be deleted with the old one",
});
