// Removes identities, roles and bindings from the files of a policy. What is left says the same as before without them: the result is read
// again before anything is written. An entry that cannot be removed alone is an error, and the files stay as they are.
import type { Policy, PolicyBinding } from "../policy.ts";
import { type EditPath, PolicyEditError, withoutEntries } from "./document.ts";
import { checkResult, entryText, type OpenPolicy, type PolicyEdit } from "./open.ts";
import type { ChangedFile } from "./write.ts";

export interface Removal {
  bindings?: readonly Pick<PolicyBinding, "group" | "role" | "identity">[];
  /** keys of identities, which go with their bindings */
  identities?: readonly string[];
  /** keys of custom roles, which nothing in the policy may give */
  roles?: readonly string[];
}

/** The edit that removes this; nothing is written yet. Throws a PolicyEditError. */
export const removalOf = (opened: OpenPolicy, removal: Removal): PolicyEdit => {
  const { policy, texts } = opened;
  const gone = pathsOf(policy, removal);
  const found = new Set<string>();
  const files: ChangedFile[] = [];
  for (const [real, { name, text }] of texts) {
    const cut = withoutEntries(text, name, (path) => gone.has(JSON.stringify(path)));
    for (const path of cut.found) found.add(path);
    if (cut.text !== text) files.push({ name, real, before: text, after: cut.text });
  }
  const missing = [...gone].find((path) => !found.has(path));
  if (missing !== undefined)
    throw new PolicyEditError(`${opened.file}: ${shown(missing)} comes from a merge key (<<); write it out`);
  checkResult(opened, files, without(policy, gone));
  return { entries: [...gone].map(shown), files: [...files, ...withoutUids(opened, gone)] };
};

/** The file of uids without the records that go. JSON is YAML. */
const withoutUids = ({ adopted }: OpenPolicy, gone: ReadonlySet<string>): ChangedFile[] => {
  if (adopted === undefined) return [];
  const { name, real, text } = adopted;
  const { text: after } = withoutEntries(text, name, (path) => gone.has(JSON.stringify(path)));
  return after === text ? [] : [{ name, real, before: text, after }];
};

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

const shown = (path: string): string => entryText(JSON.parse(path) as string[]);

const without = (policy: Policy, gone: ReadonlySet<string>): Policy => {
  const stays = (path: EditPath): boolean => !gone.has(JSON.stringify(path));
  return {
    ...policy,
    identities: new Map([...policy.identities].filter(([key]) => stays(["identities", key]))),
    roles: new Map([...policy.roles].filter(([key]) => stays(["roles", key]))),
    bindings: policy.bindings.filter((binding) => stays(bindingPath(binding))),
  };
};
