// The native form of the generated classes, look-ups and lists: the same arguments, outputs and rules, served by the plugin.
import { kindRecords } from "../../provider/kind/index.ts";
import type { Kind } from "../../provider/record/kind.ts";
import { roleBindingSet } from "../../schema/index.ts";
import { exampleOf } from "./example.ts";
import { listName, lookUpArgs, SHARED_ARGS } from "./program-text.ts";
import { docLines, exampleLines, HEAD } from "./program-type.ts";

/** The files of provider/program/generated/native, by name. */
export const nativeFiles = (): Map<string, string> => {
  const kinds = Object.values<Kind>(kindRecords).toSorted(({ type: a }, { type: b }) => (a < b ? -1 : 1));
  return new Map([
    ["classes.ts", classesFile(kinds)],
    ["functions.ts", functionsFile(kinds)],
    ["index.ts", indexFile(kinds)],
  ]);
};

const ERRORS = "Errors: those of this class in pulumi-irm, each with its property.";

const classesFile = (kinds: readonly Kind[]): string => {
  const declared = [...kinds.map(({ type, texts }) => ({ type, about: texts.about })), roleBindingSet];
  const classes = declared.flatMap(({ type, about }) => [
    ...docLines("", [`${type}, served by the plugin: ${about}`, "", ERRORS, "", ...exampleLines(exampleOf(type))]),
    `export class ${type} extends dynamic.${type} {}`,
    "",
  ]);
  const imports = ['import { registerNative } from "../../form.ts";', 'import * as dynamic from "../index.ts";'];
  const registered = `registerNative(${declared.map(({ type }) => type).join(", ")});`;
  return `${[HEAD, ...imports, "", ...classes, registered].join("\n")}\n`;
};

/** All names of pulumi-irm, in their native form: in a module, a named export takes precedence over `export *`. */
const indexFile = (kinds: readonly Kind[]): string => {
  const functions = kinds.flatMap((kind) => [
    ...(kind.texts.lookUp ? [`get${kind.type}`, `get${kind.type}Output`] : []),
    listName(kind),
  ]);
  const exportLines = (names: readonly string[], file: string) => [
    "export {",
    ...names.toSorted().map((name) => `  ${name},`),
    `} from "./${file}.ts";`,
  ];
  const lines = [
    HEAD,
    'export * from "../../../index.ts";',
    'export * from "../../provider.ts";',
    'export type { ProviderArgs } from "../provider-args.ts";',
    'export { AccessPolicy } from "../../native/look-up.ts";',
    ...exportLines(
      [...kinds, roleBindingSet].map(({ type }) => type),
      "classes",
    ),
    ...exportLines(functions, "functions"),
  ];
  return `${lines.join("\n")}\n`;
};

const functionsFile = (kinds: readonly Kind[]): string => {
  const messages = kinds.map(({ type }) => `${type} as ${type}Message`);
  return `${[
    HEAD,
    'import type * as pulumi from "@pulumi/pulumi";',
    'import { resources } from "../../../../schema/index.ts";',
    `import type { ${messages.join(", ")} } from "../../../../schema/public.ts";`,
    'import type { GetArgs, GetByUidArgs, Inputs } from "../../get.ts";',
    'import { get, getOutput, list } from "../../native/look-up.ts";',
    'import type * as dynamic from "../index.ts";',
    "",
    ...kinds.flatMap(functionsOf),
  ].join("\n")}`;
};

const OPTS = "opts?: pulumi.InvokeOptions";

/** The look-up of a kind, and its list. */
const functionsOf = (kind: Kind) => {
  const { type, field, texts, list } = kind;
  const [message, resource] = [`${type}Message`, `resources.${field}`];
  const listLines = [
    `export const ${listName(kind)} = (args: dynamic.${list.operation}Args = {}, ${OPTS}): AsyncGenerator<${message}, void, undefined> =>`,
    `  list<${message}>(${resource}, args, opts);`,
    "",
  ];
  if (!texts.lookUp) return listLines;
  const [args, later] = lookUpArgs(kind).map((name) => (SHARED_ARGS.includes(name) ? name : `dynamic.${name}`));
  return [
    `export const get${type} = (args: ${args}, ${OPTS}): Promise<${message}> =>`,
    `  get<${message}>(${resource}, args, opts);`,
    "",
    `export const get${type}Output = (args: ${later}, ${OPTS}): pulumi.Output<${message}> =>`,
    `  getOutput<${message}>(${resource}, args, opts);`,
    "",
    ...listLines,
  ];
};
