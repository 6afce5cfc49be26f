// The program in Pulumi's YAML: a resource of the plugin for each record.
import type { Json } from "../../schema/index.ts";
import { quote, yamlText } from "../text.ts";
import { needsSecret } from "./arguments.ts";
import { headComment } from "./comment.ts";
import type { Export } from "./model.ts";
import { identifier } from "./names.ts";
import type { ExportKind } from "./read.ts";
import { classOf, type Entry, givenIn, Reference, Secret, type Value } from "./value.ts";

/** `project`: the fields of Pulumi.yaml beside the resources. */
export const pulumiYamlProgram = (all: Export, project: object): string => {
  const head = headComment(all).map((line) => `# ${line}`.trimEnd());
  return `${head.join("\n")}\n\n${yamlText({ ...project, resources: yamlResources(all.entries) })}`;
};

/** What follows `resources:`. */
export const yamlResources = (entries: readonly Entry[]): ReadonlyMap<string, object> =>
  new Map(
    entries.map((entry) => [yamlName(entry), { type: `irm:${classOf(entry)}`, properties: nodeOf(givenIn(entry)) }]),
  );

/** Resources of all kinds share their names, and references are made of them. */
export const yamlName = (entry: Entry): string => identifier(entry.name) + classOf(entry);

const nodeOf = (value: Value): unknown => {
  if (value instanceof Reference) return `\${${yamlName(value.entry)}.uid}`;
  if (value instanceof Secret) throw new TypeError(`a program in YAML has no setting ${value.setting}`);
  // A dollar sign begins a reference.
  if (typeof value === "string") return value.replaceAll("$", "$$$$");
  if (Array.isArray(value)) return value.map(nodeOf);
  if (!(value instanceof Map)) return value;
  return new Map([...value].map(([key, item]) => [key, nodeOf(item)]));
};

/** Why a program in YAML cannot declare a record with these fields. */
export const unsayableInYaml = (kind: ExportKind, fields: Json): string | undefined => {
  if (needsSecret(kind, fields)) return "needs its client secret, and a program in YAML cannot ask whether that is set";
  const key = keysIn(fields).find((one) => /^fn::/i.test(one) || one.includes("$"));
  return key && `has the key ${quote(key)}, which is code in a program in YAML`;
};

const keysIn = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, item]) => [...(Array.isArray(value) ? [] : [key]), ...keysIn(item)])
    : [];
