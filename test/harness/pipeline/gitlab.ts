// A project at GitLab whose pipeline includes templates/gitlab.yml: https://docs.gitlab.com/ci/yaml/
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parseAllDocuments } from "yaml";
import { capture } from "../../../scripts/base/child.mjs";
import { root } from "../../../scripts/base/project.mjs";
import { temporaryFolder } from "../../support/command.ts";
import { createCommands } from "./commands.ts";
import { startGitlab, TOKEN } from "./posts.ts";

interface JobText {
  extends?: string;
  variables?: Record<string, string>;
  id_tokens?: Record<string, { aud: string }>;
  rules?: { if: string; when?: string }[];
  needs?: { job: string; optional?: boolean }[];
  environment?: { name: string };
  before_script?: string[];
  script?: string[];
  artifacts?: { when: string; paths: string[]; reports?: { dotenv: string } };
  [key: string]: unknown;
}

/** Interpolates the inputs into each text of the file, as GitLab does after it has read the YAML. */
export const includeOf = (given: Readonly<Record<string, string | boolean>>) => {
  const [head, body] = parseAllDocuments(readFileSync(join(root, "templates", "gitlab.yml"), "utf8")).map((one) =>
    one.toJS(),
  ) as [{ spec: { inputs: Record<string, { default?: unknown }> } }, unknown];
  const { inputs } = head.spec;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(inputs, name));
  const missing = Object.keys(inputs).filter(
    (name) => given[name] === undefined && inputs[name]?.default === undefined,
  );
  if (unknown.length + missing.length > 0) throw new Error(`unknown inputs: ${unknown}; missing: ${missing}`);
  const fill = (value: unknown): unknown => {
    if (typeof value === "string")
      return value.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) =>
        String(given[name] ?? inputs[name]?.default),
      );
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [fill(key), fill(one)]));
  };
  return { inputs, jobs: fill(body) as Record<string, JobText> };
};

/** Keys of a job replace those of the one that it extends, and its variables are added. */
const wholeJob = (jobs: Record<string, JobText>, name: string): JobText => {
  const job = jobs[name] as JobText;
  if (job.extends === undefined) return job;
  const base = wholeJob(jobs, job.extends);
  return { ...base, ...job, variables: { ...base.variables, ...job.variables } };
};

/** `$A == "text" && $B != $C || $D == ""`: https://docs.gitlab.com/ci/jobs/job_rules/#cicd-variable-expressions */
const isMet = (condition: string, variables: Readonly<Record<string, string>>): boolean =>
  condition.split("||").some((one) => one.split("&&").every((part) => comparison(part, variables)));

const comparison = (part: string, variables: Readonly<Record<string, string>>): boolean => {
  const [, left, operator, right] = /^\s*(\$\w+|"[^"]*")\s*([!=]=)\s*(\$\w+|"[^"]*")\s*$/.exec(part) ?? [];
  if (left === undefined || right === undefined) throw new Error(`cannot read the rule ${part}`);
  const textOf = (text: string): string | undefined =>
    text.startsWith("$") ? variables[text.slice(1)] : text.slice(1, -1);
  return (textOf(left) === textOf(right)) === (operator === "==");
};

interface RunOptions {
  checkout: string;
  /** what the job of the program has left: it does not run */
  change?: string;
  /** somebody starts the manual jobs */
  byHand?: boolean;
  /** paths of which the result has the texts */
  artifacts?: readonly string[];
}

interface Ended {
  name: string;
  code: number;
  log: string;
  hasToken: boolean;
  artifacts: Record<string, string>;
}

const PROJECT = "42";
export const mergeRequest = (source = PROJECT, target = "main"): Record<string, string> => ({
  CI_PIPELINE_SOURCE: "merge_request_event",
  CI_MERGE_REQUEST_IID: "7",
  CI_MERGE_REQUEST_PROJECT_ID: PROJECT,
  CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source,
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target,
  CI_MERGE_REQUEST_TITLE: "`touch hacked` $(touch hacked)",
  CI_COMMIT_REF_NAME: "$(touch-hacked)",
});
export const onMain = (source: string): Record<string, string> => ({
  CI_PIPELINE_SOURCE: source,
  CI_COMMIT_BRANCH: "main",
});

/** `mint` issues a job's token for an audience. */
export const createGitlab = async (mint: (audience: string) => Promise<string>) => {
  const { path, remove } = temporaryFolder();
  const commands = createCommands(path("."));
  const repository = await startGitlab();
  let pipelines = 1000;
  const predefinedWith = (variables: Record<string, string>): Record<string, string> => ({
    CI_DEFAULT_BRANCH: "main",
    CI_PROJECT_ID: PROJECT,
    ...variables,
  });
  const chosen = (variables: Record<string, string>, inputs: Record<string, string>): Record<string, string> => {
    const { jobs } = includeOf(inputs);
    const ruled = Object.keys(jobs).flatMap((name) => {
      if (name.startsWith(".")) return [];
      const rule = wholeJob(jobs, name).rules?.find((one) => isMet(one.if, predefinedWith(variables)));
      return rule ? [[name, rule.when ?? "on_success"]] : [];
    });
    return Object.fromEntries(ruled);
  };
  return {
    repository,
    commands,
    /** The jobs that the rules choose, and when they begin: `on_success`, `always` or `manual`. */
    chosen,
    /** Runs these, in the order of the file. */
    run: async (
      variables: Record<string, string>,
      inputs: Record<string, string>,
      { checkout, change, byHand = false, artifacts = [] }: RunOptions,
    ) => {
      const { jobs } = includeOf(inputs);
      const pipeline = String(++pipelines);
      const predefined = predefinedWith(variables);
      const ended: Ended[] = [];
      const outputs: Record<string, string> = {};
      const left = join(checkout, ".irm-ci");
      for (const [name, when] of Object.entries(chosen(variables, inputs))) {
        const job = wholeJob(jobs, name);
        if (change !== undefined && name.endsWith("-change")) {
          rmSync(left, { recursive: true, force: true });
          mkdirSync(left);
          writeFileSync(join(left, "change.json"), change);
          continue;
        }
        const isFailed = ended.some((one) => one.code !== 0 && job.needs?.some((need) => need.job === one.name));
        if ((when === "manual" && !byHand) || (when !== "always" && isFailed)) continue;
        const tokens: Record<string, string> = {};
        for (const [variable, { aud }] of Object.entries(job.id_tokens ?? {})) tokens[variable] = await mint(aud);
        const env = {
          ...commands.env,
          GITLAB_CI: "true",
          CI_API_V4_URL: repository.url,
          CI_PROJECT_URL: "https://gitlab.example/acme/access",
          CI_PIPELINE_ID: pipeline,
          CI_JOB_URL: `https://gitlab.example/acme/access/-/jobs/${pipeline}`,
          CI_JOB_NAME: name,
          CI_ENVIRONMENT_NAME: job.environment?.name ?? "",
          ...(when === "manual" && { CI_JOB_MANUAL: "true" }),
          // The variable is of the other environments.
          ...(!name.endsWith("-change") && { IRM_CI_TOKEN: TOKEN }),
          ...predefined,
          ...job.variables,
          ...outputs,
          ...tokens,
        };
        const script = [...(job.before_script ?? []), ...(job.script ?? [])].join("\n");
        const { code, output } = await capture("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
          cwd: checkout,
          env,
        });
        const dotenv = join(checkout, job.artifacts?.reports?.dotenv ?? "none");
        if (existsSync(dotenv)) Object.assign(outputs, parseEnv(readFileSync(dotenv, "utf8")));
        const paths = artifacts.map((one) => [one, readFileSync(join(checkout, one), "utf8")]);
        const hasToken = Object.keys(tokens).length > 0;
        ended.push({ name, code: code ?? 1, log: output, hasToken, artifacts: Object.fromEntries(paths) });
      }
      return ended;
    },
    close: () => repository.close().finally(remove),
  };
};
