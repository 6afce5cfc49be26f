// IRM_ALLOW_TOKEN_SOURCES: the variables and files from which settings may take a token. Settings are the author's of a change, and could
// otherwise name every secret of the job.
import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Env } from "./env.ts";

const ALLOWED = "IRM_ALLOW_TOKEN_SOURCES";

export interface AllowedSource {
  /** name of a variable, or absolute path of a file */
  name: string;
  /** to which its token may go, whatever its audience is */
  address: string | undefined;
}

export const isVariableName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);

/** Entries are separated by commas or spaces: `NAME`, `/path`, `NAME=https://…`. An entry is not quoted: it may be a token by mistake. */
export const allowedSources = (env: Env): { allowed: AllowedSource[]; problems: string[] } => {
  const allowed = (env[ALLOWED] ?? "")
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((text): AllowedSource => {
      const [, name = text, address] = /^(.+?)=(https?:\/\/.+)$/.exec(text) ?? [];
      return { name, address };
    });
  const problems = allowed.flatMap(({ name, address }, i) => {
    if (address !== undefined && !URL.canParse(address))
      return [`environment ${ALLOWED}: entry ${i + 1} has an address that is not a URL`];
    if (isVariableName(name) || isAbsolute(name)) return [];
    return [`environment ${ALLOWED}: entry ${i + 1} must be the name of a variable, or the absolute path of a file`];
  });
  return { allowed, problems };
};

/** The entries for this variable. */
export const entriesForVariable = (name: string, allowed: readonly AllowedSource[]): AllowedSource[] =>
  allowed.filter((one) => one.name === name);

/**
 * The entries for this file: those that name it by the same path, or another path of the same file. Below /proc, where files show the
 * variables and the open files of a process, only the same path counts.
 */
export const entriesForFile = (path: string, allowed: readonly AllowedSource[]): AllowedSource[] => {
  const real = realPath(path);
  const isSpecial = real === undefined || /^\/proc(\/|$)/.test(real);
  return allowed.filter(({ name }) => name === path || (!isSpecial && isAbsolute(name) && realPath(name) === real));
};

// As the system resolves it: `..` after a link is the folder above the link's target.
const realPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    // It does not exist, or this user may not see it.
    return undefined;
  }
};

export const notAllowedText = (place: string, text: string): string =>
  `${place}: names ${text} that ${ALLOWED} of the environment does not list; list it there if its token may be used`;
