// `irm review --policy`: the effect of a policy's change, by the program of the base.
import { posix, resolve } from "node:path";
import { type BaseRevision, pathAt, pathInRepository } from "../../access/base/revision.ts";
import { LOCK } from "../../access/roles/lock.ts";
import { TESTS, testsBeside } from "../../access/test/file.ts";
import { UsageError } from "../irm-command.ts";
import type { TestsFlags } from "../review-rules.ts";
import { type PolicyFile, type PolicyProject, policyFiles, projectAt, withPolicyProject } from "./files.ts";

interface PolicyReview {
  at: BaseRevision;
  files: readonly PolicyFile[];
  /** paths that the change edits beside the policy */
  others: readonly string[];
  /** those of them that count for nothing in this review */
  notPart: readonly string[];
}

/** Undefined without --policy. `rules`: path of the file of rules. Throws a UsageError, TextFileError and BaseError. */
export const policyReview = (
  flags: TestsFlags & { stack?: string; destroy?: boolean },
  at: BaseRevision | undefined,
  folder: string,
  rules: string | undefined,
): PolicyReview | undefined => {
  const { policy: named, stack = process.env.PULUMI_STACK, destroy, tests } = flags;
  if (named === undefined) return undefined;
  const problems = [
    at === undefined &&
      "--policy needs --base REF: the program comes from there, and the policy from the work tree. Without a program, npx pulumi-irm check and npx pulumi-irm test read a policy",
    !stack && "--policy needs --stack NAME: the stack that is selected here is not that of the base",
    destroy && "--policy and --destroy cannot be combined: everything goes, whatever the policy says",
  ].filter((one) => typeof one === "string");
  if (at === undefined || problems.length > 0) throw new UsageError(problems.join("\n"));
  const files = policyFiles(named, at, folder);
  const isPolicy = new Set(files.map(({ path }) => path));
  const others = at.repository.changedSince(at.commit).filter((path) => !isPolicy.has(path));
  const policies = named.flatMap((name) => pathAt(resolve(folder, name), at) ?? []);
  const folders = [at.folder, projectAt(at) ?? "", ...policies.map(posix.dirname)];
  const judged = new Set([
    rules,
    tests === undefined ? undefined : pathInRepository(at.repository, tests),
    ...policies.map(testsBeside),
    ...folders.flatMap((one) => [TESTS, LOCK].map((name) => posix.join(one, name))),
  ]);
  return { at, files, others, notPart: others.filter((path) => !judged.has(path)) };
};

/** Calls the function with the project that runs: that of this folder, or the one of a review of a policy. */
export const inProject = <T>(
  policy: PolicyReview | undefined,
  signal: AbortSignal,
  act: (project: PolicyProject) => Promise<T>,
): Promise<T> =>
  policy === undefined ? act({ cwd: process.cwd(), env: process.env }) : withPolicyProject({ ...policy, signal }, act);

/** For the user, on stderr. */
export const noticesOf = ({ notPart }: PolicyReview): string[] => {
  const more = notPart.length - NAMED_MAX;
  const names = [...notPart.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])];
  return names.length === 0 ? [] : [`not part of this review: ${names.join(", ")}`];
};

const NAMED_MAX = 10;

/** The limits of the review. */
export const doubtsOf = ({ files, at: { ref } }: PolicyReview): { subject: string; message: string }[] =>
  files
    .filter(({ isNew }) => isNew)
    .map(({ path }) => ({
      subject: path,
      message: `${path} is not at ${ref}, and its program need not read it: what the file declares may not be in this review`,
    }));
