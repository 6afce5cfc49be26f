// The files that the steps of a job leave for each other, and for the job's artifacts.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Settings, subjectOf } from "./settings.ts";

export const REPORT = "report.md";
export const REPORT_JSON = "report.json";
/** of a review, for another job */
export const CHANGE = "change.json";
const CODE = "exit-code";

/** An empty folder of this path: a change may have brought a folder, or a link, of this name. */
export const makeFolder = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
};

export const writeFiles = (folder: string, files: Readonly<Record<string, string>>, code: number): void => {
  for (const [name, text] of Object.entries({ ...files, [CODE]: String(code) }))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
};

/** The report that a step has left, its exit code, and the digest of its seal; undefined: there is none. */
export const readReport = (folder: string): { text: string; code: number; digest?: string } | undefined => {
  const [text, code, json] = [REPORT, CODE, REPORT_JSON].map((name) => readIfThere(join(folder, name)));
  if (text === undefined || code === undefined) return undefined;
  const { seal } = JSON.parse(json ?? "{}") as { seal?: { digest?: unknown } };
  return { text, code: Number(code), ...(typeof seal?.digest === "string" && { digest: seal.digest }) };
};

const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

const slugOf = (settings: Settings): string =>
  subjectOf(settings)
    .map((one) => one.replace(/[^\w.-]+/g, "-"))
    .join("-") || "preview";

/** The same of a seal. */
export const sealOf = (settings: Settings): string => `irm-seal-${slugOf(settings)}.json`;

/** The page's name is that of its artifact, so stacks have different ones. */
export const pageOf = (settings: Settings): string => `access-review-${slugOf(settings)}.html`;
