// The pages of docs/resources/: all but the first program of a page, and what follows the generated part, comes from the plugin's schema.
import { join } from "node:path";
import {
  type Properties,
  type PropertySpec,
  type ResourceSpec,
  type TypeSpec,
  token,
} from "../../plugin/schema/types.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import type { Kind } from "../../provider/record/kind.ts";
import { argumentOf } from "../../provider/record/state.ts";
import { capitalize } from "../../schema/index.ts";
import type { Operation } from "../../schema/operation.ts";
import { pageOf, pluginProgramOf, programOf, translationsOf } from "./example.ts";
import { namedType, type Schema } from "./package-schema.ts";

const START = "<!-- generated: scripts/generate.ts -->";
const END = "<!-- end -->";

const INDEX = join("docs", "_index.md");
const INSTALLATION = join("docs", "installation-configuration.md");
const SETTINGS = "<!-- generated: the settings -->";

const TITLES = { python: "Python", yaml: "YAML", go: "Go" };

/** The pages by name; `read` returns the present one, whose hand-written rest it keeps. */
export const resourcePages = (schema: Schema, read: (page: string) => string): [string, string][] =>
  Object.entries(schema.resources).map(([name, spec]) => {
    const type = name.replace(token(""), "");
    const [, rest = "\n"] = read(pageOf(type)).split(END);
    return [pageOf(type), `${START}\n# ${type}\n\n${sections(type, spec, schema).join("\n\n")}\n\n${END}${rest}`];
  });

/** The pages of Pulumi's registry, by name: their programs, and the settings of a stack, come from the schema. */
export const registryPages = (
  schema: Schema & { config: { variables: Properties } },
  read: (page: string) => string,
): [string, string][] => {
  const programs = { typescript: pluginProgramOf("RoleBinding"), ...translationsOf("RoleBinding", schema) };
  const index = Object.entries(programs).reduce(
    (page, [language, program]) =>
      page.replace(new RegExp(`(^\`\`\`${language}\\n).*?(?=^\`\`\`$)`, "ms"), (_, open) => open + program),
    read(INDEX),
  );
  const settings = Object.entries(schema.config.variables).map(([name, { description = "" }]) => [
    `\`irm:${name}\``,
    description,
  ]);
  const [before = ""] = read(INSTALLATION).split(SETTINGS);
  return [
    [INDEX, index],
    [INSTALLATION, `${before}${SETTINGS}\n\n${table(["setting", "meaning"], settings)}\n`],
  ];
};

const sections = (type: string, spec: ResourceSpec, schema: Schema): string[] => {
  const kind = Object.values<Kind>(kindRecords).find((one) => one.type === type);
  return [
    spec.description?.split("\n\n")[0] ?? "",
    `**TypeScript**\n\n\`\`\`ts\n${programOf(type)}\`\`\``,
    ...Object.entries(translationsOf(type, schema)).map(
      ([language, text]) => `**${TITLES[language as keyof typeof TITLES]}**\n\n\`\`\`${language}\n${text}\`\`\``,
    ),
    `## Arguments\n\n${argumentsText(spec, schema)}`,
    `## Outputs\n\n${outputsText(spec, schema)}`,
    // A set and a component are no records: their pages have these sections written by hand.
    ...(kind
      ? [
          `## Changes\n\n${changesText(spec, schema, kind)}`,
          `## Capabilities\n\n${capabilitiesText(kind)}`,
          `## Import\n\n${importText(kind)}`,
        ]
      : []),
  ];
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `|${cells.join("|")}|`).join("\n");

/** Of an output, with the names of its fields. */
const typeText = (spec: TypeSpec, schema: Schema, isOutput = false): string => {
  if ("items" in spec) return `${typeText(spec.items, schema, isOutput)}[]`;
  if ("additionalProperties" in spec) return "map";
  if ("oneOf" in spec) return spec.oneOf.map((one) => typeText(one, schema)).join(" or ");
  if ("type" in spec) return spec.type;
  const own = namedType(spec, schema);
  if (own !== undefined && "properties" in own && isOutput) return `\`{ ${Object.keys(own.properties).join(", ")} }\``;
  return own !== undefined && "enum" in own ? `\`${own.enum[0]?.value.replace(/UNSPECIFIED$/, "*")}\`` : "object";
};

interface Argument {
  path: string;
  spec: PropertySpec;
  isRequired: boolean;
  change: string;
}

/** Arguments of most resources, which docs/resources.md describes. The state has them, the record does not. */
const SHARED: Readonly<Record<string, string>> = {
  allowReplace: "`allowReplace`",
  allowDuplicate: "[`allowDuplicate`](../resources.md#duplicate)",
  adopt: "[`adopt`](../resources.md#adopt)",
  deleteAdopted: "[`deleteAdopted`](../resources.md#adopt)",
};
/** Further ones that only the state has. */
const STATE_ONLY = /^(?:forceDestroy|forceDestroyMax|maxRemovals)$/;

/** The arguments, each before the fields of its message. */
const argumentsIn = ({ inputProperties, requiredInputs }: ResourceSpec, schema: Schema): Argument[] =>
  Object.entries(inputProperties).flatMap(([name, spec]) => {
    const change = STATE_ONLY.test(name) ? "state only" : changeOf(spec, "in place");
    const inner = "items" in spec ? spec.items : spec;
    const message = namedType(inner, schema);
    const { properties, required = [] } = message && "properties" in message ? message : { properties: {} };
    const fields = Object.entries(properties).map(([field, own]) => ({
      path: `${name}${inner === spec ? "" : "[]"}.${field}`,
      spec: own,
      isRequired: required.includes(field),
      change: changeOf(own, change),
    }));
    return [{ path: name, spec, isRequired: requiredInputs.includes(name), change }, ...fields];
  });

const changeOf = (spec: PropertySpec, otherwise: string) => (spec.willReplaceOnChanges ? "replaces" : otherwise);

const DEFAULT = /[;.] default: ([^.;]*)\.?$/i;

const argumentsText = (spec: ResourceSpec, schema: Schema): string => {
  const isShared = ({ path }: Argument) => !spec.isComponent && path in SHARED;
  const all = argumentsIn(spec, schema);
  const rows = all
    .filter((one) => !isShared(one))
    .map(({ path, spec: own, isRequired, change }) => {
      // The last column says it.
      const description = own.description?.replace(/[;.] a change [^;.]*/i, "") ?? "";
      const [, byDefault = ""] = DEFAULT.exec(description) ?? [];
      const meaning = description.replace(DEFAULT, "");
      const type = meaning.endsWith(": its uid") ? "uid" : typeText(own, schema);
      return [`\`${path}\``, type, isRequired ? "required" : byDefault, meaning.replace(": its uid", ""), change];
    });
  const shared = all.filter(isShared).map(({ path }) => SHARED[path]);
  const further = shared.length > 0 ? `\n\nThese arguments change only the state: ${shared.join(", ")}.` : "";
  return table(["name", "type", "default", "meaning", "on change"], rows) + further;
};

/** Outputs of every record. */
const ALWAYS = /^(?:uid|createTime|updateTime)$/;

const outputsText = ({ inputProperties, properties }: ResourceSpec, schema: Schema): string => {
  const isArgument = (name: string, own: PropertySpec) =>
    name in inputProperties && JSON.stringify(typeOnly(inputProperties[name])) === JSON.stringify(typeOnly(own));
  const entries = Object.entries(properties);
  const isPlain = ([name, own]: [string, PropertySpec]) => isArgument(name, own) || ALWAYS.test(name);
  const names = entries
    .filter(isPlain)
    .map(([name]) => `\`${name}\``)
    .join(", ");
  const rows = entries
    .filter((one) => !isPlain(one))
    .map(([name, own]) => [`\`${name}\``, typeText(own, schema, true), own.description ?? ""]);
  if (rows.length === 0) return `${names}.`;
  return `${names && `${names}, and:\n\n`}${table(["name", "type", "meaning"], rows)}`;
};

const typeOnly = ({ description, willReplaceOnChanges, ...type }: PropertySpec = { type: "string" }) => type;

const OR = new Intl.ListFormat("en", { type: "disjunction" });

const changesText = (spec: ResourceSpec, schema: Schema, { word, replacementBreaks }: Kind): string => {
  const replacing = argumentsIn(spec, schema)
    .filter(({ spec: own }) => own.willReplaceOnChanges)
    .map(({ path }) => `\`${path}\``);
  const refusal = replacementBreaks
    ? `. ${capitalize(replacementBreaks)}. The preview refuses it without \`allowReplace: true\`.`
    : " before the old one is deleted. It never needs `allowReplace`.";
  return `A change of ${OR.format(replacing)} creates a new ${word}${refusal}`;
};

const capabilitiesText = ({ methods, operations, upsert }: Kind): string => {
  const { create, get, update = upsert ? create : undefined, delete: remove } = operations;
  return Object.entries({ Create: create, Read: get, Update: update, Delete: remove })
    .flatMap(([verb, name]) => {
      const { capabilities } = (methods as Record<string, Operation>)[name ?? ""] ?? {};
      return capabilities ? [`${verb}: ${capabilities.map((one) => `\`${one}\``).join(", ")}.`] : [];
    })
    .join(" ");
};

const importText = (kind: Kind): string => {
  const by = kind.matchedBy.map((field) => `\`${argumentOf(kind, field)}\``).join(" and ");
  return `\`\`\`\npulumi import irm:index:${kind.type} NAME UID\n\`\`\`\n\n[Dynamic resources](../resources.md#adopt): \`adopt: "UID"\`, or \`"match"\` for the only one${by && ` with this ${by}`} in \`parent\`.`;
};
