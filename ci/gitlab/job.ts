// A job of GitLab CI/CD, by its predefined variables: https://docs.gitlab.com/ci/variables/predefined_variables/
import { type Change, type Command, forkRefusal, type Job, RefusedJob } from "../job.ts";

const USUAL: Readonly<Record<string, Command | undefined>> = {
  merge_request_event: "preview",
  push: "preview",
  schedule: "drift",
  web: undefined,
};

export const gitlabJob = (env: NodeJS.ProcessEnv): Job => {
  const event = env.CI_PIPELINE_SOURCE ?? "";
  if (!Object.hasOwn(USUAL, event))
    throw new RefusedJob(
      `this job is of a pipeline by ${event || "nothing"}, which others may start: use ${Object.keys(USUAL).join(", ")}`,
    );
  return {
    event,
    about:
      event === "merge_request_event" ? { change: mergeRequestIn(env) } : { branch: env.CI_COMMIT_BRANCH || undefined },
    commit: env.CI_COMMIT_SHA || undefined,
    mainBranch: env.CI_DEFAULT_BRANCH || undefined,
    usual: USUAL[event],
    run: { id: Number(env.CI_PIPELINE_ID) || 0, url: env.CI_JOB_URL ?? "" },
  };
};

/** A member of this project can start the pipeline of a fork's merge request in this project, with its variables and tokens. */
const mergeRequestIn = (env: NodeJS.ProcessEnv): Change => {
  const { CI_PROJECT_ID: own, CI_MERGE_REQUEST_PROJECT_ID: target, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source } = env;
  if (!target || source !== target || own !== target) throw forkRefusal("merge request");
  const number = Number(env.CI_MERGE_REQUEST_IID);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new RefusedJob("CI_MERGE_REQUEST_IID does not name the merge request");
  return {
    number,
    head: env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA,
  };
};
