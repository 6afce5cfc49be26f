// A job of GitHub Actions, by its variables and the file of its event. Of the event only numbers, hashes and the name of the main branch
// count: the author of a pull request chooses its other texts.
import { readFileSync } from "node:fs";
import { isObject } from "../../schema/index.ts";
import { type Change, type Command, forkRefusal, type Job, RefusedJob } from "../job.ts";

/** https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows */
const USUAL: Readonly<Record<string, Command | undefined>> = {
  pull_request: "preview",
  merge_group: "preview",
  // Whoever pushes has a review. An update is asked for.
  push: "preview",
  schedule: "drift",
  workflow_dispatch: undefined,
};

const RIGHTS = "it has the rights of the main branch, also where a stranger has caused it";

/** https://docs.github.com/actions/reference/security/secure-use#mitigating-the-risks-of-untrusted-code-checkout */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["pull_request_target", `${RIGHTS}: use pull_request`],
  [
    "workflow_run",
    `${RIGHTS}, such as the author of the pull request that the other workflow was about: use pull_request`,
  ],
  ["issue_comment", `${RIGHTS}: anyone who can write a comment can. Use pull_request`],
]);

export const githubJob = (env: NodeJS.ProcessEnv): Job => {
  const event = env.GITHUB_EVENT_NAME ?? "";
  if (!Object.hasOwn(USUAL, event))
    throw new RefusedJob(
      `this job is of ${event || "no event"}: ${REFUSED.get(event) ?? `the event does not say whose change it runs. Use ${Object.keys(USUAL).join(", ")}`}`,
    );
  const payload = eventIn(env.GITHUB_EVENT_PATH);
  const about: Job["about"] =
    event === "pull_request"
      ? { change: pullRequestIn(payload) }
      : event === "merge_group"
        ? { change: queuedIn(objectIn(payload, "merge_group")) }
        : { branch: branchOf(env.GITHUB_REF) };
  const branch = objectIn(payload, "repository").default_branch;
  return {
    event,
    about,
    commit: env.GITHUB_SHA || undefined,
    // A schedule runs on the default branch.
    mainBranch: typeof branch === "string" && branch !== "" ? branch : scheduledOn(env),
    usual: USUAL[event],
    run: {
      id: Number(env.GITHUB_RUN_ID) || 0,
      url: runUrl(env),
    },
  };
};

type Payload = Readonly<Record<string, unknown>>;

const scheduledOn = ({ GITHUB_EVENT_NAME: event, GITHUB_REF: ref }: NodeJS.ProcessEnv): string | undefined =>
  event === "schedule" ? branchOf(ref) : undefined;

/** Throws for a fork, and where the event does not say that it is none: a fork may have been deleted. */
const pullRequestIn = (payload: Payload): Change => {
  const pullRequest = objectIn(payload, "pull_request");
  const [head, base] = [objectIn(pullRequest, "head"), objectIn(pullRequest, "base")];
  const [from, to] = [objectIn(head, "repo").id, objectIn(base, "repo").id];
  if (typeof from !== "number" || from !== to) throw forkRefusal("pull request");
  const { number } = pullRequest;
  if (!Number.isSafeInteger(number)) throw new RefusedJob("GITHUB_EVENT_PATH does not name the pull request");
  return { number: number as number, head: hashIn(head, "sha") };
};

const queuedIn = (group: Payload): Change => ({
  number: undefined,
  head: hashIn(group, "head_sha"),
});

export const runUrl = (env: NodeJS.ProcessEnv): string =>
  `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;

const branchOf = (ref = ""): string | undefined => /^refs\/heads\/(.+)$/.exec(ref)?.[1];

const hashIn = (payload: Payload, name: string): string | undefined => {
  const text = payload[name];
  return typeof text === "string" && /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
};

const objectIn = (payload: Payload, name: string): Payload => {
  const value = payload[name];
  return isObject(value) ? value : {};
};

const eventIn = (file: string | undefined): Payload => {
  try {
    const event: unknown = JSON.parse(readFileSync(file ?? "", "utf8"));
    return isObject(event) ? event : {};
  } catch (error) {
    throw new RefusedJob(`GITHUB_EVENT_PATH cannot be read: ${(error as Error).message}`);
  }
};
