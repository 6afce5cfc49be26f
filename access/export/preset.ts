// The preset for a relationship: a guess from its texts, which counts only if the preset produces the relationship byte for byte.
import type { Json } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../preset/gitlab.ts";
import { type Preset, presetProblems } from "../preset/preset.ts";
import { type PresetName, presets } from "../preset/presets.ts";
import type { PresetUse } from "./value.ts";

/** Arguments of a preset. If it lacks a required one, the guess is wrong. */
type Guess = Record<string, string | boolean | undefined>;
type Texts = Readonly<Record<string, string | undefined>>;

/** `relationship` is `{ claimMatch }` or `{ awsIdentity }`, as in the API's JSON. */
export const presetFor = ({ claimMatch, awsIdentity }: Json): PresetUse | undefined => {
  const guesses: Partial<Record<PresetName, Guess>> = claimMatch
    ? guessesOf(claimMatch as Json)
    : { aws: principalIn(awsIdentity as Texts) };
  for (const [name, guess] of Object.entries(guesses) as [PresetName, Guess][]) {
    const args = Object.fromEntries(
      Object.entries(guess).filter(([, value]) => value !== undefined),
    ) as PresetUse["args"];
    const preset = presets[name] as unknown as Preset<PresetUse["args"]>;
    if (presetProblems(preset as Preset, args).length > 0) continue;
    if (equalityKey(preset.relationship(args)) === equalityKey({ claimMatch, awsIdentity })) return { name, args };
  }
  return undefined;
};

/** A pattern as an argument of a preset. For any other pattern, a text that the preset does not write. */
const wildcardText = (pattern = "") => pattern.replaceAll("[^/:]*", "*").replace(/\\([^\w\s])/g, "$1");

const unless = (usual: string, issuer: string | undefined) => (issuer === usual ? undefined : issuer);

/** The arguments that a pattern names. */
const partsIn = (pattern: RegExp, text: string): Texts => pattern.exec(text)?.groups ?? {};

const REF = "refs/(?:heads/(?<branch>.+)|tags/(?<tag>.+))";

/** The preset's pattern for all repositories of an owner with an id: `repo:acme(?:@12)?/*(?:@[0-9]+)?:pull_request` */
const OWNER_ID = /^repo:([^/:@(]+)\(\?:@(\d+)\)\?\/([^/:@(]+)\(\?:@\[0-9\]\+\)\?:/;

const GITHUB = new RegExp(
  String.raw`^repo:(?<repository>[^:]+):(?:ref:${REF}|environment:(?<environment>.+)|(?<event>pull_request)|\.\+)$`,
  "s",
);
const GITLAB = /^project_path:(?<project>[^:]+):ref_type:(?:branch:ref:(?<branch>.+)|tag:ref:(?<tag>.+))$/s;
// The commit and the step may contain a slash, so they are not wildcards of a preset.
const BUILDKITE = new RegExp(
  String.raw`^organization:(?<organization>[^:]+):pipeline:(?<pipeline>[^:]+):ref:${REF}:commit:\[\^:\]\*:step:\[\^:\]\*$`,
  "s",
);
const KUBERNETES = /^system:serviceaccount:(?<namespace>[^:]+):(?<serviceAccount>[^:]+)$/s;
const PRINCIPAL =
  /^arn:(?<partition>[^:]+):(?:sts::[^:]*:assumed-role\/(?<role>[^/]+)\/(?<session>.+)|iam::[^:]*:user\/(?<user>.+))$/s;

const guessesOf = (match: Json): Partial<Record<PresetName, Guess>> => {
  const { issuer, subjectPattern, subject = wildcardText(subjectPattern as string), audience } = match as Texts;
  const { claims = {}, claimPatterns = {} } = match as Readonly<Record<string, Texts>>;
  const { repository, environment, event, ...ref } = partsIn(GITHUB, subject.replace(OWNER_ID, "repo:$1/$3:"));
  const { project, ...projectRef } = partsIn(GITLAB, subject);
  return {
    github: {
      ...{ repository, ownerId: OWNER_ID.exec(subject)?.[2], issuer: unless(GITHUB_ISSUER, issuer), audience, ...ref },
      ...{ environment: environment?.replaceAll("%3A", ":"), event: event ?? claims.event_name },
    },
    gitlab: {
      ...{ project, issuer: unless(GITLAB_ISSUER, issuer), audience, ...projectRef },
      protected: claims.ref_protected === undefined ? undefined : claims.ref_protected === "true",
    },
    buildkite: { ...partsIn(BUILDKITE, subject), audience },
    kubernetes: { issuer, ...partsIn(KUBERNETES, subject), audience },
    google: {
      uniqueId: /^\d+$/.test(subject) ? subject : undefined,
      email: claims.email ?? (claimPatterns.email && wildcardText(claimPatterns.email)),
      audience,
    },
  };
};

const principalIn = ({ awsAccount, arn, arnPattern, userId, userIdPattern }: Texts): Guess => {
  const [name, id] = [
    [arn, arnPattern],
    [userId, userIdPattern],
  ].map(([exact, pattern]) => exact ?? wildcardText(pattern?.replace(/\[\^\/:\]\+$/, "*"))) as [string, string];
  const { partition, session, ...who } = partsIn(PRINCIPAL, name);
  return {
    account: awsAccount,
    partition: partition === "aws" ? undefined : partition,
    uniqueId: /^A(?:ROA|IDA)[A-Z0-9]+(?=:|$)/.exec(id)?.[0],
    ...who,
    session: session === "*" ? undefined : session,
  };
};
