// The built-in roles in a review: the service's changes of them since roles.lock.yaml of the base was written, and edits of that file that
// differ from the service.
import { posix, resolve } from "node:path";
import { BaseError } from "../access/base/git.ts";
import { type BaseRevision, filesAt, pathAt, sidesOf } from "../access/base/revision.ts";
import { equalityKey } from "../access/canonical.ts";
import { withoutSecretNames } from "../access/drift/facts.ts";
import type { Live } from "../access/graph/live.ts";
import type { ChangedRules } from "../access/review/index.ts";
import { type RoleChange, roleChanges } from "../access/roles/change.ts";
import {
  LOCK,
  LockError,
  type LockedRoles,
  parseLock,
  type RolesLock,
  readLock,
  recordedFor,
} from "../access/roles/lock.ts";
import { lockBeside } from "./command/roles.ts";
import { projectAt } from "./policy/files.ts";

interface Reviewed {
  at: BaseRevision | undefined;
  /** from --policy */
  policies: readonly string[] | undefined;
  /** resources of the stack; undefined: they are not known */
  managed: Parameters<typeof withoutSecretNames>[0] | undefined;
  nowMs: number;
}

/** Throws LockError, TextFileError and BaseError. */
export const rolesReview = (
  lives: ReadonlyMap<string, Live>,
  { at, policies = [], managed, nowMs }: Reviewed,
): { changes: RoleChange[]; changedLock: ChangedRules[] } => {
  const folders = at ? foldersAt(at, policies) : [];
  const lock = at ? lockAt(at, folders) : lockBeside(undefined);
  const differencesFrom = (other: RolesLock | undefined) =>
    [...lives].flatMap(([service, live]) => {
      const recorded = recordedFor(service, other);
      const shown = managed ? withoutSecretNames(managed, live) : live;
      // Without an entry for the service, there is nothing to compare with.
      return recorded.service === undefined ? [] : roleChanges(service, shown, recorded, nowMs);
    });
  return {
    changes: differencesFrom(lock),
    changedLock: at ? folders.flatMap((folder) => editOf(at, posix.join(folder, LOCK), lives, differencesFrom)) : [],
  };
};

const lockAt = (at: BaseRevision, folders: readonly string[]) => {
  try {
    return readLock(folders, filesAt(at));
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    throw new BaseError(`at ${at.ref}: ${error.message}`, { cause: error });
  }
};

/** From the top level of the repository. */
const foldersAt = (at: BaseRevision, policies: readonly string[]) => {
  const own = policies.flatMap((policy) => pathAt(resolve(policy), at) ?? []).map(posix.dirname);
  const beside = own.length === 0 ? [at.folder] : own;
  const projects = beside.flatMap((folder) => projectAt(at, folder) ?? []);
  return [...new Set([...beside, ...projects])];
};

/** Drift compares with this file after the merge, so it must agree with the service. */
const editOf = (
  { repository, ...at }: BaseRevision,
  path: string,
  lives: ReadonlyMap<string, Live>,
  differencesFrom: (lock: RolesLock) => readonly RoleChange[],
): ChangedRules[] => {
  const { path: file, base, change } = sidesOf(repository, at, path);
  if (change === base) return [];
  const found = (message: string): ChangedRules[] => [{ file, message: `this change edits ${file}: ${message}` }];
  if (change === undefined) return found("it removes the file, and drift no longer reports what the service changes");
  if (typeof change === "object") return found(`it ${change.problem}`);
  try {
    const after = parseLock(change, file);
    const before = base === undefined ? new Map<string, LockedRoles>() : parseLock(base, file).services;
    const names = [...new Set(differencesFrom(after).map(({ name }) => name))].join(", ");
    const gone = [...before.keys()].filter((service) => !after.services.has(service));
    const unseen = [...after.services].filter(
      ([service, own]) => !lives.has(service) && equalityKey(before.get(service)) !== equalityKey(own),
    );
    return [
      ...(names === "" ? [] : found(`the service has other capabilities for ${names}`)),
      ...gone.flatMap((service) =>
        found(`it removes ${service}, and drift no longer reports what that service changes`),
      ),
      ...unseen.flatMap(([service]) => found(`it changes ${service}, which this review does not read`)),
    ];
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    return found(error.message);
  }
};
