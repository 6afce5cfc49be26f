// The preset that stands for a relationship: a guess from its texts, which counts only if the preset writes the same, byte for byte.
import type { Json } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import { BUILDKITE_ISSUER } from "../preset/buildkite.ts";
import { GITHUB_ISSUER } from "../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../preset/gitlab.ts";
import { type Preset, presetProblems } from "../preset/preset.ts";
import { type PresetName, presets } from "../preset/presets.ts";
import type { PresetUse } from "./value.ts";

type Guess = Record<string, string | boolean | undefined>;

/** `relationship` is `{ claimMatch }` or `{ awsIdentity }`, as the API's JSON has it. */
export const presetFor = (relationship: Json): PresetUse | undefined => {
  for (const name of Object.keys(GUESSES) as PresetName[]) {
    const guess = GUESSES[name](relationship);
    if (guess === undefined) continue;
    const args = Object.fromEntries(
      Object.entries(guess).filter(([, value]) => value !== undefined),
    ) as PresetUse["args"];
    const preset = presets[name] as unknown as Preset<PresetUse["args"]>;
    if (presetProblems(preset as Preset, args).length > 0) continue;
    if (equalityKey(preset.relationship(args)) === equalityKey(relationship)) return { name, args };
  }
  return undefined;
};

type Claims = Record<string, string>;
interface Match {
  issuer: string;
  /** the subject, with * for what a preset leaves open */
  subject: string;
  audience?: string | undefined;
  claims: Claims;
  claimPatterns: Claims;
}

const matchOf = ({ claimMatch }: Json): Match | undefined => {
  if (claimMatch === undefined) return undefined;
  const { issuer, subject, subjectPattern, audience, claims = {}, claimPatterns = {} } = claimMatch as Json;
  const text = subject ?? (subjectPattern === undefined ? undefined : wildcardText(String(subjectPattern)));
  if (typeof issuer !== "string" || typeof text !== "string") return undefined;
  const rest = { claims: claims as Claims, claimPatterns: claimPatterns as Claims };
  return { issuer, subject: text, audience: audience as string | undefined, ...rest };
};

/** A pattern as an argument of a preset has it. Of any other pattern, something that the preset does not write. */
const wildcardText = (pattern: string): string => pattern.replaceAll("[^/:]*", "*").replace(/\\([^\w\s])/g, "$1");

const unless = (usual: string, issuer: string): string | undefined => (issuer === usual ? undefined : issuer);

const ofMatch =
  (guess: (match: Match) => Guess | undefined) =>
  (relationship: Json): Guess | undefined => {
    const match = matchOf(relationship);
    return match && guess(match);
  };

const refOf = (text = ""): Guess => {
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/s.exec(text) ?? [];
  return kind === "heads" ? { branch: name } : { tag: name };
};

/** What the preset writes for all repositories of an owner with an id: `repo:acme(?:@12)?/*(?:@[0-9]+)?:pull_request` */
const OWNER_ID = /^repo:([^/:@(]+)\(\?:@(\d+)\)\?\/([^/:@(]+)\(\?:@\[0-9\]\+\)\?:/;

const GUESSES: Readonly<Record<PresetName, (relationship: Json) => Guess | undefined>> = {
  github: ofMatch(({ issuer, subject, audience, claims }) => {
    const [, , ownerId] = OWNER_ID.exec(subject) ?? [];
    const plain = subject.replace(OWNER_ID, "repo:$1/$3:");
    const [, repository, ref, environment, pull, open] =
      /^repo:([^:]+):(?:ref:(.+)|environment:(.+)|(pull_request)|(\.\+))$/s.exec(plain) ?? [];
    const own = { repository, ownerId, issuer: unless(GITHUB_ISSUER, issuer), audience };
    if (ref !== undefined) return { ...own, ...refOf(ref) };
    if (environment !== undefined) return { ...own, environment: environment.replaceAll("%3A", ":") };
    if (pull !== undefined) return { ...own, event: pull };
    return open === undefined ? undefined : { ...own, event: claims.event_name };
  }),
  gitlab: ofMatch(({ issuer, subject, audience, claims }) => {
    const [, project, type, ref] = /^project_path:([^:]+):ref_type:(branch|tag):ref:(.+)$/s.exec(subject) ?? [];
    if (project === undefined) return undefined;
    const { ref_protected: isProtected } = claims;
    const own = { project, issuer: unless(GITLAB_ISSUER, issuer), audience };
    const guarded = isProtected === undefined ? undefined : isProtected === "true";
    return { ...own, ...(type === "branch" ? { branch: ref } : { tag: ref }), protected: guarded };
  }),
  // The commit and the step may hold a slash, so they are no wildcards of a preset.
  buildkite: ofMatch(({ issuer, subject, audience }) => {
    const [, organization, pipeline, ref] =
      /^organization:([^:]+):pipeline:([^:]+):ref:(.+):commit:\[\^:\]\*:step:\[\^:\]\*$/s.exec(subject) ?? [];
    if (issuer !== BUILDKITE_ISSUER || organization === undefined) return undefined;
    return { organization, pipeline, ...refOf(ref), audience };
  }),
  kubernetes: ofMatch(({ issuer, subject, audience }) => {
    const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/s.exec(subject) ?? [];
    return namespace === undefined ? undefined : { issuer, namespace, serviceAccount, audience };
  }),
  google: ofMatch(({ subject, audience, claims, claimPatterns }) => {
    const pattern = claimPatterns.email === undefined ? undefined : wildcardText(claimPatterns.email);
    return { uniqueId: /^\d+$/.test(subject) ? subject : undefined, email: claims.email ?? pattern, audience };
  }),
  aws: ({ awsIdentity }) => {
    if (awsIdentity === undefined) return undefined;
    const { awsAccount, arn, arnPattern, userId, userIdPattern } = awsIdentity as Record<string, string | undefined>;
    const name = arn ?? wildcardText((arnPattern ?? "").replace(/\[\^\/:\]\+$/, "*"));
    const id = userId ?? wildcardText((userIdPattern ?? "").replace(/\[\^\/:\]\+$/, "*"));
    const [, partition, role, session] = /^arn:([^:]+):sts::[^:]*:assumed-role\/([^/]+)\/(.+)$/s.exec(name) ?? [];
    const own = (part: string | undefined): Guess => ({
      account: awsAccount,
      partition: part === "aws" ? undefined : part,
      uniqueId: /^A(?:ROA|IDA)[A-Z0-9]+(?=:|$)/.exec(id)?.[0],
    });
    if (role !== undefined) return { ...own(partition), role, session: session === "*" ? undefined : session };
    const [, userPartition, user] = /^arn:([^:]+):iam::[^:]*:user\/(.+)$/s.exec(name) ?? [];
    return user === undefined ? undefined : { ...own(userPartition), user };
  },
};
