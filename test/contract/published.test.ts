// Every operation in scope, compared with the published OpenAPI document: path, method, parameters, typed fields of
// request and response. Each deviation is listed with its reason. A published method that is out of scope answers
// UNIMPLEMENTED (501), never 404 (docs/internals/contract.md#d31). And the descriptors that the server uses for gRPC: names,
// numbers, types, oneofs, presence, JSON names, reserved fields, enums and nesting.
import { readFileSync } from "node:fs";
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { describe, expect, test } from "vitest";
import { type Operation, openapiDocument, operations, VERSIONS } from "../../schema/index.ts";
import { grpcRegistry } from "../../server/grpc/registry.ts";
import { openGrpc, serve } from "../harness/api-server.ts";
import type { Body } from "../support/http.ts";
import { type OpenapiOperation, openapiOperations } from "../support/openapi-fact.ts";
import { publishedMethods, publishedText } from "../support/published.ts";
import { expectRefusal, statusBody } from "../support/refusal.ts";

const document = JSON.parse(readFileSync(new URL("./fixtures/openapi-v2beta1.json", import.meta.url), "utf8")) as Body;

interface Deviation {
  operations: RegExp;
  /** begins the fact; the rest of the line is in `ours` and `published` */
  place: RegExp;
  /** undefined: there is no such fact */
  ours: string | undefined;
  published: string | undefined;
}

const MEMBERS = "(externalGroupId|roleUid|scope)";
const DEVIATIONS = (
  [
    // A successful DELETE has an empty body (docs/internals/contract.md#d20).
    [/_Delete/, /^answer$/, undefined, "object"],
    // The tutorial documents the parameter, which the published document leaves out (docs/internals/contract.md#parameters).
    [/_Update/, /^query updateMask$/, "string", undefined],
    // A PATCH holds the fields to change (docs/internals/contract.md#updates).
    [/_Update/, /^body\.(name|defaultRole)$/, "string", "string (required)"],
    // On create, the request carries identityUid and roleUid (docs/internals/contract.md#role-bindings).
    [/^RoleBindingsService_CreateRoleBinding$/, /^body\.(identityUid|roleUid)$/, "string (required)", "string"],
    // The description of the create says to set all three (docs/internals/contract.md#external-groups).
    [
      /^ExternalGroupRoleMappingsService_/,
      new RegExp(`^(body|answer(\\.externalGroupRoleMappings\\[\\])?)\\.${MEMBERS}$`),
      "string (required)",
      "string",
    ],
    // AIP-233: the parent of each request may be left empty.
    [/^RoleBindingsService_BatchCreateRoleBindings$/, /^body\.requests\[\]\.parent$/, "string", "string (required)"],
    // A role has at least one capability (docs/internals/contract.md#roles).
    [/^RolesService_/, /^(answer|answer\.roles\[\]|body)\.capabilities$/, "array (required)", "array"],
    // Given on create and not returned (docs/internals/contract.md#role-bindings).
    [/^GroupInvitesService_/, /^answer(\.groupInvites\[\])?\.ttl$/, "string", "string (required)"],
  ] as const
).map(([operations, place, ours, published]): Deviation => ({ operations, place, ours, published }));

// The vendor's SDK has them; the published document is older.
const NEWER_CAPABILITIES = ["CREATE", "DELETE", "LIST"].map((verb) => `CAP_LIBRARIES_REMOTE_REGISTRIES_${verb}`);

const keyOf = ({ method, path }: Pick<OpenapiOperation, "method" | "path">) => `${method} ${path}`;

const published = new Map(openapiOperations(document).map((operation) => [keyOf(operation), operation]));
const ours = openapiOperations(openapiDocument() as Body);
// v1 is published elsewhere than in this document, which describes v2beta1.
const inDocument = ours.filter(({ path }) => !path.includes("/v1/"));

const used = new Set<Deviation>();

const isExplained = (operation: OpenapiOperation, fact: string, side: "ours" | "published"): boolean => {
  const [place, type] = fact.split(/: (.*)/s) as [string, string];
  const known = DEVIATIONS.find(
    (own) => own.operations.test(operation.id) && own.place.test(place) && own[side] === type,
  );
  if (known) used.add(known);
  return known !== undefined;
};

describe.each(inDocument.map((operation) => [operation.id, operation] as const))("%s", (id, operation) => {
  const known = published.get(keyOf(operation));

  test("has the published path, method and id", () => expect(known?.id).toBe(id));

  test("has the published parameters, fields and types, and no others", () => {
    const facts = [...operation.facts].map((fact) =>
      NEWER_CAPABILITIES.reduce((text, name) => text.replace(` ${name}`, ""), fact),
    );
    const more = facts.filter((fact) => !known?.facts.has(fact) && !isExplained(operation, fact, "ours"));
    const fewer = [...(known?.facts ?? [])].filter(
      (fact) => !facts.includes(fact) && !isExplained(operation, fact, "published"),
    );
    expect({ more, fewer }).toEqual({ more: [], fewer: [] });
  });
});

test("every listed deviation exists", () => {
  expect(DEVIATIONS.filter((deviation) => !used.has(deviation))).toEqual([]);
});

test("only our document has the newer capabilities", () => {
  const enumOf = (own: Body) => own.components.schemas["chainguard.capabilities.Capability"].enum as string[];
  const publishedNames = enumOf(document);
  expect(enumOf(openapiDocument() as Body).filter((name) => !publishedNames.includes(name))).toEqual(
    expect.arrayContaining(NEWER_CAPABILITIES),
  );
});

test("the document describes every operation of the table once", () => {
  expect(ours).toHaveLength(Object.keys(operations).length);
  expect(new Set(ours.map(({ id }) => id)).size).toBe(ours.length);
});

const links = Object.values(openapiDocument().paths).flatMap((methods) =>
  Object.values(methods as Body).flatMap(({ operationId, responses }: Body) =>
    Object.values((responses[200].links ?? {}) as Body).map((link) => [operationId as string, link] as const),
  ),
);
const ids = new Set(ours.map(({ id }) => id));

test("the links of the document lead to existing operations", () => {
  expect(links.filter(([, { operationId }]) => !ids.has(operationId))).toEqual([]);
});

test.each(
  Object.entries(operations as Record<string, Operation>)
    .filter(([name]) => name.startsWith("Create"))
    .map(([name]) => name.slice("Create".length)),
)("the links of the document lead from the create of a %s to its get and delete, and back to its get", (kind) => {
  const to = (from: string) =>
    links.filter(([id]) => id.endsWith(`_${from}`)).map(([, { operationId }]) => operationId);
  const [get, end] = [`Get${kind}`, `Delete${kind}`].map((name) => [...ids].find((id) => id.endsWith(`_${name}`)));
  expect(to(`Create${kind}`)).toEqual(expect.arrayContaining([get, end]));
  expect(to(`Delete${kind}`)).toContain(get);
});

const api = await serve();
const grpc = openGrpc(api.baseUrl);

const served = new Set(
  Object.values(operations as Record<string, Operation>).map(
    ({ method, path }) => `${method} ${path.replace(/\{[^}]+\}/g, "")}`,
  ),
);
const unserved = publishedMethods.filter(
  ({ method, path }) => !served.has(`${method} ${path.replace(/\{[^}]+\}/g, "")}`),
);

/** `/chainguard.platform.iam.v2beta1.GroupsService/CheckEligibility`; services of v1 have no version in their names. */
const rpcPath = (service: string, name: string, path: string): string => {
  const version = /\/(v2\w*)\//.exec(path)?.[1];
  return `/chainguard.platform.${version ? service.replace(".", `.${version}.`) : service}/${name}`;
};

const UID = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
const paths = unserved.flatMap(({ service, name, method, path }) =>
  (path.includes("{version}") ? VERSIONS : [""]).map((version) => ({
    name: `${service}/${name}`,
    service,
    method,
    rpc: rpcPath(service, name, path.replace("{version}", version)),
    path: path
      .replace("{version}", version)
      .replace("{digest}", "sha256:ab")
      .replace(/\{[^}]+\}/g, UID),
  })),
);

const domain = (service: string) => {
  const [first] = service.split(".") as [string];
  return first === "registry" || first === "vulnerabilities" ? first : "iam";
};

describe.each([
  ["without a token", false],
  ["with an owner's token", true],
])("%s", (_, withToken) => {
  test.each(paths)("$method $path answers 501 in full: it is $name", async ({ name, service, method, path }) => {
    const body = method === "GET" || method === "DELETE" ? undefined : {};
    const answer = await api.call(method, path, { body, token: withToken ? api.owner.token : null });
    const text = `${name.split("/")[1]} is not served here`;
    expectRefusal(answer, "UNIMPLEMENTED", text, { domain: domain(service) });
  });

  test.each(paths)("$rpc answers UNIMPLEMENTED over gRPC", async ({ name, service, rpc }) => {
    const answer = await grpc.bytes(rpc, Buffer.alloc(0), withToken ? { token: api.owner.token } : {});
    const text = `${name.split("/")[1]} is not served here`;
    const { code, message, details } = answer;
    expect({ code, message, details }).toEqual(statusBody("UNIMPLEMENTED", text, { domain: domain(service) }));
  });
});

const registry = grpcRegistry();

/** The line of a type, by its name in its package; v2 is v2beta1, field for field (docs/internals/contract.md#wire). */
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
