// From the fields of messages to the types of properties. Messages and enums are named types of the package, by the names that
// `pulumi-irm/schema` gives them. A message that a caller may set in part has a second type with all the fields that the API returns.
import { z } from "zod";
import { TOKEN_PREFIX } from "../../provider/record/kind.ts";
import {
  asMessage,
  enumInfo,
  fieldInfo,
  fieldText,
  isOptional,
  type Message,
  messageInfo,
  scalarInfo,
  typeName,
  unwrap,
} from "../../schema/index.ts";

type Use = "input" | "output";

export type Types = ReturnType<typeof createTypes>;

export const token = (name: string): string => TOKEN_PREFIX + name;

/** Whether inputs or outputs contain the field: the API sets some fields itself, and returns no secrets. */
const isIn = (use: Use, field: z.ZodType): boolean => {
  const { behavior, inputOnly, secret } = fieldInfo(field);
  return use === "input" ? behavior !== "OUTPUT_ONLY" : !(inputOnly || secret);
};

export const isRequired = (use: Use, field: z.ZodType): boolean => {
  const { behavior, always } = fieldInfo(field);
  return (
    behavior === "REQUIRED" ||
    (use === "output" && (always === true || (behavior === "OUTPUT_ONLY" && !isOptional(field))))
  );
};

export const createTypes = () => {
  /** by token */
  const specs: Record<string, ObjectSpec | EnumSpec> = {};

  const declareOnce = (name: string, specOf: () => ObjectSpec | EnumSpec): TypeSpec => {
    if (!(token(name) in specs)) {
      // Its place first: a message may contain itself.
      specs[token(name)] = { type: "object", properties: {} };
      specs[token(name)] = specOf();
    }
    return { $ref: `#/types/${token(name)}` };
  };

  const of = (field: z.ZodType, use: Use): TypeSpec => {
    const inner = unwrap(field);
    const message = asMessage(inner);
    if (message) return declareOnce(nameOf(message, use), () => object(message, use));
    if (inner instanceof z.ZodArray) return { type: "array", items: of(inner.element as z.ZodType, use) };
    if (inner instanceof z.ZodRecord)
      return { type: "object", additionalProperties: of(inner.valueType as z.ZodType, use) };
    const info = enumInfo(inner);
    // The enum of capabilities is open: people write them in two spellings, and a service may have more than are published.
    if (info && Object.keys(info.numbers).length <= 100)
      return declareOnce(typeName(info.enum), () => enumSpec(info.numbers));
    if (scalarInfo(inner)?.scalar === "int32") return { type: "integer" };
    return { type: inner instanceof z.ZodBoolean ? "boolean" : "string" };
  };

  /** the fields of a message as properties; `describe` is for properties of the message itself */
  const object = (
    schema: Message,
    use: Use,
    describe = (field: z.ZodType) => fieldText(field, use === "input" ? "argument" : "output"),
  ): ObjectSpec => {
    const fields = Object.entries(schema.shape).filter(([, field]) => isIn(use, field));
    const properties: Properties = {};
    for (const [name, field] of fields)
      properties[name] = propertySpec(of(field, use), describe(field), use === "input" ? field : undefined);
    const required = fields.flatMap(([name, field]) => (isRequired(use, field) ? [name] : []));
    return { type: "object", properties, ...(required.length > 0 && { required }) };
  };

  return { specs, of, object };
};

export const propertySpec = (type: TypeSpec, description: string | undefined, field?: z.ZodType): PropertySpec => {
  const { secret, immutable, createOnly } = field ? fieldInfo(field) : {};
  return {
    ...type,
    ...(description !== undefined && { description: descriptionFrom(description) }),
    ...(secret && { secret }),
    ...((immutable || createOnly) && { willReplaceOnChanges: true as const }),
  };
};

const enumSpec = (numbers: Readonly<Record<string, number>>): EnumSpec => {
  const values = Object.keys(numbers);
  const [unset = ""] = values;
  const prefix = unset.replace(/UNSPECIFIED$/, "");
  return { type: "string", enum: values.map((value) => ({ name: value.replace(prefix, ""), value })) };
};

const nameOf = (schema: Message, use: Use): string => {
  const name = typeName(messageInfo(schema)?.message ?? "");
  const hasInput = Object.values(schema.shape).some((field) => isIn("input", field));
  return use === "output" && hasInput && !isSame(schema) ? `${name}Record` : name;
};

/** Whether input and output have the same fields, at any depth. */
const isSame = (schema: Message): boolean =>
  Object.values(schema.shape).every((field) => {
    const message = asMessage(elementOf(unwrap(field)));
    return isIn("input", field) && isIn("output", field) && (message === undefined || isSame(message));
  });

const elementOf = (inner: z.ZodType): z.ZodType => {
  if (inner instanceof z.ZodArray) return elementOf(unwrap(inner.element as z.ZodType));
  return inner instanceof z.ZodRecord ? elementOf(unwrap(inner.valueType as z.ZodType)) : inner;
};

// From the text of an argument to the description of a property: in languages other than TypeScript a property takes only uids.
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\ban? (?:Group|IdentityProvider|Identity|Repo|Role) or a uid\b/g, "its uid"],
  [/, a Role, or a uid\b/g, ", or a uid"],
  [/\bundefined\b/g, "absent"],
  [/\ba Repo, its uid\b/, "its uid"],
];

export const descriptionFrom = (words: string): string => {
  const text = REPLACED.reduce((result, [pattern, words]) => result.replace(pattern, words), words);
  return /^(?:uid|uids)\b/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
};

// The parts of a Pulumi package schema that this package uses (https://www.pulumi.com/docs/iac/extending-pulumi/schema/).

export type TypeSpec =
  | { type: "string" | "boolean" | "integer" | "number" }
  | { type: "array"; items: TypeSpec }
  | { type: "object"; additionalProperties: TypeSpec }
  | { $ref: string; plain?: true }
  | { oneOf: TypeSpec[] };

export type PropertySpec = TypeSpec & {
  description?: string;
  secret?: true;
  /** takes only values that are already known */
  plain?: true;
  /** a change creates a new record */
  willReplaceOnChanges?: true;
};

export type Properties = Record<string, PropertySpec>;

export interface ObjectSpec {
  description?: string;
  type: "object";
  properties: Properties;
  required?: string[];
}

export interface EnumSpec {
  type: "string";
  enum: { name: string; value: string }[];
}

export interface ResourceSpec {
  description?: string;
  /** the plugin constructs it from its own resources */
  isComponent?: true;
  properties: Properties;
  required: string[];
  inputProperties: Properties;
  requiredInputs: string[];
  aliases?: { type: string }[];
}

export interface FunctionSpec {
  description: string;
  inputs: ObjectSpec;
  outputs: ObjectSpec;
}
