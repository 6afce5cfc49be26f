// The host of a pipeline: what its jobs say of themselves, and where they write.
import type { Forge } from "./forge.ts";
import type { Job } from "./settings.ts";

export interface Host {
  /** Throws a RefusedJob where this job must not run. */
  job(): Job;
  /** its words for a change, and for the token that writes comments */
  words: { change: string; token: string };
  /** for later steps of the job */
  setOutputs(values: Readonly<Record<string, string>>): void;
  /** on the page of the run */
  summarize(markdown: string): void;
  annotate(level: "error" | "warning" | "notice", message: string): void;
  /** Calls the function: what is printed meanwhile comes from others, and is no command to the runner. */
  withoutCommands<T>(act: () => Promise<T>): Promise<T>;
  forge(token: string): Forge;
  /** where a file of the job's folder can be seen after the job */
  fileUrl(name: string): string;
}
