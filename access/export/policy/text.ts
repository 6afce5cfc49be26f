// The files of a policy: access.yaml, and the uids of the records that it takes over.
import { presets } from "../../preset/presets.ts";
import { yamlText } from "../../yaml-text.ts";
import type { Branch, Draft } from "./build.ts";

const SCHEMA = "./node_modules/pulumi-irm/access.schema.json";

/** A file of a policy as YAML. `comment`: lines at its head, none with a line break. */
export const policyText = (document: Branch, comment: readonly string[] = []): string => {
  const head = [`yaml-language-server: $schema=${SCHEMA}`, ...comment].map((line) => `# ${line}`.trimEnd());
  return `${head.join("\n")}\n\n${yamlText(document, (key) => Object.hasOwn(presets, key))}`;
};

/** What AccessPolicy takes as `adopt: { file }`: the uid of each record, by path or key. `resources`: of the program beside it. */
export const adoptionText = ({ places }: Draft, resources: ReadonlyMap<string, string> = new Map()): string => {
  const uids = {
    groups: new Map<string, string>(),
    identities: new Map<string, string>(),
    roles: new Map<string, string>(),
    ...(resources.size > 0 && { resources }),
  };
  for (const [{ uid }, { section, key }] of places) if (section !== "access") uids[section].set(key, uid);
  const sections = Object.entries(uids).map(([name, own]) => [name, Object.fromEntries(own)]);
  return `${JSON.stringify(Object.fromEntries(sections), null, 2)}\n`;
};
