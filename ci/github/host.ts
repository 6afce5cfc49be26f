// What a step of GitHub Actions tells its runner: outputs, the summary, annotations.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { printable } from "../../schema/index.ts";
import type { Host } from "../host.ts";
import { githubForge } from "./forge.ts";
import { githubJob, runUrl } from "./job.ts";

export const githubHost = (env: NodeJS.ProcessEnv): Host => {
  const append = (file: string | undefined, text: string): void => {
    if (file) appendFileSync(file, text);
  };
  const command = (text: string): void => void process.stdout.write(`${text}\n`);
  return {
    job: () => githubJob(env),
    words: { change: "pull request", token: "github-token" },
    setOutputs: (values) => {
      for (const [name, value] of Object.entries(values)) {
        const end = randomUUID();
        append(env.GITHUB_OUTPUT, `${name}<<${end}\n${value}\n${end}\n`);
      }
    },
    summarize: (markdown) => append(env.GITHUB_STEP_SUMMARY, `${markdown}\n`),
    annotate: (level, message) => command(`::${level}::${message.split("\n").map(escapeData).join("%0A")}`),
    withoutCommands: async (act) => {
      const token = randomUUID();
      command(`::stop-commands::${token}`);
      try {
        return await act();
      } finally {
        // Others may have left a line unfinished.
        command(`\n::${token}::`);
      }
    },
    forge: (token) => githubForge(env, token),
    fileUrl: () => `${runUrl(env)}#artifacts`,
  };
};

const escapeData = (text: string): string => printable(text).replaceAll("%", "%25");
