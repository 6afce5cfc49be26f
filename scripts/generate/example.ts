// The example of each resource: the first program of its page in docs/. The comments of the classes show its paragraphs on the resource.
// The plugin's schema has the whole program in TypeScript, Python, YAML and Go, for Pulumi's registry and its generators of SDKs
// (https://www.pulumi.com/docs/iac/extending-pulumi/schema/). The program runs here with classes that record their arguments. The printers
// of `irm export` write these in the other languages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { yamlName, yamlResources } from "../../access/export/project.ts";
import { pythonResources, pythonVariable } from "../../access/export/python.ts";
import { type Entry, Fields, Reference, type Value } from "../../access/export/value.ts";
import { yamlText } from "../../access/text.ts";
import { type Properties, type TypeSpec, token } from "../../plugin/schema/types.ts";
import { toSnake, uncapitalize } from "../../schema/index.ts";
import { root } from "../base/project.mjs";
import { goText, type Recorded } from "./go-example.ts";
import { namedType, type Schema } from "./package-schema.ts";
import { article, fileOfType } from "./program-type.ts";

/** The paragraphs of the program that declare the resource itself. */
export const exampleOf = (type: string): string =>
  programOf(type)
    .trimEnd()
    .split("\n\n")
    .filter((paragraph) => paragraph.includes(`new ${type}(`))
    .join("\n\n");

/** The package schema with the example of each resource at the end of its description. */
export const withExamples = <T extends Schema>(schema: T): T => ({
  ...schema,
  resources: Object.fromEntries(
    Object.entries(schema.resources).map(([name, spec]) => {
      const description = `${spec.description}\n\n${exampleText(name.replace(token(""), ""), schema)}`;
      return [name, { ...spec, description }];
    }),
  ),
});

/** The page of a resource. */
export const pageOf = (type: string): string => join("docs", "resources", `${fileOfType(type)}.md`);

export const programOf = (type: string): string => {
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, pageOf(type)), "utf8")) ?? [];
  if (program === undefined) throw new Error(`${pageOf(type)} has no program in TypeScript`);
  return program;
};

/** The example in the other languages, by the language of its fence. */
export const translationsOf = (type: string, schema: Schema): Record<"python" | "yaml" | "go", string> => {
  const recorded = recordIn(pageOf(type), programOf(type), schema);
  return { python: pythonText(recorded), yaml: pulumiYamlText(recorded), go: goText(recorded, schema) };
};

/** As a program of the native plugin. */
export const pluginProgramOf = (type: string): string =>
  programOf(type).replace('from "pulumi-irm"', 'from "pulumi-irm/plugin"');

const exampleText = (type: string, schema: Schema): string => {
  const fences = Object.entries({ typescript: pluginProgramOf(type), ...translationsOf(type, schema) }).map(
    ([language, text]) => `\`\`\`${language}\n${text}\`\`\`\n`,
  );
  const title = article(type.replace(/(?!^)[A-Z]/g, " $&").toLowerCase()).replace(/^a/, "A");
  return `{{% examples %}}\n## Example Usage\n\n{{% example %}}\n### ${title}\n\n${fences.join("\n")}{{% /example %}}\n{{% /examples %}}`;
};

/** A resource, or the value at a path in its outputs. */
class Made {
  readonly entry: Entry;
  readonly path: readonly string[];

  constructor(entry: Entry, path: readonly string[]) {
    this.entry = entry;
    this.path = path;
  }
}

const made = (entry: Entry, path: readonly string[] = []) =>
  new Proxy(new Made(entry, path), {
    get: (own, key) =>
      typeof key === "symbol" || key in own ? Reflect.get(own, key) : made(entry, [...path, String(key)]),
  });

const recordIn = (page: string, program: string, schema: Schema): Recorded => {
  try {
    return record(program, schema);
  } catch (error) {
    throw new Error(`${page}: its first program cannot be the example: ${(error as Error).message}`, { cause: error });
  }
};

const record = (program: string, schema: Schema): Recorded => {
  const entries: Entry[] = [];
  const classOf = (_: object, type: string | symbol) =>
    new Proxy(class {}, {
      construct: (_class, [name, args]) => {
        const entry = entryFrom(String(type), name, args, schema);
        entries.push(entry);
        return made(entry);
      },
    });
  const library = new Proxy({}, { get: classOf });
  const outputs: Record<string, Made> = {};
  const body = program
    .replace(/^import (\{[^}]*\}) from "pulumi-irm";$/m, "const $1 = library;")
    .replace(/^export const (\w+) =/gm, "outputs.$1 =");
  new Function("library", "outputs", body)(library, outputs);
  const exported = Object.entries(outputs).map(([name, { entry, path }]) => {
    const [output = "uid", ...keys] = path;
    return { name, entry, output, keys };
  });
  return { entries, outputs: exported };
};

const entryFrom = (type: string, name: string, { parent, ...args }: Record<string, unknown>, schema: Schema): Entry => {
  const spec = schema.resources[token(type)];
  if (spec === undefined) throw new Error(`${type} is not a resource of the plugin`);
  const { inputProperties } = spec;
  return {
    // The printers take the name of the class from it; a set and a component have one too.
    kind: uncapitalize(type) as Entry["kind"],
    uid: "",
    name,
    isAdopted: false,
    args: fieldsFrom(args, inputProperties, schema, type),
    ...(parent !== undefined && { parent: valueFrom(parent, { type: "string" }, schema, type) }),
  };
};

const fieldsFrom = (given: object, properties: Properties, schema: Schema, at: string) =>
  new Fields(
    Object.entries(given).map(([name, value]): [string, Value] => {
      const spec = properties[name];
      if (spec === undefined) throw new Error(`${at} has no property ${name}`);
      return [name, valueFrom(value, spec, schema, `${at}.${name}`)];
    }),
  );

/** The schema tells the fields of a message from the keys of a map. */
const valueFrom = (value: unknown, spec: TypeSpec, schema: Schema, at: string): Value => {
  if (value instanceof Made) {
    if (value.path.length > 0 && String(value.path) !== "uid")
      throw new Error(`${at} is the output ${value.path.join(".")}; an argument may be a resource or its uid`);
    return new Reference(value.entry);
  }
  if (Array.isArray(value))
    return value.map((item) => valueFrom(item, "items" in spec ? spec.items : spec, schema, `${at}[]`));
  if (typeof value !== "object" || value === null) return value as string | number | boolean;
  if ("additionalProperties" in spec) {
    const { additionalProperties } = spec;
    return new Map(Object.entries(value).map(([key, one]) => [key, valueFrom(one, additionalProperties, schema, at)]));
  }
  const message = namedType(spec, schema);
  return fieldsFrom(value, message && "properties" in message ? message.properties : {}, schema, at);
};

const keysText = (keys: readonly string[]) => keys.map((key) => `["${key}"]`).join("");

const pythonText = ({ entries, outputs }: Recorded): string => {
  const named = outputs.map(({ entry }) => entry);
  const imports = [...(outputs.length > 0 ? ["import pulumi"] : []), "import pulumi_irm as irm"];
  const exported = outputs.map(
    ({ name, entry, output, keys }) =>
      `pulumi.export("${name}", ${pythonVariable(entry)}.${toSnake(output)}${keysText(keys)})`,
  );
  const parts = [imports.join("\n"), ...pythonResources(entries, { isAdopted: false }, named), exported.join("\n")];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
};

const pulumiYamlText = ({ entries, outputs }: Recorded): string => {
  const exported = outputs.map(
    ({ name, entry, output, keys }) => [name, `\${${yamlName(entry)}.${output}${keysText(keys)}}`] as const,
  );
  const resources = yamlResources(entries);
  return yamlText({ resources, ...(exported.length > 0 && { outputs: new Map(exported) }) });
};
