// `irm roles`: the built-in roles of the service, and its changes of them since roles.lock.yaml was written.

import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type RolesReport, rolesDocument, rolesReportOf } from "../../access/format/roles.ts";
import { type Live, readLive } from "../../access/graph/live.ts";
import { bundlesIn, isChange } from "../../access/roles/change.ts";
import {
  LOCK,
  LockError,
  lockText,
  noEntryText,
  offlineText,
  parseLock,
  type RolesLock,
  readLock,
  recordedFor,
} from "../../access/roles/lock.ts";
import { POLICY } from "../../access/test/file.ts";
import { timeText } from "../../access/text.ts";
import { serviceOf } from "../../client/config.ts";
import { projectFolder } from "../../pulumi/project.ts";
import { printable } from "../../schema/index.ts";
import { systemClient, systemConfig } from "../client.ts";
import { writeWhole } from "../files.ts";
import type { IrmCommand } from "../irm-command.ts";
import { printDocument } from "../print-document.ts";
import { originOf } from "../services.ts";
import { type Format, warn } from "../terminal.ts";

interface RolesFlags {
  write?: boolean;
  format: Format;
}

const CHANGED = 3;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Prints the built-in roles, and how they differ from roles.lock.yaml or from this version. Exits with 3 if a role of the file has changed.",
    )
    .option("--write", "write the roles of the service into roles.lock.yaml, and so accept the changes")
    .formats("terminal", "markdown", "json", "html")
    .example("roles --write")
    .runs(roles);
};

const roles = async ({ write = false, format }: RolesFlags): Promise<number> => {
  const folders = lockFolders(undefined);
  const lock = readLock(folders, undefined, shownName);
  const service = serviceOf(systemConfig().baseUrl);
  const client = systemClient();
  const live = await readLive(client);
  const hidden = live.notVisible.find(({ kind, group }) => kind === "role" && group === "");
  if (hidden) throw new LockError(`the roles of ${service} are not known: ${hidden.message}`);
  const nowMs = client.clock.today();
  const report: RolesReport = {
    origin: originOf(undefined, service, nowMs),
    ...rolesReportOf(service, live, recordedFor(service, lock), nowMs),
  };
  printDocument(rolesDocument(report), report, format);
  const missing = write ? undefined : noEntryText(service, lock);
  if (missing !== undefined) warn(printable(missing));
  if (write) writeLock(lock, join(folders[0] as string, LOCK), { service, live, nowMs });
  return !write && report.changed.some(isChange) ? CHANGED : 0;
};

/** The entries of other services stay. A file that says the same stays as it is, with its date. */
const writeLock = (
  lock: RolesLock | undefined,
  file: string,
  { service, live, nowMs }: { service: string; live: Live; nowMs: number },
): void => {
  const bundles = bundlesIn(live.graph);
  if (Object.keys(bundles).length === 0)
    throw new LockError(`the service lists no built-in roles, so ${LOCK} stays as it is`);
  const known = lock?.services.get(service);
  const name = lock?.file ?? file;
  if (known !== undefined && rolesText(known.roles) === rolesText(bundles)) {
    warn(`${printable(shownName(name))} is up to date`);
    return;
  }
  const entry = { service, date: timeText(nowMs).slice(0, "2026-11-28".length), roles: bundles };
  const text = lockText(new Map(lock?.services).set(service, entry).values());
  // A service may have names that no reader of the file accepts.
  parseLock(text, shownName(name));
  writeWhole(name, text, LockError);
  warn(`${lock ? "updated" : "wrote"} ${printable(shownName(name))}: commit it`);
};

const rolesText = (bundles: Readonly<Record<string, readonly string[]>>) =>
  lockText([{ service: "", date: "", roles: bundles }]);

// roles.lock.yaml of a folder: beside the policy, or else beside Pulumi.yaml.

/** The folders that may have the lock of a policy; without one, of the policy and the program here. The first is for a new lock. */
const lockFolders = (policy: string | undefined) => {
  const own = policy === undefined ? process.cwd() : resolve(dirname(policy));
  const project = projectFolder(own, existsSync);
  const isHere = policy !== undefined || project === undefined || existsSync(join(own, POLICY));
  return [...(isHere ? [own] : []), ...(project === undefined ? [] : [project])];
};

/** Throws LockError and TextFileError. */
export const lockBeside = (policy: string | undefined): RolesLock | undefined =>
  readLock(lockFolders(policy), undefined, shownName);

/** From this folder. */
const shownName = (file: string) => relative(process.cwd(), file);

/** Names on stderr the built-in roles of a command that asks no service. */
export const printOfflineRoles = (lock: RolesLock | undefined): void => {
  warn(offlineText(lock));
};
