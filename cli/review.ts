// `irm review`: the change in access that a preview or a policy brings, in one of the formats.
import { dirname } from "node:path";
import { baseOf } from "../access/base/at.ts";
import { BaseError } from "../access/base/git.ts";
import { reviewAsHtml } from "../access/format/html/review.ts";
import { reportAsJson } from "../access/format/review/json.ts";
import { reportAsMarkdown } from "../access/format/review/markdown.ts";
import { reportAsText } from "../access/format/review/terminal.ts";
import type { Live } from "../access/graph/live.ts";
import { readHeldRecords } from "../access/graph/live-contents.ts";
import { exportStack, StackError } from "../access/policy/export-stack.ts";
import {
  type Adoption,
  adoptionsOf,
  mistakeText,
  type Policy,
  type PolicyStack,
  policyGraph,
  policyStackFrom,
  policyStackIn,
  readPolicy,
  removedBy,
  TextFileError,
  uidsBeside,
  withAdoptions,
} from "../access/policy/index.ts";
import type { ParsedPolicy } from "../access/policy/parse.ts";
import { deletedGroupsIn, planFrom } from "../access/preview/plan.ts";
import { stackIn, storedStates } from "../access/preview/resource.ts";
import { type Preview, PreviewError } from "../access/preview/shape.ts";
import { reviewOf } from "../access/review/index.ts";
import { proposalFromPolicy } from "../access/review/policy.ts";
import type { Proposal } from "../access/review/proposal.ts";
import type { Review } from "../access/review/report.ts";
import { joinProposals, joinReviews } from "../access/review/services.ts";
import { unseenTakeovers } from "../access/review/takeovers.ts";
import { possibleTwins } from "../access/review/twins.ts";
import { LockError } from "../access/roles/lock.ts";
import { contentFor } from "../access/seal/begun.ts";
import { type Sealing, sealOf } from "../access/seal/make.ts";
import { type Seal, type SealContent, sealText, sealed as withDigest } from "../access/seal/seal.ts";
import { runChangeTests, type StackOf } from "../access/test/change.ts";
import type { Client } from "../client/client.ts";
import { printable } from "../schema/index.ts";
import { clientErrorText, systemConfig } from "./client.ts";
import { engineArguments } from "./engine-arguments.ts";
import { engineCommand } from "./engine-command.ts";
import type { Format } from "./format.ts";
import { originOf } from "./origin.ts";
import { previewHere, savedPreview } from "./preview.ts";
import type { Rights } from "./rehearse/actor.ts";
import { rehearsalCode, rehearsalErrorText, rehearsalOptions, rehearseHere } from "./rehearse/here.ts";
import { rolesReview } from "./review-roles.ts";
import { type RulesFlags, reviewRules } from "./review-rules.ts";
import { policyAtBase, reviewTests, TestsError, type TestsFlags, wrongTests } from "./review-tests.ts";
import { checkSealFile, parseSealDays, SEAL_DAYS, SealWriteError, writeSeal } from "./seal.ts";
import { clientsOf, firstOf, mergeLive, readServices, servicesFrom } from "./services.ts";
import { print, printError, printStyled, stdoutStyle } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface ReviewFlags extends RulesFlags, TestsFlags {
  preview?: string;
  policy?: string;
  stack?: string;
  exclusive?: boolean;
  service?: readonly string[];
  /** file that the seal is written to */
  seal?: string;
  sealDays?: string;
  rehearse?: boolean;
  /** of --rehearse */
  as?: string;
  rights?: Rights;
  rateLimit?: string;
  /** words after `--` */
  engine?: readonly string[];
  format: Format;
}

const DENIED = 3;

export const review = async (flags: ReviewFlags): Promise<number> => {
  try {
    const made = await makeReview(flags);
    printIn[flags.format](made);
    return reviewCode(made);
  } catch (error) {
    const text = reviewErrorText(error);
    if (text === undefined) throw error;
    printError("irm review", text);
    return 1;
  }
};

/** The exit code of a review: the highest of its own and of the rehearsal. */
export const reviewCode = ({ report }: Review): number => {
  const own = report.findings.some(({ denied }) => denied) ? DENIED : 0;
  return Math.max(own, report.rehearsal ? rehearsalCode(report.rehearsal) : 0);
};

/** Why there is no review; undefined for an error that the command does not expect. */
export const reviewErrorText = (error: unknown): string | undefined => {
  const isOwn = [
    ...[PreviewError, PolicyError, StackError, BaseError],
    ...[TestsError, SealWriteError, LockError, TextFileError],
  ].some((one) => error instanceof one);
  return isOwn ? (error as Error).message : (rehearsalErrorText(error) ?? clientErrorText(error));
};

/** Throws a UsageError for wrong flags, and errors for which `reviewErrorText` has a text. */
export const makeReview = async ({ seal: file, sealDays, ...flags }: Omit<ReviewFlags, "format">): Promise<Review> => {
  if (file === undefined) {
    if (sealDays !== undefined) throw new UsageError("--seal-days is for --seal");
    const { made, rehearse } = await sealableReview(flags);
    await rehearse?.();
    return made;
  }
  if (flags.policy !== undefined)
    throw new UsageError("--seal and --policy cannot be combined: a seal has the steps of a program");
  const days = parseSealDays(sealDays);
  checkSealFile(file);
  const { made, seal } = await makeSealedReview(flags, days);
  writeSeal(file, seal);
  return made;
};

/** The same of a program, with its seal. */
export const makeSealedReview = async (
  flags: Parameters<typeof sealableReview>[0],
  days: number = SEAL_DAYS.usual,
): Promise<{ made: Review; seal: Seal }> => {
  const { made, sealed, rehearse } = await sealableReview(flags);
  const seal = withDigest(sealed(days));
  await rehearse?.(seal);
  made.report.seal = { digest: seal.digest, expires: seal.origin.expires };
  return { made, seal };
};

interface Sealable {
  made: Review;
  /** What is sealed of it, for so many days. Of a policy there is no seal. */
  sealed(days: number): SealContent;
  /** The same to compare with this seal: what a run under it has done is still to be done. */
  sealedAs(seal: SealContent): SealContent;
  /** Adds the rehearsal to the review, under the seal where there is one; absent: none is asked for. */
  rehearse?(seal?: Seal): Promise<void>;
  /** by the clock of the service */
  nowMs: number;
}

/** The review, and what a seal of it has. */
export const sealableReview = async (flags: Omit<ReviewFlags, "format" | "seal" | "sealDays">): Promise<Sealable> => {
  const given = (["preview", "policy", "stack"] as const).filter((name) => flags[name] !== undefined);
  const isOfStack = given.join() === "policy,stack";
  if (given.length > 1 && !isOfStack)
    throw new UsageError(`${given.map((name) => `--${name}`).join(" and ")} cannot be combined`);
  const services = servicesFrom(flags.service ?? [], process.env);
  const options = flags.rehearse ? rehearsalOptions(flags) : undefined;
  const engine = engineArguments(flags.engine ?? []);
  const fixed = (["preview", "policy"] as const).find((name) => flags[name] !== undefined);
  if (engine.length > 0 && fixed)
    throw new UsageError(`arguments after -- are for the engine, which --${fixed} does not run`);
  if (flags.rehearse && fixed)
    throw new UsageError(`--rehearse runs the program of this folder, and --${fixed} does not`);
  const idle = (["as", "rights", "rateLimit"] as const).find((name) => flags[name] !== undefined && !flags.rehearse);
  if (idle) throw new UsageError(`--${idle === "rateLimit" ? "rate-limit" : idle} is for --rehearse`);
  if (flags.exclusive && flags.policy === undefined) throw new UsageError("--exclusive is for --policy");
  const at = baseOf(flags, process.env, process.cwd());
  const { verdict, source, changed, notice } = reviewRules(flags, at, process.cwd());
  for (const text of [at?.notice, notice]) if (text !== undefined) printNotice(text);
  const { propose, stack, stackOf, policy, clients, preview, proposeBy } = await proposerOf(
    { ...flags, engine },
    services,
  );
  const tests = reviewTests(flags, at, process.cwd(), policy);
  const lives = await readServices(clients);
  const nowMs = firstOf(clients).clock.today();
  // What is younger than the review is found by the clock of the service.
  const sealedMs = await firstOf(clients).serviceNow();
  const base = at && flags.policy !== undefined ? policyAtBase(flags.policy, at, process.cwd()) : undefined;
  const proposals = await propose(lives, base);
  const atServices = [...proposals].map(([address, proposal]) => ({ proposal, live: lives.get(address) as Live }));
  const { results, mistakes } = runChangeTests(tests.sides, atServices, nowMs, stackOf);
  if (mistakes.length > 0) throw new TestsError(wrongTests(mistakes));
  const roles = rolesReview(lives, { at, policy: flags.policy, nowMs, preview });
  const [first] = proposals.keys();
  const reviewedAt = (service: string, own: Proposal, live = lives.get(service) as Live): Review => {
    const ofAll = {
      changedRules: [...changed, ...tests.changed, ...roles.changedLock],
      ...(at?.other && { otherBranch: at.other }),
      tests: results,
    };
    return reviewOf(own, {
      ...verdict,
      ...(source && { rules: source }),
      ...(service === first && ofAll),
      notVisible: live.notVisible,
      nowMs,
      times: live,
      service,
    });
  };
  const made = joinReviews(new Map([...proposals].map(([service, own]) => [service, reviewedAt(service, own)])));
  const proposal = joinProposals([...proposals.values()]);
  if (roles.changes.length > 0) made.report.roles = roles.changes;
  for (const text of made.unknownSubjects) printNotice(text);
  made.report.origin = originOf({
    stack,
    service: [...clients.keys()].join(", "),
    folder: folderOf(flags),
    nowMs,
  });
  const sealing = (days: number = SEAL_DAYS.usual): Sealing => {
    if (preview === undefined) throw new TypeError("a policy has no steps");
    return { preview, proposal, report: made.report, services: [...clients.keys()], days, nowMs: sealedMs };
  };
  const sealable: Sealable = {
    ...{ made, nowMs: sealedMs },
    sealed: (days) => sealOf(sealing(days)),
    sealedAs: (seal) => {
      const live = mergeLive(lives);
      const reportOf = (own: Proposal) => reviewedAt(first as string, own, live).report;
      return contentFor(seal, sealing(), { createdAt: live.createdAt, reportOf });
    },
  };
  if (!options || !preview || !proposeBy) return sealable;
  const proposalOf = async (own: Preview) => joinProposals([...(await proposeBy(own, lives)).values()]);
  const rehearse: Sealable["rehearse"] = async (seal) => {
    const rehearsed = { ...options, stack: flags.stack, arguments: engine, preview, proposal, proposalOf, clients };
    made.report.rehearsal = await rehearseHere({ ...rehearsed, ...(seal && { seal: sealText(seal) }) });
  };
  return { ...sealable, rehearse };
};

const printNotice = (text: string): void => {
  process.stderr.write(`irm review: ${printable(text)}\n`);
};

/** Reads what is proposed before the API is asked: the engine runs for long, and the API may change meanwhile. */
export const proposerOf = async (
  { preview, policy, stack, exclusive, engine }: Omit<ReviewFlags, "format">,
  services: ReturnType<typeof servicesFrom>,
): Promise<Proposer> => {
  if (policy !== undefined) return policyProposer(policy, stack, exclusive === true);
  const previewed =
    preview === undefined ? await previewHere(stack, services, {}, engine) : await savedPreview(preview, services);
  const { preview: parsed, clients, hereAt } = previewed;
  const proposeBy: NonNullable<Proposer["proposeBy"]> = async (own, lives) => {
    const all = [...lives].map(async ([address, live]): Promise<[string, Proposal]> => {
      const groups = deletedGroupsIn(parsed, hereAt(address));
      const held = await readHeldRecords(clients.get(address) as Client, groups);
      return [address, planFrom(own, live, held, hereAt(address))];
    });
    return new Map(await Promise.all(all));
  };
  const stackOf: StackOf = (one) => {
    try {
      return policyStackIn(storedStates(parsed), one);
    } catch {
      // several policies of one organization: names decide which record a test means
      return undefined;
    }
  };
  return {
    propose: (lives) => proposeBy(parsed, lives),
    proposeBy,
    stack: stackIn(parsed) ?? stack,
    ...{ stackOf, clients, preview: parsed },
  };
};

/** By address of the service. */
type Lives = ReadonlyMap<string, Live>;
type Proposals = ReadonlyMap<string, Proposal>;

export interface Proposer {
  /** `base` is the policy before the change; absent: there is no base */
  propose(lives: Lives, base?: { policy?: Policy }): Proposals | Promise<Proposals>;
  /** the same of another preview of the program */
  proposeBy?: (preview: Preview, lives: Lives) => Promise<Proposals>;
  /** of the program */
  stack?: string | undefined;
  stackOf: StackOf;
  /** by address, at least one: the first is the service of the environment, where it names one */
  clients: ReadonlyMap<string, Client>;
  /** of --policy */
  policy?: ParsedPolicy;
  /** of a program */
  preview?: Preview;
}

/** The folder of the policy, or of the program. */
const folderOf = ({ policy }: Pick<ReviewFlags, "policy">): string =>
  policy === undefined ? process.cwd() : dirname(policy);

/** The file and the API disagree about what is meant, or the file has mistakes. */
class PolicyError extends Error {
  override readonly name = "PolicyError";
}

const policyProposer = async (file: string, stackName: string | undefined, isExclusive: boolean): Promise<Proposer> => {
  const clients = clientsOf(systemConfig(), []);
  const read = readPolicy(file);
  const { policy } = read;
  if (!policy) throw new PolicyError(textOfMistakes(read.mistakes));
  const folders = [dirname(file), ...(stackName === undefined ? [] : [process.cwd()])];
  const exported = await exportStack(engineCommand(), folders, stackName);
  const stack = exported?.text === undefined ? undefined : stackFrom(exported.text, policy);
  const adoptions = adoptionsBy(file, policy, stack);
  const known = adoptions ? withAdoptions(stack, adoptions) : stack;
  return {
    propose(lives, base) {
      // A policy has the service of the environment.
      const [[address, live] = []] = [...lives];
      if (address === undefined || live === undefined) throw new TypeError("a policy has a service");
      const wanted = policyGraph(policy, live.graph, known);
      const { graph, organization, mistakes } = wanted;
      if (mistakes.length > 0) throw new PolicyError(textOfMistakes(mistakes));
      const before = identitiesBefore(stack, base, live);
      const twins = before ? possibleTwins(wanted, live.graph, before) : [];
      const isRemoved = stack ? removedBy(stack, live.graph) : () => false;
      const proposal = proposalFromPolicy(graph, live, isExclusive ? undefined : isRemoved);
      const unknown = exported && !stack ? [{ subject: "", message: noStackText(adoptions !== undefined) }] : [];
      const own = {
        ...proposal,
        unknown: [...unknown, ...unseenTakeovers(wanted, adoptions ?? []), ...twins, ...proposal.unknown],
        organizations: new Set([organization]),
      };
      return new Map([[address, own]]);
    },
    stack: stack && exported?.name,
    // A test of the base is about the records of the base, whatever adopt.json of the change says.
    stackOf: (one) => (one === policy ? known : stack),
    clients,
    policy: read,
  };
};

/** The identities that the policy had before this change; undefined: no source names them. */
const identitiesBefore = (stack: PolicyStack | undefined, base: { policy?: Policy } | undefined, { graph }: Live) => {
  if (stack) return { ids: new Set(stack.identities.values()), source: "the stack" };
  if (base?.policy)
    return { ids: new Set(policyGraph(base.policy, graph).identities.values()), source: "the policy of the base" };
  return base && { ids: new Set<string>(), source: "the base" };
};

const noStackText = (hasUids: boolean): string =>
  `no stack with this policy is selected beside it, so records match by ${hasUids ? "the uids of adopt.json, and otherwise by their names" : "their names"}: ` +
  "what a stack would rename or remove is not known; give --stack";

/** The records that the program takes over by the uids beside the policy, if it has them as `adopt`. Undefined without the file. */
const adoptionsBy = (file: string, policy: Policy, stack: PolicyStack | undefined): Adoption[] | undefined => {
  let beside: ReturnType<typeof uidsBeside>;
  try {
    beside = uidsBeside(file);
  } catch (error) {
    throw error instanceof TextFileError ? new PolicyError(error.message) : error;
  }
  if (!beside) return undefined;
  const { adoptions, problems } = adoptionsOf(policy, beside.uids, stack);
  const { name } = beside;
  if (problems.length > 0) throw new PolicyError(problems.map((one) => `${name}: ${printable(one)}`).join("\n"));
  return adoptions;
};

const stackFrom = (text: string, policy: Policy): PolicyStack | undefined => {
  try {
    return policyStackFrom(text, policy);
  } catch (error) {
    throw new PolicyError((error as Error).message);
  }
};

const textOfMistakes = (mistakes: Parameters<typeof mistakeText>[0][]): string =>
  ["the policy has mistakes, so there is no review of it:", ...mistakes.map(mistakeText)].join("\n");

const printIn: Record<Format, (review: Review) => void> = {
  terminal: ({ report }) => printStyled(reportAsText(report, stdoutStyle())),
  markdown: ({ report }) => print(reportAsMarkdown(report)),
  json: ({ report }) => print(reportAsJson(report)),
  html: (made) => print(reviewAsHtml(made)),
};
