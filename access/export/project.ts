// The files of a Pulumi project.

import type { Json } from "../../schema/index.ts";
import { UIDS_FILE } from "../policy/uids.ts";
import { quote, yamlText } from "../text.ts";
import { needsSecret } from "./arguments.ts";
import { commentText, headComment } from "./literal.ts";
import type { Export } from "./model.ts";
import { identifier, slug } from "./names.ts";
import { adoptionText, policyOf, policyText, splitByGroup } from "./policy/policy.ts";
import { pythonProgram } from "./python.ts";
import type { ExportKind } from "./read.ts";
import { typescriptProgram } from "./typescript.ts";
import { classOf, type Entry, type ExportOptions, givenIn, Reference, Secret, type Value } from "./value.ts";

export type Format = "typescript" | "yaml" | "python" | "pulumi-yaml";

/** Text of each file, by name. The first one is the program; or, beside a program, the policy. */
export type Files = ReadonlyMap<string, string>;

interface ProjectOptions {
  /** the plugin serves the resources of a program in TypeScript, as of any other */
  isNative: boolean;
  /** a policy has a file for each group directly below the organization */
  isSplit?: boolean;
}

/** The options that follow from the format of a program. */
export const optionsOf = (format: Format, isNative: boolean, isAdopted: boolean): Omit<ExportOptions, "nowMs"> => ({
  isAdopted,
  isPolicy: format === "yaml",
  isImported: isAdopted && (format === "typescript" ? isNative : format !== "yaml"),
  unsayable: format === "pulumi-yaml" ? unsayableInYaml : undefined,
});

export const projectOf = (all: Export, format: Format, options: ProjectOptions): Files =>
  PROJECTS[format](all, options);

const NPM_INSTALL = "npm install ../pulumi-irm-*.tgz";

/** The command that installs the package in a project; the package is beside the project's folder. */
export const INSTALL: Readonly<Record<Format, string>> = {
  typescript: NPM_INSTALL,
  yaml: NPM_INSTALL,
  python: "pip install ../pulumi_irm-*.whl",
  "pulumi-yaml": NPM_INSTALL,
};

/** The range of package.json, which the published command does not contain. */
const SDK_VERSIONS = "^3.142.0";

const POLICY = "access.yaml";

const PROJECTS: Readonly<Record<Format, (all: Export, options: ProjectOptions) => Files>> = {
  typescript: (all, options) =>
    new Map([
      ["index.ts", typescriptProgram(all, options)],
      ...uidsFile(all),
      ...(options.isNative ? importFile(all) : []),
      ...nodeFiles(all, options),
    ]),
  yaml: (all, options) => {
    const draft = policyOf(all);
    const policy = { file: POLICY, ...(all.isAdopted && { adopt: UIDS_FILE }), places: draft.places };
    const head = headComment(all);
    const others = all.entries.filter((entry) => !draft.places.has(entry));
    const files = options.isSplit ? splitByGroup(draft) : new Map([[POLICY, draft.document]]);
    return new Map([
      ...[...files].map(([file, own]) => [file, policyText(own, file === POLICY ? head : [])] as const),
      ...(all.isAdopted ? [[UIDS_FILE, adoptionText(draft, uidsOf(others))] as const] : []),
      ["index.ts", typescriptProgram(all, { ...options, policy })],
      ...nodeFiles(all, options),
    ]);
  },
  python: (all) =>
    new Map([
      ["__main__.py", pythonProgram(all)],
      ...uidsFile(all),
      ...importFile(all),
      ["Pulumi.yaml", yamlText({ ...projectFields(all), runtime: "python" })],
    ]),
  "pulumi-yaml": (all) =>
    new Map([
      ["Pulumi.yaml", pulumiYamlProgram(all, { ...projectFields(all), runtime: "yaml", plugins: PLUGINS })],
      ["package.json", jsonText({ name: projectName(all), private: true })],
      ...uidsFile(all, yamlName),
      ...importFile(all, yamlName),
    ]),
};

const PLUGINS = { providers: [{ name: "irm", path: "node_modules/pulumi-irm/plugin" }] };

const projectName = ({ title }: Export) => slug(title) || "access";

/** An update first reads the records, so that it repairs manual changes. */
const OPTIONS = { options: { refresh: "always" } };

const projectFields = (all: Export) => ({
  name: projectName(all),
  description: `Access of ${all.title}`,
  ...OPTIONS,
});

/** A Node project whose program is `index.ts`. The package is not in a registry: `npm install` of its file adds it. */
const nodeFiles = (all: Export, { isNative }: ProjectOptions): [string, string][] => {
  const manifest = { name: projectName(all), private: true, dependencies: { "@pulumi/pulumi": SDK_VERSIONS } };
  const project = { ...projectFields(all), runtime: "nodejs", ...(isNative && { plugins: PLUGINS }) };
  return [
    ["package.json", jsonText(manifest)],
    ["tsconfig.json", jsonText({ compilerOptions: COMPILER_OPTIONS, files: ["index.ts"] })],
    ["Pulumi.yaml", yamlText(project)],
  ];
};

/** Without `strict`, the compiler does not know which preset requires which argument. */
const COMPILER_OPTIONS = { strict: true, target: "es2020", module: "commonjs", moduleResolution: "node" };

type NameOf = (entry: Entry) => string;
const logicalName: NameOf = ({ name }) => name;

/** The file that the provider reads beside the program: the record that each of its resources adopts. */
const uidsFile = (all: Export, nameOf: NameOf = logicalName): [string, string][] =>
  all.isAdopted ? [[UIDS_FILE, jsonText({ resources: Object.fromEntries(uidsOf(all.entries, nameOf)) })]] : [];

const uidsOf = (entries: readonly Entry[], nameOf: NameOf = logicalName) =>
  new Map(entries.map((entry) => [`${classOf(entry)}::${nameOf(entry)}`, entry.uid]));

/** The file for `pulumi import --file`. */
const importFile = (all: Export, nameOf: NameOf = logicalName): [string, string][] => {
  // Without its secret, the program does not declare an identity provider, and an import would leave a protected resource that the program
  // lacks.
  const declared = all.entries.filter(({ secret }) => secret === undefined);
  const resources = declared.map((entry) => ({
    type: `irm:index:${classOf(entry)}`,
    name: nameOf(entry),
    id: entry.uid,
  }));
  return all.isAdopted ? [["import.json", jsonText({ resources })]] : [];
};

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

// The program in Pulumi's YAML: a resource of the plugin for each record.

/** `project`: the fields of Pulumi.yaml beside the resources. */
export const pulumiYamlProgram = (all: Export, project: object): string =>
  `${commentText("#", headComment(all))}\n\n${yamlText({ ...project, resources: yamlResources(all.entries) })}`;

/** The content of `resources:`. */
export const yamlResources = (entries: readonly Entry[]): ReadonlyMap<string, object> =>
  new Map(
    entries.map((entry) => [yamlName(entry), { type: `irm:${classOf(entry)}`, properties: nodeOf(givenIn(entry)) }]),
  );

/** Resources of all kinds share one namespace, which references use. */
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
