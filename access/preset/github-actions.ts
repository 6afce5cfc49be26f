// GitHub Actions: https://docs.github.com/actions/reference/security/oidc. The subject names the repository, and then an
// environment, a pull request, or a branch or tag. A job with an environment has a subject without its branch.
import { suggestion } from "../../schema/nearest.ts";
import {
  audienceField,
  type ClaimMatchRelationship,
  hasWildcard,
  issuerField,
  type Part,
  type Preset,
  presetFunction,
  refFields,
  subjectOf,
} from "./preset.ts";

/** Exactly one of branch, tag, environment and event. */
export interface GithubActionsArgs {
  /** `acme/images`, or `acme/*` for every repository of acme; also as a subject has it: `acme@123456/images@456789` */
  repository: string;
  /**
   * Number of the owner, as text. A repository that was created, renamed or transferred after 15 July 2026 has both ids in its subject, and
   * matches no identity without them. `gh api repos/acme/images --jq ".owner.id, .id"` prints them. With `acme/*`, it accepts repositories
   * with and without ids. Default: subjects without ids
   */
  ownerId?: string;
  /** Number of the repository, as text. Required with ownerId, unless `repository` has `*`. Default: subjects without ids */
  repositoryId?: string;
  /** Name of a branch: `main`, `release/*`; default: any */
  branch?: string;
  /** Name of a tag: `v*`; default: any */
  tag?: string;
  /** Name of the environment of the job; default: any */
  environment?: string;
  /** The event that starts the workflow: `pull_request`; default: any */
  event?: string;
  /** Default: the issuer of github.com. Others: `https://token.actions.<enterprise>.ghe.com`, `https://<host>/_services/token` */
  issuer?: string;
  /** `aud` of the token; default: what this service accepts by itself */
  audience?: string;
}

export const GITHUB_ISSUER = "https://token.actions.githubusercontent.com";

// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
const EVENTS = `branch_protection_rule check_run check_suite create delete deployment deployment_status discussion
  discussion_comment fork gollum image_version issue_comment issues label merge_group milestone page_build public
  pull_request pull_request_review pull_request_review_comment pull_request_target push registry_package release
  repository_dispatch schedule status watch workflow_dispatch workflow_run`.split(/\s+/);

const OWNER = /^[\w-]+(?:@\d+)?$/;
const NAME = /^[\w.*-]+(?:@\d+)?$/;

const repositoryViolation = (text: string) => {
  const [, fromUrl] = /^(?:https?:\/\/|git@)[^/:]+[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(text) ?? [];
  if (fromUrl !== undefined) return `must be owner/name: ${fromUrl}`;
  const [owner = "", name, ...rest] = text.split("/");
  if (owner.includes("*")) return "must name one owner: * may stand only after the slash, as in acme/*";
  if (name === undefined || rest.length > 0 || !OWNER.test(owner) || !NAME.test(name))
    return "must be owner/name, such as acme/images";
  return undefined;
};

const eventViolation = (text: string) =>
  EVENTS.includes(text) ? undefined : `is not an event of GitHub${suggestion(text, EVENTS)}`;

const idViolation = (text: string) =>
  /^[1-9]\d{0,19}$/.test(text)
    ? undefined
    : 'must be a number, as gh api repos/acme/images --jq ".owner.id, .id" prints it';

const idConflicts = ({ repository = "", ownerId, repositoryId }: Readonly<Record<string, string | undefined>>) => {
  if (ownerId === undefined && repositoryId === undefined) return [];
  const given = ownerId === undefined ? "repositoryId" : "ownerId";
  if (repository.includes("@")) return [{ field: given, text: "is given twice: repository has ids already" }];
  if (ownerId === undefined) return [{ field: given, text: "needs ownerId too: a subject has both ids, or none" }];
  if (hasWildcard(repository))
    return repositoryId === undefined
      ? []
      : [{ field: "repositoryId", text: "is of one repository; leave it out beside *" }];
  return repositoryId === undefined
    ? [{ field: given, text: "needs repositoryId too: a subject has both ids, or none" }]
    : [];
};

/** Some repositories of an owner have ids in their subjects, and some do not. */
const repositoryParts = ({ repository, ownerId, repositoryId }: GithubActionsArgs): Part[] => {
  const [owner, name] = repository.split("/");
  if (ownerId === undefined) return [`repo:${repository}:`];
  if (repositoryId !== undefined) return [`repo:${owner}@${ownerId}/${name}@${repositoryId}:`];
  return [`repo:${owner}`, { pattern: `(?:@${ownerId})?` }, `/${name}`, { pattern: "(?:@[0-9]+)?" }, ":"];
};

// GitHub writes a colon in a name as %3A.
const contextOf = ({ branch, tag, environment }: GithubActionsArgs) => {
  if (branch !== undefined) return `ref:refs/heads/${branch}`;
  if (tag !== undefined) return `ref:refs/tags/${tag}`;
  return environment === undefined ? "pull_request" : `environment:${environment.replaceAll(":", "%3A")}`;
};

const relationship = (args: GithubActionsArgs): ClaimMatchRelationship => {
  const { event, issuer = GITHUB_ISSUER, audience } = args;
  const match = { issuer, audience };
  const repo = repositoryParts(args);
  // The subject does not name other events: it names the branch, the tag or the environment.
  return event === undefined || event === "pull_request"
    ? { claimMatch: { ...match, ...subjectOf(...repo, contextOf(args)) } }
    : { claimMatch: { ...match, ...subjectOf(...repo, { pattern: ".+" }), claims: { event_name: event } } };
};

export const githubActionsPreset: Preset<GithubActionsArgs, ClaimMatchRelationship> = {
  title: "GitHub Actions",
  fields: {
    repository: {
      description:
        "owner/name, such as acme/images, or acme/* for every repository of acme; also as a subject has it: acme@123456/images@456789",
      violation: repositoryViolation,
    },
    ownerId: {
      description:
        "number of the owner, in quotes; a repository created, renamed or transferred after 15 July 2026 has both ids in its subject; default: subjects without ids",
      optional: true,
      violation: idViolation,
    },
    repositoryId: {
      description: "number of the repository, in quotes; required with ownerId, unless repository has *",
      optional: true,
      violation: idViolation,
    },
    ...refFields,
    environment: { description: "name of the environment of the job" },
    event: { description: "the event that starts the workflow: pull_request", violation: eventViolation },
    issuer: issuerField("default: the issuer of github.com"),
    audience: audienceField,
  },
  choice: ["branch", "tag", "environment", "event"],
  conflicts: idConflicts,
  relationship,
};

/**
 * Assumed by the workflows of a repository. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...githubActions({ repository: "acme/images", ownerId: "123456", repositoryId: "456789", branch: "main" }) });
 * ```
 */
export const githubActions = presetFunction("githubActions", githubActionsPreset);
