// The descriptors that the server uses for gRPC, compared with the published ones: names, numbers, types, oneofs, presence,
// JSON names, reserved fields, enums and their nesting.
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { describe, expect, test } from "vitest";
import { grpcRegistry } from "../../server/grpc/registry.ts";
import { publishedText } from "../support/published.ts";

const registry = grpcRegistry();

/** The line of a type, by its name in its package; v2 is v2beta1, field for field (docs/contract.md#wire). */
const textOf = ({ file, typeName }: DescMessage | DescEnum, prefix = ""): string | undefined =>
  publishedText(file.proto.package, prefix + typeName.slice(file.proto.package.length + 1));

const types = [...registry.files]
  .filter(({ proto }) => proto.name.startsWith("chainguard/platform/"))
  .flatMap((file) => [...nestedTypes(file)]);
const messages = types.filter((type): type is DescMessage => type.kind === "message" && !type.proto.options?.mapEntry);
const enums = types.filter((type): type is DescEnum => type.kind === "enum");

/** Not served. */
const LEFT_OUT: Record<string, string> = {
  "chainguard.platform.registry.Repo": "custom_overlay=7 CustomOverlay",
};

const nameIn = (holder: DescMessage, name: string): string =>
  name.startsWith(`${holder.file.proto.package}.`)
    ? name.slice(holder.file.proto.package.length + 1)
    : (name.split(".").at(-1) as string);

const valueType = (field: DescField): string =>
  field.scalar === undefined
    ? nameIn(field.parent, ((field.enum ?? field.message) as DescEnum | DescMessage).typeName)
    : ScalarType[field.scalar].toLowerCase();

const typeOf = (field: DescField): string => {
  if (field.fieldKind === "list") return `[]${valueType(field)}`;
  return field.fieldKind === "map"
    ? `map<${ScalarType[field.mapKey].toLowerCase()},${valueType(field)}>`
    : valueType(field);
};

const lineOf = (field: DescField): string => {
  const flags = [field.oneof && `oneof:${field.oneof.name}`, field.proto.proto3Optional && "presence"].filter(Boolean);
  const usual = field.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const json = field.jsonName === usual ? "" : ` [json: ${field.jsonName}]`;
  return `${field.name}=${field.number} ${typeOf(field)}${flags.length > 0 ? ` (${flags.join(",")})` : ""}${json}`;
};

// Another test covers behaviours.
const publishedLines = (text: string): string[] => {
  const [fields = ""] = text.split(" — ");
  if (fields === "(empty)") return [];
  return fields.split("; ").map((line) =>
    line.replace(/ \(([^)]*)\)/, (_, flags: string) => {
      const kept = flags.split(/[,/]/).filter((flag) => flag.startsWith("oneof:") || flag === "presence");
      return kept.length > 0 ? ` (${kept.join(",")})` : "";
    }),
  );
};

const reservedOf = ({ proto }: DescMessage): string[] => [
  ...proto.reservedRange.map(({ start }) => String(start)),
  ...proto.reservedName,
];

describe.each(messages.map((message) => [message.typeName, message] as const))("%s", (name, message) => {
  const text = textOf(message) as string;

  test("has the published fields alone", () => {
    const expected = publishedLines(text).filter((line) => line !== LEFT_OUT[name]);
    expect(message.fields.map(lineOf).toSorted()).toEqual(expected.toSorted());
  });

  test("reserves the published names and numbers", () => {
    const expected = text.split(" — reserved: ")[1]?.split(", ") ?? [];
    const left = LEFT_OUT[name]?.split(/[= ]/, 2) ?? [];
    expect(reservedOf(message).toSorted()).toEqual([...expected, ...left].toSorted());
  });
});

test.each(enums.map((own) => [own.typeName, own] as const))("the enum %s has the published values", (_, own) => {
  const values = own.values.map((value) => `${value.name}=${value.number}`);
  expect(values.join(", ")).toBe(textOf(own, "enum "));
});
