// The inputs of the GitHub Action (action.yml) and of the GitLab include (templates/gitlab.yml). Each arrives in a variable: `stack-name` in
// IRM_CI_STACK_NAME.
import { posix } from "node:path";
import { isUidp, suggestion, UserError } from "../schema/index.ts";

/** The host asks people before the job begins, or they merge the change after its review. */
const APPROVALS = ["approved", "merged"] as const;
type Approval = (typeof APPROVALS)[number];

export interface Settings {
  command?: Command;
  stack?: string;
  /** of the program, from the top level of the checkout */
  workDir: string;
  /** files of policies, from workDir: the program of the base reviews them */
  policy?: string[];
  /** a change that another job has written: its review needs no program */
  change?: string;
  rules?: string;
  tests?: string;
  deny: string[];
  allow: string[];
  driftAllow: string[];
  services: string[];
  /** uid of the identity that a command assumes */
  identities: Partial<Record<Command, string>>;
  branch?: string;
  cloudUrl?: string;
  comment: boolean;
  issue: boolean;
  apply: Approval;
  /** of the reviewed change, from the job of its review: the only change to apply */
  digest?: string;
  /** of that change and of the merged change */
  changeFolder?: string;
  /** of the files that the steps of a job share */
  folder?: string;
}

const PREFIX = "IRM_CI_";
const NOT_INPUTS = ["IRM_CI_INPUTS", "IRM_CI_FOLDER", "IRM_CI_CHANGE_FOLDER", "IRM_CI_TOKEN"];

/** The inputs, without tokens, as one text: a later step reads it as IRM_CI_INPUTS. */
export const inputsText = (env: NodeJS.ProcessEnv): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(env).filter(([name, value]) => name.startsWith(PREFIX) && !NOT_INPUTS.includes(name) && value),
    ),
  );

/** The inputs, and all their problems. */
export const readSettings = (given: NodeJS.ProcessEnv): { settings: Settings; problems: string[] } => {
  const env: NodeJS.ProcessEnv = { ...given, ...JSON.parse(given.IRM_CI_INPUTS || "{}") };
  const problems: string[] = [];
  const input = (name: string) => env[`${PREFIX}${name.toUpperCase().replaceAll("-", "_")}`]?.trim() || undefined;
  const lines = (name: string) => {
    const texts = (input(name) ?? "").split("\n").map((line) => line.trim());
    return texts.filter((line) => line !== "");
  };
  const check = (name: string, isRight: (text: string) => boolean, wanted: string) => {
    const text = input(name);
    if (text === undefined || isRight(text)) return text;
    problems.push(`${name}: ${JSON.stringify(text)} is not ${wanted}`);
    return undefined;
  };
  const flag = (name: string) => {
    const text = check(name, (one) => /^(?:true|false)$/.test(one), "true or false");
    return text === undefined || text === "true";
  };
  const identity = (name: string) => check(name, isUidp, "the uid of an identity");

  const command = input("command");
  const isCommand = COMMANDS.some((one) => one === command);
  if (command !== undefined && !isCommand)
    problems.push(
      `command: ${JSON.stringify(command)} is not one of ${COMMANDS.join(", ")}${suggestion(command, COMMANDS)}`,
    );
  const apply = check("apply", (text) => APPROVALS.some((one) => one === text), APPROVALS.join(" or "));
  const [reads, writes] = [identity("preview-identity"), identity("up-identity")];
  if (reads !== undefined && reads === writes)
    problems.push(
      "preview-identity and up-identity are the same: a pull request would have the rights of the main branch. Give pull requests an identity that may only read",
    );
  const policy = lines("policy");
  const settings: Settings = {
    ...(isCommand && { command: command as Command }),
    ...defined({
      // https://www.pulumi.com/docs/iac/concepts/stacks/#create-stack
      stack: check(
        "stack-name",
        (text) => /^[\w.-]+(?:\/[\w.-]+){0,2}$/.test(text),
        "the name of a stack, such as production or acme/access/production",
      ),
      policy: policy.length > 0 ? policy : undefined,
      change: input("change"),
      rules: input("rules"),
      tests: input("tests"),
      branch: input("branch"),
      cloudUrl: input("cloud-url"),
      folder: input("folder"),
      digest: check(
        "digest",
        (text) => /^sha256:[0-9a-f]{64}$/.test(text),
        "the digest of a change, as sha256: and 64 hexadecimal digits",
      ),
      changeFolder: input("change-folder"),
    }),
    apply: (apply as Approval | undefined) ?? "approved",
    workDir: posix.normalize(input("work-dir") ?? ".").replace(/(?<=.)\/$/, ""),
    deny: lines("deny"),
    allow: lines("allow"),
    driftAllow: lines("drift-allow"),
    services: lines("service"),
    identities: defined({ preview: reads, drift: reads, apply: writes, up: writes }),
    comment: flag("comment-on-pr"),
    issue: flag("open-issue"),
  };
  if (settings.policy !== undefined && settings.change !== undefined)
    problems.push("policy and change cannot be combined");
  return { settings, problems };
};

/** Missing and contradictory inputs of this command. */
export const problemsOf = (settings: Settings, command: Command, env: NodeJS.ProcessEnv): string[] => {
  const problems: string[] = [];
  if (settings.stack === undefined && runsEngine(settings, command))
    problems.push(`stack-name: ${command} needs the name of the stack`);
  if (settings.digest === undefined && command === "apply")
    problems.push(
      "digest: apply needs the digest of the review, an output of the job that made it. A review that did not end with 0 has none",
    );
  const token = ["IRM_TOKEN", "IRM_TOKEN_FILE"].find((name) => env[name]);
  if (token !== undefined && settings.identities[command] !== undefined)
    problems.push(
      `${token} is set, and would count in the place of the identity of ${command}: leave out the variable or the input`,
    );
  return problems;
};

/** Whether an engine runs the program of the checkout, or of the base. */
export const runsEngine = ({ change }: Settings, command: Command): boolean =>
  command !== "preview" || change === undefined;

/** Distinguishes the comments, issues and files of several stacks. */
export const subjectOf = ({ workDir, policy = [], stack }: Settings): string[] => [
  ...(workDir === "." ? [] : [workDir]),
  ...policy,
  ...(stack === undefined ? [] : [stack]),
];

/** The subject as one unique text, for an HTML comment, which ends at `--`, and for the key of a cache, which cannot contain commas. */
export const keyOf = (settings: Settings): string => subjectOf(settings).map(encode).join(":") || ".";

/** Escapes each byte of UTF-8 but letters, digits and a few signs. */
const encode = (text: string) =>
  Buffer.from(text)
    .toString("latin1")
    .replace(/[^\w./]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);

const defined = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

// The job of a pipeline: its subject, its command and its identity. A proposed change never runs with the rights of its target branch.

const COMMANDS = ["preview", "apply", "up", "drift"] as const;
export type Command = (typeof COMMANDS)[number];

export interface Job {
  /** in the words of its host: `pull_request` */
  event: string;
  /** a proposed change, or a branch */
  about: { change: Change } | { branch: string | undefined };
  /** hash of its commit; of a proposed change, the merge commit that the host makes to test it */
  commit?: string | undefined;
  /** the default branch of the repository */
  mainBranch: string | undefined;
  /** its command without the input of that name; undefined: somebody started it by hand */
  usual: Command | undefined;
  run: { id: number; url: string };
}

/** A pull request, a merge request, or an entry of a merge queue. */
export interface Change {
  /** undefined for a merge queue */
  number: number | undefined;
  /** hash of its newest commit */
  head: string | undefined;
}

/** The job may not run its command. */
export class RefusedJob extends UserError {
  override readonly name = "RefusedJob";
}

/** One refusal for all jobs of forks: a host gives them tokens only if somebody has changed its settings. */
export const forkRefusal = (change: string): RefusedJob =>
  new RefusedJob(
    `this ${change} comes from a fork, whose author need not have any right here. Its job gets neither a token nor a comment, and there is no review. To get one, read the change, push it to a branch of this repository, and open a ${change} from there`,
  );

/** The command of a job. Throws a RefusedJob for a command that may not run here. */
export const commandOf = (
  { event, about, mainBranch, usual }: Job,
  { command = usual, branch }: { command?: Command; branch?: string },
): Command => {
  if (command === undefined)
    throw new RefusedJob(`${event} may be for any command: give the input command, one of ${COMMANDS.join(", ")}`);
  const main = branch ?? mainBranch;
  if (command === "preview") return command;
  const runsOn = `${command} runs on ${main === undefined ? "the main branch" : `the branch ${main}`} alone`;
  if ("change" in about)
    throw new RefusedJob(`${runsOn}, after the merge: this job is of a ${event}, and its author chooses the program`);
  if (main === undefined || about.branch !== main)
    throw new RefusedJob(
      `${runsOn}, and this job is of ${about.branch === undefined ? "no branch" : `the branch ${about.branch}`}`,
    );
  return command;
};
