// `irm review`: the change in access by an update of the program, in one of the formats. The update runs on a copy of the organization, and
// the review reads its result there.

import { baseOf } from "../../access/base/revision.ts";
import { digestOf } from "../../access/canonical.ts";
import { type ChangeContent, ChangeError, lifeFrom, unusableText } from "../../access/change/change.ts";
import { afterApart, beforeApart, rowsApart } from "../../access/change/rows.ts";
import { reviewAsHtml } from "../../access/format/html/review.ts";
import { reportAsJson, reviewDocument } from "../../access/format/review/document.ts";
import type { Live } from "../../access/graph/live.ts";
import { policyStackIn } from "../../access/policy/stack.ts";
import { reviewOf } from "../../access/review/index.ts";
import type { Proposal } from "../../access/review/proposal.ts";
import { goesThrough, type Origin, type Review, type RunReport } from "../../access/review/report.ts";
import { joinReviews } from "../../access/review/services.ts";
import { runChangeTests, type StackOf } from "../../access/test/change.ts";
import type { Client } from "../../client/client.ts";
import type { RunOperation } from "../../pulumi/command.ts";
import { UserError } from "../../schema/index.ts";
import { missingLines } from "../copy.ts";
import { engineArguments } from "../engine-command.ts";
import { checkChangeFile, readChange, writeChange } from "../files.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { doubtsOf, inProject, noticesOf, policyReview } from "../policy/review.ts";
import { printDocument } from "../print-document.ts";
import { rolesReview } from "../review-roles.ts";
import { type RulesFlags, reviewRules, reviewTests, type TestsFlags, wrongTests } from "../review-rules.ts";
import type { Rights } from "../run/actor.ts";
import { runOnTwins, type UpdateRun } from "../run/on-twins.ts";
import { checkActor, contentOf, originOfRun, proposalsOf, replayHere, untilStopped } from "../run/proposal.ts";
import { clientsOf, firstOf, previewHere, SERVICE_FLAG, servicesFrom } from "../services.ts";
import { type Format, print, printNotice } from "../terminal.ts";
import { disagreements } from "../twin/sides.ts";

interface ReviewFlags extends RulesFlags, TestsFlags {
  destroy?: boolean;
  stack?: string;
  service?: readonly string[];
  as?: string;
  rights?: Rights;
  /** file that the change is written to */
  out?: string;
  /** words after `--` */
  engine?: readonly string[];
  format: Format;
}

const DENIED = 3;

export const defineCommand = (command: IrmCommand): void => {
  command
    .usage("[CHANGE] [FLAGS] [-- ENGINE...]")
    .description(
      "Runs the update of this folder's program on a copy. Prints who gains and who loses access. Changes neither the service nor the stack.",
    )
    .argument("[CHANGE]", "a change that --out wrote: its writes run on a fresh copy, without the program")
    .argument(
      "[ENGINE...]",
      "arguments for the engine, after --: --target URN, --target-dependents, --replace URN, --exclude URN",
    )
    .repeatable(
      "--policy <FILE>",
      "review this policy with the program of --base; nothing else from the change is read or run; repeatable",
    )
    .option("--destroy", "review the deletion of everything in the stack")
    .option("--stack <NAME>", "the stack to review (default: the selected one)")
    .repeatable(...SERVICE_FLAG)
    .option("--as <UID>", "the identity that will apply the program (default: the caller's)")
    .choice(
      "--rights <OF>",
      "rights of that identity on the copy: operator allows everything; own allows only what its roles grant, so that a refused step fails (default: operator)",
      ["operator", "own"],
    )
    .option(
      "--out <FILE>",
      "write the change into this file: the requests of the update, and the access that they give",
    )
    .formats("terminal", "markdown", "json", "html")
    .repeatable("--deny <RULE>", "exit with 3 on a finding of this rule; repeatable")
    .repeatable(
      "--allow <RULE@SUBJECT>",
      "excuse a rule's finding about an existing record, given by uid or path; repeatable",
    )
    .option(
      "--rules <FILE>",
      "YAML with deny, allow and required, to which the flags add; its path starts at the top level of the repository (default: review.yaml beside Pulumi.yaml)",
    )
    .option(
      "--tests <FILE>",
      "a policy or file of tests that must pass after the change; its path starts at the top level of the repository (default: access.tests.yaml and access.yaml beside Pulumi.yaml)",
    )
    .option(
      "--base <REF>",
      "the commit that the change is merged into, which supplies rules and tests (default: the base of the pull request, in CI)",
    )
    .example("review --stack production --out change.json")
    .runs((first: string | undefined, rest: string[], flags: ReviewFlags) => {
      // Words after -- come without it.
      const file = first?.startsWith("-") ? undefined : first;
      const engine = first !== undefined && file === undefined ? [first, ...rest] : rest;
      return review(file, { ...flags, engine });
    });
};

/** `file` is a change; absent: the program of this folder runs. */
const review = async (file: string | undefined, flags: ReviewFlags): Promise<number> => {
  const made = await makeReview(file, flags);
  const { report } = made;
  if (flags.format === "json") print(reportAsJson(report));
  else if (flags.format === "html") print(reviewAsHtml(made));
  else printDocument(reviewDocument(report), report, flags.format);
  return reviewCode(made);
};

/** 3: a rule denies a finding, the update fails, or the change differs from the recorded one. */
export const reviewCode = ({ report }: Review): number =>
  report.findings.some(({ denied }) => denied) || !goesThrough(report) ? DENIED : 0;

type Flags = Omit<ReviewFlags, "format">;

/** Throws a UsageError for wrong flags, and UserErrors. */
export const makeReview = async (change: string | undefined, flags: Flags): Promise<Review> =>
  change === undefined ? (await reviewProgram(flags)).made : reviewChange(change, flags);

/** The review of the program of this folder, and the change that it is of. */
export const reviewProgram = async (flags: Flags): Promise<{ made: Review; content: ChangeContent }> => {
  const { stack, as, rights, out } = flags;
  const services = servicesFrom(flags.service);
  const engine = engineArguments(flags.engine ?? []);
  checkActor(as);
  if (out !== undefined) checkChangeFile(out);
  const { judged, policy } = judgeBy(flags);
  const operation: RunOperation = flags.destroy ? "destroy" : "up";
  const { previewed, run } = await untilStopped((signal) =>
    inProject(policy, signal, async ({ cwd, env }) => {
      const previewed = await previewHere({ cwd, stack, services }, { operation, more: engine, env, signal });
      const { preview, clients } = previewed;
      const own = { operation, cwd, env, stack, arguments: engine, preview, clients };
      return { previewed, run: await runOnTwins({ ...own, as, rights }, signal) };
    }),
  );
  const { clients } = previewed;
  const { normal } = run;
  const differs = await disagreements(run.services, normal.encodeText);
  const stackOf: StackOf = (one) => {
    try {
      return policyStackIn(run.stored, one);
    } catch {
      // With several policies of one organization, tests find records by their names.
      return undefined;
    }
  };
  const origin = originOfRun(run, stack, clients);
  const life = lifeFrom(await firstOf(clients).serviceNow());
  const content = contentOf({ run, origin, engine, operation, isWhole: !policy?.notPart.length, ...life });
  const report: RunReport = {
    as: run.as,
    steps: [...run.steps],
    errors: [...run.errors],
    others: [...run.others],
    writes: normal.writes.length,
    digest: run.as.uid === null ? "" : digestOf(content),
    differs,
    notCopied: [...run.notCopied],
    notPart: policy && [...policy.notPart],
  };
  const { services: at } = run;
  const made = judged({ at, proposals: proposalsOf(run, previewed), stackOf, report, clients, origin, managed: run });
  if (policy !== undefined) made.report.unknown.push(...doubtsOf(policy));
  if (out !== undefined) {
    if (run.as.uid === null)
      throw new ChangeError("the identity that applies the program is not known, and a change has its uid: give --as");
    writeChange(out, content);
  }
  return { made, content };
};

/** Reviews a change from another run on a fresh copy, without the program, the engine and the stack. */
const reviewChange = async (file: string, flags: Flags): Promise<Review> => {
  const idle = (["policy", "destroy", "stack", "as", "rights", "out"] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (idle) throw new UsageError(`--${idle} is for a program, and ${file} is a change`);
  if (flags.engine?.length) throw new UsageError(`${flags.engine.join(" ")}: ${file} is a change, and no engine runs`);
  const change = readChange(file);
  const { judged } = judgeBy(flags);
  // The flags may name all of its services.
  const clients = clientsOf(servicesFrom(flags.service));
  const nowMs = await firstOf(clients).serviceNow();
  const problem = unusableText(change, { file, given: [...clients.keys()], nowMs });
  if (problem !== undefined) throw new ChangeError(problem);
  const { run, proposals, actor } = await replayHere(change, file, clients);
  const { stack, commit, digest, writes } = change;
  const report: RunReport = {
    as: actor,
    steps: run.outcomes.map(({ n, ok, message }) => ({
      urn: String(n),
      op: writes[n - 1]?.method ?? "",
      ok,
      error: message,
    })),
    errors: [],
    others: [],
    writes: writes.length,
    digest,
    differs: [
      ...rowsApart(change.rows, run.rows),
      ...rowsApart(change.between, run.between),
      ...afterApart(change.after, run.after),
      ...beforeApart(change, run.before),
      ...(await disagreements(run.services, run.encodeText)),
    ],
    notCopied: [...new Set(run.services.flatMap(({ copy }) => missingLines(copy)))],
  };
  const origin = { stack, service: change.services.join(", "), commit, time: change.created };
  return judged({ at: run.services, proposals, stackOf: () => undefined, report, clients, origin });
};

interface Proposed {
  /** before the run */
  at: readonly { address: string; before: Live }[];
  /** by address of the service */
  proposals: ReadonlyMap<string, Proposal>;
  stackOf: StackOf;
  report: RunReport;
  clients: ReadonlyMap<string, Client>;
  origin: Origin;
  /** resources of the stack */
  managed?: Pick<UpdateRun, "stored" | "left">;
}

/** Reads rules, tests and the policy, before anything runs. `judged` judges a proposal by them. */
const judgeBy = (flags: Flags) => {
  const folder = process.cwd();
  const at = baseOf(flags, process.env, folder);
  const { verdict, source, changed, notice } = reviewRules(flags, at, folder);
  const policy = policyReview(flags, at, folder, source?.file);
  for (const text of [at?.notice, notice, ...(policy ? noticesOf(policy) : [])])
    if (text !== undefined) printNotice("irm review", text);
  const tests = reviewTests(flags, at, folder);
  const judged = ({ at: services, proposals, stackOf, report: run, clients, origin, managed }: Proposed): Review => {
    const nowMs = firstOf(clients).clock.today();
    const lives = new Map(services.map(({ address, before }) => [address, before] as const));
    const atServices = [...proposals].map(([address, proposal]) => ({ proposal, live: lives.get(address) as Live }));
    const ran = tests.map(({ sides }) => runChangeTests(sides, atServices, nowMs, stackOf));
    const mistakes = ran.flatMap((one) => one.mistakes);
    if (mistakes.length > 0) throw new UserError(wrongTests(mistakes));
    const roles = rolesReview(lives, { at, policies: flags.policy, nowMs, managed });
    const ofAll = {
      changedRules: [...changed, ...tests.flatMap((one) => one.changed), ...roles.changedLock],
      otherBranch: at?.other,
      tests: ran.flatMap(({ results }) => results),
    };
    const reviews = [...proposals].map(([service, own], i): [string, Review] => {
      const live = lives.get(service) as Live;
      const { notVisible } = live;
      const options = { ...verdict, run, nowMs, service, times: live, notVisible, rules: source };
      return [service, reviewOf(own, { ...options, ...(i === 0 && ofAll) })];
    });
    const made = joinReviews(new Map(reviews));
    made.report.origin = origin;
    if (roles.changes.length > 0) made.report.roles = roles.changes;
    for (const text of made.unknownSubjects) printNotice("irm review", text);
    return made;
  };
  return { judged, policy };
};
