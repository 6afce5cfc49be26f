// roles.lock.yaml: the built-in roles of each service when the file was written. Tests and checks without a service use these. Later
// changes of the service are reported as differences.
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { serviceOf } from "../../client/addresses.ts";
import {
  BUILT_IN_ROLE_CAPABILITIES,
  BUILT_IN_ROLES_SOURCE,
  capabilityFrom,
  capabilityName,
  type RoleBundles,
  UserError,
} from "../../schema/index.ts";
import { inOrderOf } from "../canonical.ts";
import { readShape } from "../policy/parse.ts";
import { type Files, textFiles } from "../policy/text-file.ts";
import { yamlText } from "../text.ts";

export const LOCK = "roles.lock.yaml";

const DATE = z.string().regex(/^\d{4}-\d\d-\d\d$/, "must be a date such as 2026-11-28");

const Shape = z.strictObject({
  services: z.record(z.string(), z.strictObject({ date: DATE, roles: z.record(z.string(), z.array(z.string())) })),
});

export interface LockedRoles {
  /** address of the API; absent: the table of this version */
  service?: string;
  /** the day of the bundles, in UTC: 2026-11-28 */
  date: string;
  roles: RoleBundles;
}

export interface RolesLock {
  file: string;
  /** its name in messages */
  name: string;
  /** by address of the API */
  services: ReadonlyMap<string, LockedRoles>;
}

/** The lock has mistakes: each is a line of the message. */
export class LockError extends UserError {
  override readonly name = "LockError";
}

/** The table of this version. */
export const TABLE: LockedRoles = { date: BUILT_IN_ROLES_SOURCE.date, roles: BUILT_IN_ROLE_CAPABILITIES };

/** Reads the lock in the first of these folders that contains one. Throws LockError and TextFileError. */
export const readLock = (
  folders: readonly string[],
  files: Files = textFiles,
  nameOf = (file: string) => file,
): RolesLock | undefined => {
  const file = folders.map((folder) => join(folder, LOCK)).find((one) => files.exists(one));
  return file === undefined ? undefined : { ...parseLock(files.find(file, dirname(file)).read(), nameOf(file)), file };
};

/** `name` names the file in the problems. Throws LockError with all of them. */
export const parseLock = (text: string, name: string): RolesLock => {
  const { data, problems } = readShape(text, name, Shape);
  const advice = `correct ${basename(name)}, or restore it from git; \`npx pulumi-irm roles --write\` then updates it`;
  if (!data) throw new LockError([...problems, advice].join("\n"));
  const wrong = Object.keys(data.services).filter((one) => !URL.canParse(one) || serviceOf(one) !== one);
  if (wrong.length > 0)
    throw new LockError(wrong.map((one) => `${name}: services.${one}: ${addressText(one)}`).join("\n"));
  const services = Object.entries(data.services).map(([service, { date, roles }]) => {
    const bundles = Object.entries(roles).map(([name, held]) => [name, held.map(friendly).sort()] as const);
    return [service, { service, date, roles: Object.fromEntries(bundles) }] as const;
  });
  return { file: name, name, services: new Map(services) };
};

const addressText = (text: string) =>
  URL.canParse(text) ? `write ${serviceOf(text)}, as \`npx pulumi-irm roles --write\` does` : "is not an address";

/** An older version has written the API's name of a capability that this one knows. */
const friendly = (capability: string) => capabilityName(capabilityFrom(capability) ?? capability);

/** The file, identical for equal roles. */
export const lockText = (services: Iterable<LockedRoles>): string => {
  const sorted = inOrderOf([...services], ({ service = "" }) => service);
  const entries = sorted.map(({ service = "", date, roles }): [string, object] => [
    service,
    { date, roles: Object.fromEntries(inOrderOf(Object.entries(roles), ([name]) => name)) },
  ]);
  return `${HEAD}${yamlText({ services: Object.fromEntries(entries) }, undefined, true)}`;
};

const HEAD = `# The built-in roles of each service. \`npx pulumi-irm roles --write\` writes this file: commit it.
`;

/** The roles that count if no service is asked: each service of the lock, or else the table. */
export const offlineRoles = (lock: RolesLock | undefined): readonly LockedRoles[] =>
  lock && lock.services.size > 0 ? [...lock.services.values()] : [TABLE];

/** The recorded roles of a service: its entry of the lock, or else the table. */
export const recordedFor = (service: string, lock: RolesLock | undefined): LockedRoles =>
  lock?.services.get(service) ?? TABLE;

/** The problem of a lock that lacks a service: its changes go unnoticed. Undefined: there is no lock, or it contains the service. */
export const noEntryText = (service: string, lock: RolesLock | undefined): string | undefined =>
  lock === undefined || lock.services.has(service)
    ? undefined
    : `${lock.name} has no entry for ${service}, so what it changes in its built-in roles is not known; \`npx pulumi-irm roles --write\` adds it`;

/** One line for the user: which bundles count, and their day. */
export const offlineText = (lock: RolesLock | undefined): string => {
  const [first, ...others] = offlineRoles(lock) as [LockedRoles, ...LockedRoles[]];
  if (first.service === undefined)
    return `built-in roles as of ${first.date}, from the table of this version; \`npx pulumi-irm roles --write\` records those of your service`;
  return [first, ...others]
    .map(({ service, date }) => `built-in roles of ${service} as of ${date}, from ${lock?.name}`)
    .join("\n");
};
