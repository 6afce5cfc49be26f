// A run without checkpoints is refused where its journal could not make up for them: nothing is sent (docs/performance.md#checkpoints).
import { resolve } from "node:path";
import type { Config, Env } from "../../client/config.ts";
import { SessionError } from "../../client/errors.ts";
import { withSection } from "../../client/recovery.ts";
import { isWithin } from "../../pulumi/project.ts";
import { EngineStateError, type StateResource } from "../../pulumi/state.ts";
import { typeOfToken } from "../record/kind.ts";
import { stackOf } from "../run/journal.ts";
import { journalFolder } from "../run/journal-path.ts";
import type { Ledger } from "../run/session.ts";
import type { StepParts } from "./steps.ts";

class Refused extends SessionError {
  override readonly name = "Refused";
}

interface Parts extends Pick<StepParts, "ledger" | "log" | "cwd"> {
  config(): Promise<Config>;
  env: Env;
}

export const uncheckedGate = ({ config, ledger, env, cwd, log }: Parts) => {
  let checked: Promise<void> | undefined;
  const check = async (key: unknown): Promise<void> => {
    const problems = [keptFolderProblem(await config(), env, cwd), await stateProblem(await ledger(), key as string)];
    const found = problems.filter((one) => one !== undefined);
    if (found.length > 0) throw new Refused(withSection([HEAD, ...found].join("\n  - ") + ADVICE, "unchecked"));
  };
  /** Throws before the first write of a run that is not safe. `key` is of a resource of the stack. */
  const require = (key: unknown): Promise<void> => {
    checked ??= check(key);
    return checked;
  };
  let hasWarned = false;
  return {
    require,
    /** Before the first step of a run that says what it is: an update is refused at once, and a preview warns of it. */
    expect: async (key: unknown, isUpdate: boolean): Promise<void> => {
      try {
        await require(key);
      } catch (error) {
        if (isUpdate || !(error instanceof Refused)) throw error;
        if (!hasWarned) log(`warning: the update will fail:\n${error.message}`);
        hasWarned = true;
      }
    },
  };
};

const HEAD = "PULUMI_SKIP_CHECKPOINTS: this run is refused, and nothing is sent:";
const ADVICE = "\nOr unset PULUMI_SKIP_CHECKPOINTS: with checkpoints, nothing of this is needed.";

const SHOWN = 5;

const stateProblem = async (ledger: Ledger, key: string): Promise<string | undefined> => {
  try {
    const { resources } = await ledger.engineState(stackOf(key));
    const others = resources.filter(isOfOther).map(({ urn }) => urn);
    if (others.length === 0) return undefined;
    const more = others.length > SHOWN ? ` and ${others.length - SHOWN} more` : "";
    return (
      "the stack has resources of other providers, which keep no journal: what a killed run did with them would be lost. " +
      `Put them into a stack of their own: ${others.slice(0, SHOWN).join(", ")}${more}`
    );
  } catch (error) {
    if (!(error instanceof EngineStateError)) throw error;
    return `whether the stack has resources of other providers is not known: ${error.message}`;
  }
};

/** A provider itself, and what is only read, is nothing that a run creates. */
const isOfOther = ({ type, custom, external }: StateResource): boolean =>
  custom === true && external !== true && !type.startsWith("pulumi:") && typeOfToken(type) === undefined;

// A run without checkpoints needs its journal after it was killed, also when the machine is gone. In CI a folder outlives its job only
// where somebody has seen to that, so there it has to be named.

/** Set by each CI, or by one that does not set `CI`: Azure Pipelines, Jenkins, TeamCity, AWS CodeBuild. */
const SIGNS = [
  "CI",
  "GITHUB_ACTIONS",
  "GITLAB_CI",
  "TF_BUILD",
  "JENKINS_URL",
  "TEAMCITY_VERSION",
  "CODEBUILD_BUILD_ID",
];

/** Folders that go with the job, or with its checkout: GitHub, GitLab, Azure Pipelines, Jenkins, Buildkite, CircleCI. */
const OF_JOB = [
  ...[
    "RUNNER_TEMP",
    "GITHUB_WORKSPACE",
    "CI_PROJECT_DIR",
    "CI_BUILDS_DIR",
    "AGENT_TEMPDIRECTORY",
    "AGENT_BUILDDIRECTORY",
  ],
  ...["WORKSPACE", "WORKSPACE_TMP", "BUILDKITE_BUILD_CHECKOUT_PATH", "CIRCLE_WORKING_DIRECTORY", "CODEBUILD_SRC_DIR"],
];

const NO = ["", "0", "false"];

const isCi = (env: Env): boolean => SIGNS.some((name) => !NO.includes((env[name] ?? "").toLowerCase()));

/** Why the folder of the journals does not outlive this machine; undefined where it does, as far as the environment says. */
export const keptFolderProblem = ({ journal }: Pick<Config, "journal">, env: Env, cwd: string): string | undefined => {
  if (!isCi(env)) return undefined;
  const folder = resolve(cwd, journalFolder(journal, env));
  const isOfJob = OF_JOB.some(
    (name) => env[name] !== undefined && env[name] !== "" && isWithin(resolve(env[name]), folder),
  );
  if (journal !== undefined && !isOfJob) return undefined;
  const why = isOfJob ? "goes with the job" : "is the usual one, which a runner that starts empty does not have";
  return (
    `in CI it needs a folder of the intent journals that outlives the machine, and ${folder} ${why}. Set IRM_JOURNAL, or irm:journal, ` +
    "to a folder that is kept"
  );
};
