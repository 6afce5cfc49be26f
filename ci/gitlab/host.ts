// What a job of GitLab CI/CD tells its runner: nothing but its log, its files and its exit code.
import type { Host } from "../host.ts";
import { gitlabForge } from "./forge.ts";
import { gitlabJob } from "./job.ts";

export const gitlabHost = (env: NodeJS.ProcessEnv): Host => ({
  job: () => gitlabJob(env),
  words: { change: "merge request", token: "IRM_CI_TOKEN" },
  setOutputs: () => undefined,
  summarize: () => undefined,
  annotate: () => undefined,
  withoutCommands: (act) => act(),
  forge: (token) => gitlabForge(env, token),
  fileUrl: (name) => `${env.CI_JOB_URL}/artifacts/file/${env.IRM_CI_FOLDER}/${name}`,
});
