// GitHub Actions: https://docs.github.com/actions/reference/security/oidc. The subject names the repository, and then an
// environment, a pull request, or a branch or tag. A job with an environment has a subject without its branch.
import { suggestion } from "../../schema/nearest.ts";
import { audienceField, issuerField } from "./issuer.ts";
import { type ClaimMatchRelationship, type Preset, presetFunction } from "./preset.ts";
import { refName, subjectOf } from "./text.ts";

/** Exactly one of branch, tag, environment and event. */
export interface GithubActionsArgs {
  /**
   * `acme/images`, or `acme/*` for every repository of acme. A repository created, renamed or moved after 15 July 2026 has its
   * ids in the subject: `acme@123456/images@456789`
   */
  repository: string;
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

const repositoryViolation = (text: string): string | undefined => {
  const [, fromUrl] = /^(?:https?:\/\/|git@)[^/:]+[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(text) ?? [];
  if (fromUrl !== undefined) return `must be owner/name: ${fromUrl}`;
  const [owner = "", name, ...rest] = text.split("/");
  if (owner.includes("*")) return "must name one owner: * may stand only after the slash, as in acme/*";
  if (name === undefined || rest.length > 0 || !OWNER.test(owner) || !NAME.test(name))
    return "must be owner/name, such as acme/images";
  return undefined;
};

const eventViolation = (text: string): string | undefined =>
  EVENTS.includes(text) ? undefined : `is not an event of GitHub${suggestion(text, EVENTS)}`;

// GitHub writes a colon of a name as %3A.
const contextOf = ({ branch, tag, environment }: GithubActionsArgs): string => {
  if (branch !== undefined) return `ref:refs/heads/${branch}`;
  if (tag !== undefined) return `ref:refs/tags/${tag}`;
  return environment === undefined ? "pull_request" : `environment:${environment.replaceAll(":", "%3A")}`;
};

const relationship = (args: GithubActionsArgs): ClaimMatchRelationship => {
  const { repository, event, issuer = GITHUB_ISSUER, audience } = args;
  const match = { issuer, ...(audience === undefined ? {} : { audience }) };
  const repo = `repo:${repository}:`;
  // The subject has no word for another event: it names the branch, the tag or the environment.
  return event === undefined || event === "pull_request"
    ? { claimMatch: { ...match, ...subjectOf(repo, contextOf(args)) } }
    : { claimMatch: { ...match, ...subjectOf(repo, { pattern: ".+" }), claims: { event_name: event } } };
};

export const githubActionsPreset: Preset<GithubActionsArgs, ClaimMatchRelationship> = {
  title: "GitHub Actions",
  fields: {
    repository: {
      description:
        "owner/name, such as acme/images, or acme/* for every repository of acme. A repository created, renamed or moved after 15 July 2026 has its ids in the subject: acme@123456/images@456789",
      violation: repositoryViolation,
    },
    branch: { description: "name of a branch: main, release/*", violation: refName("branch") },
    tag: { description: "name of a tag: v*", violation: refName("tag") },
    environment: { description: "name of the environment of the job" },
    event: { description: "the event that starts the workflow: pull_request", violation: eventViolation },
    issuer: issuerField("default: the issuer of github.com"),
    audience: audienceField,
  },
  choice: ["branch", "tag", "environment", "event"],
  relationship,
};

/**
 * Assumed by the workflows of a repository. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...githubActions({ repository: "acme/images", branch: "main" }) });
 * ```
 */
export const githubActions = presetFunction("githubActions", githubActionsPreset);
