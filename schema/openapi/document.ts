// Builds an OpenAPI document (3.0.3) of the current version of the REST interface from the table of methods. Paths, parameters
// and messages have the names of the published document. Links show which call can follow another.
import type { z } from "zod";
import { asMessage, enumInfo, fieldInfo, fieldText, type Message, messageInfo } from "../field.ts";
import type { Operation } from "../operation.ts";
import { operations, VERSION } from "../operations.ts";
import { fullName } from "../protobuf/name.ts";
import { StatusMessage } from "../status.ts";
import {
  enumSchema,
  type JsonSchema,
  objectSchema,
  type Reference,
  requiredOfInput,
  valueSchema,
} from "./json-schema.ts";
import { linksFrom } from "./link.ts";
import { openapiPath, operationIdOf, pathFields, pathName, tagOf } from "./name.ts";

export const openapiDocument = () => {
  const { schemas, reference } = createComponents();
  const rows = Object.entries(operations) as [string, Operation][];
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, row] of rows) {
    const path = openapiPath(row);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(name, row, reference) };
  }
  const failure = { description: "An error.", content: jsonOf(reference(StatusMessage)) };
  return {
    openapi: "3.0.3",
    info: {
      title: "Identity and Registry Management API",
      version: VERSION,
      description:
        "The REST interface. A `uid` is a path: its slashes may be written as they are, or as %2F. Every path below is also " +
        "served with `v2` in place of `v2beta1`.",
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: [...new Set(rows.map(([, row]) => tagOf(row)))].sort().map((name) => ({ name })),
    paths: sortKeys(paths),
    components: {
      schemas: sortKeys(schemas),
      responses: { Error: failure },
      securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
};

const operation = (name: string, row: Operation, reference: Reference): JsonSchema => {
  const links = linksFrom(name, row);
  const empty = row.method === "DELETE";
  return {
    tags: [tagOf(row)],
    summary: (row.rpc ?? name).replace(/([a-z])([A-Z])/g, "$1 $2"),
    operationId: operationIdOf(name, row),
    ...(row.auth === "none" && { security: [] }),
    parameters: [...pathParameters(row, reference), ...queryParameters(row, reference)],
    ...(row.body && { requestBody: { required: true, content: jsonOf(bodySchema(row, reference)) } }),
    responses: {
      200: {
        description: empty ? "Done; the body is empty." : "The answer.",
        ...(!empty && { content: jsonOf(reference(row.response)) }),
        ...(Object.keys(links).length > 0 && { links }),
      },
      default: { $ref: "#/components/responses/Error" },
    },
  };
};

const jsonOf = (schema: JsonSchema) => ({ "application/json": { schema } });

const pathParameters = (row: Operation, reference: Reference): JsonSchema[] =>
  pathFields(row).map((field) => {
    const schema = fieldAt(row.request, field.split("."));
    const head = { name: pathName(field), in: "path", required: true, ...parameterText(schema) };
    return { ...head, schema: { minLength: 1, ...valueSchema(schema, reference) } };
  });

/** The description of a parameter, which stands beside its schema. */
const parameterText = (field: z.ZodType): JsonSchema => {
  const description = fieldText(field);
  return description === undefined ? {} : { description };
};

const fieldAt = (schema: Message, [head, ...rest]: string[]): z.ZodType => {
  const field = schema.shape[head as string] as z.ZodType;
  return rest.length === 0 ? field : fieldAt(asMessage(field) as Message, rest);
};

// Every field that is neither in the path nor in the body. Fields of a message are named by their path.
const queryParameters = (row: Operation, reference: Reference): JsonSchema[] => {
  if (row.body === "*") return [];
  const held = new Set([...pathFields(row).map((field) => field.split(".")[0]), row.body]);
  const leaves = (schema: Message, prefix: string): JsonSchema[] =>
    Object.entries(schema.shape).flatMap(([name, field]) => {
      if (prefix === "" && held.has(name)) return [];
      const message = asMessage(field);
      if (message) return leaves(message, `${prefix}${name}.`);
      const required = fieldInfo(field).behavior === "REQUIRED";
      const head = { name: prefix + name, in: "query", ...(required && { required }), ...parameterText(field) };
      return [{ ...head, schema: valueSchema(field, reference) }];
    });
  return leaves(row.request, "");
};

const bodySchema = (row: Operation, reference: Reference): JsonSchema => {
  const without = pathFields(row);
  if (row.body === "*")
    return without.length === 0 ? reference(row.request) : objectSchema(row.request, reference, { without });
  const resource = asMessage(row.request.shape[row.body as string] as z.ZodType) as Message;
  // An update names only what changes. The uid is in the path.
  if (row.method === "PATCH") return objectSchema(resource, reference, { without: ["uid"], isPartial: true });
  const required = requiredOfInput(resource);
  return required.length > 0 ? { allOf: [reference(resource), { required }] } : reference(resource);
};

const createComponents = () => {
  const schemas: Record<string, JsonSchema> = {};
  const reference: Reference = (schema) => {
    const message = asMessage(schema);
    const name = (messageInfo(schema)?.message ?? enumInfo(schema)?.enum) as string;
    const key = fullName(name, VERSION);
    if (!(key in schemas)) {
      // Registered before its fields are described, because a message may contain itself.
      schemas[key] = {};
      schemas[key] =
        name === "google.protobuf.Any" ? any : message ? objectSchema(message, reference) : enumSchema(schema);
    }
    return { $ref: `#/components/schemas/${key}` };
  };
  return { schemas, reference };
};

const any: JsonSchema = { type: "object", properties: { "@type": { type: "string" } }, additionalProperties: {} };

const sortKeys = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
