// roles.lock.yaml of a folder: beside the policy, or else beside Pulumi.yaml.
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { offlineText, type RolesLock, readLock } from "../access/roles/lock.ts";
import { POLICY } from "../access/test/file.ts";
import { projectFolder } from "../pulumi/project.ts";
import { warn } from "./terminal.ts";

/** The folders that may have the lock of a policy; without one, of the policy and the program here. The first is for a new lock. */
export const lockFolders = (policy: string | undefined): string[] => {
  const own = policy === undefined ? process.cwd() : resolve(dirname(policy));
  const project = projectFolder(own, existsSync);
  const isHere = policy !== undefined || project === undefined || existsSync(join(own, POLICY));
  return [...(isHere ? [own] : []), ...(project === undefined ? [] : [project])];
};

/** Throws LockError and TextFileError. */
export const lockBeside = (policy: string | undefined): RolesLock | undefined =>
  readLock(lockFolders(policy), undefined, shownName);

/** From this folder. */
export const shownName = (file: string): string => relative(process.cwd(), file);

/** Which built-in roles count where no service is asked, on stderr. */
export const printOfflineRoles = (lock: RolesLock | undefined): void => {
  warn(offlineText(lock));
};
