// A run without checkpoints needs its journal after it was killed, also when the machine is gone. In CI a folder outlives its job only
// where somebody has seen to that, so there it has to be named.
import { resolve } from "node:path";
import type { Config, Env } from "../../client/config.ts";
import { isWithin } from "../../client/folder.ts";
import { journalFolder } from "./journal-path.ts";

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
