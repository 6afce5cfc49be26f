// Builds an OpenAPI document (3.0.3) of the current version of the REST interface from the table of methods. Paths, parameters
// and messages have the names of the published document. Links show which call can follow another.
import { z } from "zod";
import { StatusMessage } from "../error.ts";
import {
  asMessage,
  enumInfo,
  fieldInfo,
  fieldsOf,
  fieldText,
  type Message,
  messageInfo,
  scalarInfo,
  unwrap,
} from "../field.ts";
import type { Operation } from "../operation.ts";
import { operations, VERSION } from "../operations.ts";
import { fullName } from "../protobuf/message.ts";

export const openapiDocument = () => {
  const { schemas, reference } = createComponents();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, row] of rows) {
    // Every wildcard is a uid, as in the published document: `/iam/v2beta1/groups/{uid}`.
    const path = row.path
      .replace("{version}", VERSION)
      .replace(/\{([^}=]+)(=\*\*)?\}/g, (_, field: string) => `{${pathName(field)}}`);
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
    const head = { name: pathName(field), in: "path", required: true, ...described(fieldText(schema)) };
    return { ...head, schema: { minLength: 1, ...valueSchema(schema, reference) } };
  });

const described = (description: string | undefined) => (description === undefined ? {} : { description });

const fieldAt = (schema: Message, [head, ...rest]: string[]): z.ZodType => {
  const field = schema.shape[head as string] as z.ZodType;
  return rest.length === 0 ? field : fieldAt(asMessage(field) as Message, rest);
};

// Every field that is neither in the path nor in the body. Fields of a message are named by their path.
const queryParameters = (row: Operation, reference: Reference): JsonSchema[] => {
  if (row.body === "*") return [];
  const held = new Set([...pathFields(row).map((field) => field.split(".")[0]), row.body]);
  const leaves = (schema: Message, prefix: string): JsonSchema[] =>
    fieldsOf(schema).flatMap(({ name, schema: field, info, message }) => {
      if (prefix === "" && held.has(name)) return [];
      if (message) return leaves(message, `${prefix}${name}.`);
      const required = info.behavior === "REQUIRED";
      const about = described(fieldText(field));
      const head = { name: prefix + name, in: "query", ...(required && { required }), ...about };
      return [{ ...head, schema: valueSchema(field, reference) }];
    });
  return leaves(row.request, "");
};

const bodySchema = (row: Operation, reference: Reference): JsonSchema => {
  const without = pathFields(row);
  if (row.body === "*")
    return without.length === 0 ? reference(row.request) : objectSchema(row.request, reference, { without });
  const resource = asMessage(row.request.shape[row.body as string] as z.ZodType) as Message;
  // An update names only the changed fields. The uid is in the path.
  if (row.method === "PATCH") return objectSchema(resource, reference, { without: ["uid"], isPartial: true });
  const required = requiredOf(resource, true);
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

// A zod message as a schema of OpenAPI 3.0: its JSON (docs/internals/contract.md#json), and the rules that JSON Schema can express.

type JsonSchema = { readonly [key: string]: unknown };

/** Where the document describes messages and enums. */
type Reference = (schema: z.ZodType) => JsonSchema;

/** The fields of a message, without those held elsewhere. */
const objectSchema = (
  schema: Message,
  reference: Reference,
  { without = [], isPartial = false }: { without?: readonly string[]; isPartial?: boolean } = {},
): JsonSchema => {
  const fields = Object.entries(schema.shape).filter(([name]) => !without.includes(name));
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field, reference)]));
  const required = requiredOf(schema, false).filter((name) => !without.includes(name));
  return {
    type: "object",
    ...described(messageInfo(schema)?.text),
    properties,
    ...(required.length > 0 && !isPartial && { required }),
  };
};

/** Fields that a create requires. `isInputOnly`: those that no response returns, or the others. */
const requiredOf = (schema: Message, isInputOnly: boolean) =>
  fieldsOf(schema).flatMap(({ name, info: { behavior, inputOnly = false } }) =>
    behavior === "REQUIRED" && inputOnly === isInputOnly ? [name] : [],
  );

const fieldSchema = (field: z.ZodType, reference: Reference): JsonSchema => {
  const { behavior, inputOnly } = fieldInfo(field);
  const about = {
    ...described(fieldText(field)),
    ...(behavior === "OUTPUT_ONLY" && { readOnly: true }),
    ...(inputOnly && { writeOnly: true }),
  };
  const valueForm = valueSchema(field, reference);
  // Readers ignore everything beside a $ref.
  return "$ref" in valueForm && Object.keys(about).length > 0
    ? { allOf: [valueForm], ...about }
    : { ...valueForm, ...about };
};

/** The schema of a value, without the description of its field. */
const valueSchema = (schema: z.ZodType, reference: Reference): JsonSchema => {
  const inner = unwrap(schema);
  if (asMessage(inner) || enumInfo(inner)) return reference(inner);
  if (inner instanceof z.ZodArray)
    return { type: "array", items: valueSchema(inner.element as z.ZodType, reference), ...rulesOf(inner) };
  if (inner instanceof z.ZodRecord)
    return { type: "object", additionalProperties: valueSchema(inner.valueType as z.ZodType, reference) };
  switch (scalarInfo(inner)?.scalar) {
    case "int32":
      return { type: "integer", format: "int32" };
    case "int64":
      return { type: "string", format: "int64", ...rulesOf(inner) };
    case "timestamp":
      return { type: "string", format: "date-time" };
    case "bytes":
      return { type: "string", format: "byte" };
  }
  return inner instanceof z.ZodBoolean ? { type: "boolean" } : { type: "string", ...rulesOf(inner) };
};

const enumSchema = (schema: z.ZodType): JsonSchema => {
  const names = Object.keys(enumInfo(schema)?.numbers ?? {});
  return { type: "string", enum: names, default: names[0] };
};

const RULES = ["pattern", "minLength", "maxLength", "minItems", "maxItems", "example"];

// The rules of zod that JSON Schema can express. Rules that are functions exist on the server only.
const rulesOf = (schema: z.ZodType): JsonSchema => {
  const rules = z.toJSONSchema(schema, { target: "openapi-3.0", unrepresentable: "any", io: "input" });
  return Object.fromEntries(Object.entries(rules).filter(([key]) => RULES.includes(key)));
};

// OpenAPI links: from a call to the calls that may follow it (create → get → patch → delete → get), for readers and for tools. Path parameters alone cannot show this, because every one is a `uid`.

const rows = Object.entries<Operation>(operations);

// Services whose records have a parent other than a group, with the service that creates the parent.
const PARENTS: Record<string, string> = {
  "iam.ExternalGroupRoleMappingsService": "iam.IdentityProvidersService",
  "registry.TagsService": "registry.ReposService",
};

const ofRecord = (service: string) => rows.filter(([, row]) => row.service === service && /[{.]uid=/.test(row.path));

const getterOf = (service: string) => ofRecord(service).filter(([, row]) => row.method === "GET");

const childrenOf = (service: string) =>
  rows.filter(([, row]) => {
    const parentService = PARENTS[row.service] ?? "iam.GroupsService";
    return row.path.endsWith("{parent=**}") && parentService === service;
  });

const linksFrom = (name: string, row: Operation): JsonSchema => {
  const [uid, targets] = nextOf(row);
  const others = targets.filter(([other]) => other !== name);
  return Object.fromEntries(
    others.map(([other, target]) => [other, { operationId: operationIdOf(other, target), parameters: { uid } }]),
  );
};

// Where the uid of the next call comes from, and which calls can follow.
const nextOf = ({ method, service, response }: Operation): [place: string, targets: typeof rows] => {
  if (method === "DELETE") return ["$request.path.uid", getterOf(service)];
  if ("uid" in response.shape) return ["$response.body#/uid", [...ofRecord(service), ...childrenOf(service)]];
  const [plural] = Object.keys(response.shape);
  return "nextPageToken" in response.shape ? [`$response.body#/${plural}/0/uid`, getterOf(service)] : ["", []];
};

// The names that the published OpenAPI document gives to paths, their parameters, tags and operations.

const pathName = (field: string) => (field === "parent" ? "uid" : (field.split(".").at(-1) as string));

/** The fields of the request that the path holds. */
const pathFields = ({ path }: Operation) =>
  [...path.matchAll(/\{([^}=]+)(=\*\*)?\}/g)]
    .map(([, field]) => field as string)
    .filter((field) => field !== "version");

const tagOf = ({ service }: Operation) => service.split(".").at(-1) as string;

/** Id of an operation. As published, further bindings of a method are numbered. */
const operationIdOf = (name: string, row: Operation): string => {
  const { rpc = name } = row;
  const first = (operations as Record<string, Operation>)[rpc];
  return `${tagOf(row)}_${rpc}${first !== row && first?.service === row.service ? "2" : ""}`;
};
