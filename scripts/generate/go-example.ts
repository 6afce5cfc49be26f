// An example in Go: formatted as gofmt does, with the types that the schema gives its arguments.
import { yamlName } from "../../access/export/project.ts";
import { classOf, type Entry, entriesIn, givenIn, Reference, type Value } from "../../access/export/value.ts";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { type Properties, type PropertySpec, type TypeSpec, token } from "../../plugin/schema/types.ts";
import { capitalize } from "../../schema/index.ts";
import { namedType, type Schema } from "./package-schema.ts";

export interface Recorded {
  entries: readonly Entry[];
  /** the exports of the program: an output of a resource, and the keys that lead into it */
  outputs: readonly { name: string; entry: Entry; output: string; keys: readonly string[] }[];
}

/** The text of a value behind its key; the further lines of one on several lines are indented below the key. */
type Written = readonly [key: string, value: string];

export const goText = ({ entries, outputs }: Recorded, schema: Schema): string => {
  const named = new Set([...entries.flatMap(entriesIn), ...outputs.map(({ entry }) => entry)]);
  const created = entries.map((entry, i) => {
    const isNew = i === 0 || named.has(entry);
    const call = `irm.New${classOf(entry)}(ctx, ${JSON.stringify(entry.name)}, ${argumentsText(entry, schema)})`;
    return `${named.has(entry) ? yamlName(entry) : "_"}, err ${isNew ? ":=" : "="} ${call}\nif err != nil {\n\treturn err\n}`;
  });
  const exported = outputs.map(({ name, entry, output, keys }) => {
    const spec = schema.resources[token(classOf(entry))]?.properties[output];
    const isMap = spec !== undefined && "additionalProperties" in spec;
    const path = keys.map((key) => (isMap ? `MapIndex(pulumi.String("${key}"))` : `${capitalize(key)}()`));
    return `ctx.Export("${name}", ${[yamlName(entry), capitalize(output), ...path].join(".")})`;
  });
  return `package main

import (
	"${GO_MODULE}"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
${indent(indent([...created, ...exported, "return nil"].join("\n")))}
	})
}
`;
};

const indent = (text: string) => text.replaceAll(/^(?=.)/gm, "\t");

const argumentsText = (entry: Entry, schema: Schema) => {
  const { inputProperties = {} } = schema.resources[token(classOf(entry))] ?? {};
  return structText(classOf(entry), givenIn(entry), inputProperties, schema);
};

const structText = (name: string, fields: ReadonlyMap<string, Value>, specs: Properties, schema: Schema) =>
  literal(
    `&irm.${name}Args`,
    [...fields].map(([field, value]) => [
      `${capitalize(field)}:`,
      valueText(value, specs[field] as PropertySpec, schema),
    ]),
  );

const valueText = (value: Value, spec: PropertySpec, schema: Schema): string => {
  if (value instanceof Reference) return `${yamlName(value.entry)}.Uid`;
  if (typeof value === "object") return compositeText(value, spec, schema);
  const type = { string: "String", boolean: "Bool", number: "Int" }[typeof value as "string"];
  return `pulumi.${type}${spec.plain ? "Ref" : ""}(${JSON.stringify(value)})`;
};

const compositeText = (value: object, spec: TypeSpec, schema: Schema): string => {
  if ("$ref" in spec) {
    const message = namedType(spec, schema);
    if (message === undefined || "enum" in message) throw new Error(`${spec.$ref} is not a message`);
    return structText(
      nameIn(spec).replace("irm.", ""),
      value as ReadonlyMap<string, Value>,
      message.properties,
      schema,
    );
  }
  if ("items" in spec) {
    const items = (value as readonly Value[]).map((item): Written => ["", valueText(item, spec.items, schema)]);
    return literal(`${nameIn(spec.items)}Array`, items);
  }
  if (!("additionalProperties" in spec)) throw new Error("an example in Go has no value of this type");
  const { additionalProperties: own } = spec;
  const items = [...(value as ReadonlyMap<string, Value>)].map(
    ([key, item]): Written => [`${JSON.stringify(key)}:`, valueText(item, own, schema)],
  );
  return literal(`${nameIn(own)}Map`, items);
};

/** Of an element of a list or map: `pulumi.String`, `irm.RoleBindingPair`. */
const nameIn = (spec: TypeSpec) =>
  "$ref" in spec ? `irm.${spec.$ref.replace(`#/types/${token("")}`, "")}` : "pulumi.String";

/** One line for each item. Keys with a value on one line are aligned with their neighbours, as gofmt does. */
const literal = (type: string, items: readonly Written[]): string => {
  const isLong = ([, value]: Written) => value.includes("\n");
  const lines = items.map((item, i) => {
    const [key, value] = item;
    if (key === "") return value;
    const from = items.findLastIndex((one, at) => at < i && isLong(one)) + 1;
    const to = items.findIndex((one, at) => at >= i && isLong(one));
    const aligned = isLong(item) ? [item] : items.slice(from, to < 0 ? items.length : to);
    return key.padEnd(Math.max(...aligned.map(([one]) => one.length)) + 1) + value;
  });
  return `${type}{\n${indent(lines.map((line) => `${line},\n`).join(""))}}`;
};
