// The records that a program adopts, by their uids: a file of JSON beside it, which `irm export` writes. AccessPolicy uses its sections of
// a policy, as `adopt: { file }`; a name may then belong to several records. The section `resources` is for the resources of the program
// itself, whose provider reads it (provider/engine/adoption.ts).
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isManaged, isObject, isUidp, printable, resources, suggestion } from "../../schema/index.ts";
import { findTextFile, TextFileError } from "./text-file.ts";

/** Belongs to the policy `access.yaml`, or to the program, in its folder. */
export const UIDS_FILE = "adopt.json";

/** uid of each record, by path of a group or by key; for a resource of the program, by `Type::name`. */
export type PolicyUids = Readonly<Record<(typeof SECTIONS)[number], ReadonlyMap<string, string>>>;

const SECTIONS = ["groups", "identities", "roles", "resources"] as const;

const TYPES: readonly string[] = Object.values(resources).flatMap((resource) =>
  isManaged(resource) ? [resource.type] : [],
);

const typeProblem = (key: string) => {
  const [type = "", name] = key.split("::");
  if (name === undefined || name === "") return "must be Type::name, such as Group::platform";
  return TYPES.includes(type) ? undefined : `there is no resource type ${printable(type)}${suggestion(type, TYPES)}`;
};

/** Every problem of the file; without one, its uids. */
export const parseUids = (text: string): { uids?: PolicyUids; problems: string[] } => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problems: [printable((error as Error).message)] };
  }
  if (!isObject(value)) return { problems: [`must be { ${SECTIONS.join(", ")} }, each with uids by key`] };
  const held = value;
  const problems = Object.keys(held)
    .filter((key) => !(SECTIONS as readonly string[]).includes(key))
    .map((key) => `${printable(key)}: there is no such section; there are ${SECTIONS.join(", ")}`);
  const sections = SECTIONS.map((section) => {
    const uids = held[section] ?? {};
    if (!isObject(uids)) problems.push(`${section}: must be uids by key`);
    const entries = isObject(uids) ? Object.entries(uids) : [];
    for (const [key, uid] of entries) {
      const problem = section === "resources" ? typeProblem(key) : undefined;
      if (problem !== undefined) problems.push(`${section}.${printable(key)}: ${problem}`);
      if (!isUidp(uid)) problems.push(`${section}.${printable(key)}: must be a uid`);
    }
    return [section, new Map(entries)] as const;
  });
  return problems.length > 0 ? { problems } : { uids: Object.fromEntries(sections) as unknown as PolicyUids, problems };
};

export interface UidsFile {
  /** its path beside the policy */
  name: string;
  /** its path without links */
  real: string;
  text: string;
  uids: PolicyUids;
}

/** The file of uids beside the policy of this path. */
export const uidsBeside = (policy: string): UidsFile | undefined => uidsIn(dirname(policy));

/** The file of uids in this folder; undefined if there is none. Throws TextFileError with every problem of the file. */
export const uidsIn = (folder: string): UidsFile | undefined => {
  const name = join(folder, UIDS_FILE);
  if (!existsSync(name)) return undefined;
  const { real, read } = findTextFile(name, folder);
  const text = read();
  const { uids, problems } = parseUids(text);
  if (!uids) throw new TextFileError(problems.map((problem) => `${name}: ${problem}`).join("\n"));
  return { name, real, text, uids };
};
