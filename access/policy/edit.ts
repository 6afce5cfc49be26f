// Removes identities, roles and bindings from the files of a policy. What is left says the same as before without them: the result is read
// again before anything is written. An entry that cannot be removed alone is an error, and the files stay as they are.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { cutFromYaml, type EditPath, PolicyEditError } from "./edit-yaml.ts";
import { mistakeText, readPolicy } from "./parse.ts";
import type { Policy, PolicyBinding } from "./policy.ts";
import type { PolicyStack } from "./stack.ts";
import { type FindFile, findTextFile, TextFileError } from "./text-file.ts";
import { asStack, type PolicyUids, parseUids, UIDS_FILE } from "./uids.ts";
import { type ChangedFile, replaceFiles } from "./write-files.ts";

export { PolicyEditError } from "./edit-yaml.ts";

/** The files of a policy without mistakes, as they were read. */
export interface OpenPolicy {
  file: string;
  policy: Policy;
  /** by path without links */
  texts: ReadonlyMap<string, { name: string; text: string }>;
  /** the file beside it with the uids of its records, where there is one */
  adopted?: { name: string; real: string; text: string; uids: PolicyUids };
}

export interface Removal {
  bindings?: readonly Pick<PolicyBinding, "group" | "role" | "identity">[];
  /** keys of identities, which go with their bindings */
  identities?: readonly string[];
  /** keys of custom roles, which nothing in the policy may give */
  roles?: readonly string[];
}

export interface PolicyEdit {
  /** what goes: `access.platform.editor: release`, `identities.release` */
  removed: readonly string[];
  files: readonly ChangedFile[];
}

/** Throws a PolicyEditError with every mistake of the policy, and of the uids beside it. */
export const openPolicy = (file: string): OpenPolicy => {
  const texts = new Map<string, { name: string; text: string }>();
  const find: FindFile = (name, folder) => {
    const { real, read } = findTextFile(name, folder);
    const recorded = (): string => {
      const text = read();
      texts.set(real, { name, text });
      return text;
    };
    return { real, read: recorded };
  };
  const { policy, mistakes } = readPolicy(file, find);
  if (policy === undefined) throw new PolicyEditError(mistakes.map(mistakeText).join("\n"));
  return { file, policy, texts, ...adoptedBeside(file) };
};

const adoptedBeside = (file: string): Pick<OpenPolicy, "adopted"> => {
  const name = join(dirname(file), UIDS_FILE);
  if (!existsSync(name)) return {};
  try {
    const { real, read } = findTextFile(name, dirname(file));
    const text = read();
    const { uids, problems } = parseUids(text);
    if (uids === undefined) throw new PolicyEditError(problems.map((problem) => `${name}: ${problem}`).join("\n"));
    return { adopted: { name, real, text, uids } };
  } catch (error) {
    throw error instanceof TextFileError ? new PolicyEditError(error.message) : error;
  }
};

/** The records that the uids beside a policy name; undefined without them. */
export const stackOf = ({ adopted }: OpenPolicy): PolicyStack | undefined => adopted && asStack(adopted.uids);

/** The edit that removes this; nothing is written yet. Throws a PolicyEditError. */
export const editOf = (opened: OpenPolicy, removal: Removal): PolicyEdit => {
  const { policy, texts } = opened;
  const gone = pathsOf(policy, removal);
  const found = new Set<string>();
  const files: ChangedFile[] = [];
  for (const [real, { name, text }] of texts) {
    const cut = cutFromYaml(text, name, (path) => gone.has(JSON.stringify(path)));
    for (const path of cut.found) found.add(path);
    if (cut.text !== text) files.push({ name, real, before: text, after: cut.text });
  }
  const missing = [...gone].find((path) => !found.has(path));
  if (missing !== undefined)
    throw new PolicyEditError(`${opened.file}: ${shown(missing)} comes from a merge key (<<); write it out`);
  checkResult(opened, files, gone);
  return { removed: [...gone].map(shown), files: [...files, ...withoutUids(opened, gone)] };
};

/** The file of uids without the records that go. JSON is YAML. */
const withoutUids = ({ adopted }: OpenPolicy, gone: ReadonlySet<string>): ChangedFile[] => {
  if (adopted === undefined) return [];
  const { name, real, text } = adopted;
  const { text: after } = cutFromYaml(text, name, (path) => gone.has(JSON.stringify(path)));
  return after === text ? [] : [{ name, real, before: text, after }];
};

/** Writes the files. Throws a PolicyEditError where one cannot be written, or has changed since it was read. */
export const applyEdit = ({ files }: PolicyEdit): void => replaceFiles(files);

const bindingPath = ({ group, role, identity }: Pick<PolicyBinding, "group" | "role" | "identity">): EditPath => [
  "access",
  group,
  role,
  identity,
];

/** What goes of the policy, each path as JSON. */
const pathsOf = (policy: Policy, { bindings = [], identities = [], roles = [] }: Removal): ReadonlySet<string> => {
  const asked = new Set(bindings.map((one) => JSON.stringify(bindingPath(one))));
  const ofIdentities = new Set(identities);
  const paths: EditPath[] = [
    ...policy.bindings.filter(({ identity }) => ofIdentities.has(identity)).map(bindingPath),
    ...policy.bindings.map(bindingPath).filter((path) => asked.has(JSON.stringify(path))),
    ...identities.filter((key) => policy.identities.has(key)).map((key) => ["identities", key]),
    ...roles.filter((key) => policy.roles.has(key)).map((key) => ["roles", key]),
  ];
  return new Set(paths.map((path) => JSON.stringify(path)));
};

/** `access.platform.editor: release` */
const shown = (path: string): string => {
  const [section, ...rest] = JSON.parse(path) as string[];
  return section === "access" ? `access.${rest[0]}.${rest[1]}: ${rest[2]}` : `${section}.${rest.join(".")}`;
};

const checkResult = ({ file, policy, texts }: OpenPolicy, files: readonly ChangedFile[], gone: ReadonlySet<string>) => {
  const after = new Map(files.map((one) => [one.real, one.after]));
  const find: FindFile = (name, folder) => {
    const { real, read } = findTextFile(name, folder);
    return { real, read: () => after.get(real) ?? texts.get(real)?.text ?? read() };
  };
  const { policy: result, mistakes } = readPolicy(file, find);
  const [mistake] = mistakes;
  if (mistake) throw new PolicyEditError(`after that, ${mistakeText(mistake)}`);
  if (result === undefined || meaningOf(result) !== meaningOf(without(policy, gone)))
    throw new PolicyEditError(`${file} would say something else than before; edit it by hand`);
};

const without = (policy: Policy, gone: ReadonlySet<string>): Policy => {
  const stays = (path: EditPath): boolean => !gone.has(JSON.stringify(path));
  return {
    ...policy,
    identities: new Map([...policy.identities].filter(([key]) => stays(["identities", key]))),
    roles: new Map([...policy.roles].filter(([key]) => stays(["roles", key]))),
    bindings: policy.bindings.filter((binding) => stays(bindingPath(binding))),
  };
};

/** The policy without its places, which move. */
const meaningOf = (policy: Policy): string =>
  JSON.stringify(policy, (key, value) => {
    if (key === "place" && typeof value?.line === "number") return undefined;
    return value instanceof Map ? [...value] : value;
  });
