// Every operation in scope, compared with the published OpenAPI document: path, method, parameters, typed fields of request
// and response. Each deviation is listed with its reason.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Operation, openapiDocument, operations, unservedMethods } from "../../schema/index.ts";
import type { Body } from "../support/http.ts";
import { type OpenapiOperation, openapiOperations } from "../support/openapi-fact.ts";

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
    // A successful DELETE has an empty body (docs/contract.md#d20).
    [/_Delete/, /^answer$/, undefined, "object"],
    // The tutorial documents the parameter, which the published document leaves out (docs/contract.md#parameters).
    [/_Update/, /^query updateMask$/, "string", undefined],
    // A PATCH holds the fields to change (docs/contract.md#updates).
    [/_Update/, /^body\.(name|defaultRole)$/, "string", "string (required)"],
    // On create, the request carries identityUid and roleUid (docs/contract.md#role-bindings).
    [/^RoleBindingsService_CreateRoleBinding$/, /^body\.(identityUid|roleUid)$/, "string (required)", "string"],
    // The description of the create says to set all three (docs/contract.md#external-groups).
    [
      /^ExternalGroupRoleMappingsService_/,
      new RegExp(`^(body|answer(\\.externalGroupRoleMappings\\[\\])?)\\.${MEMBERS}$`),
      "string (required)",
      "string",
    ],
    // AIP-233: the parent of each request may be left empty.
    [/^RoleBindingsService_BatchCreateRoleBindings$/, /^body\.requests\[\]\.parent$/, "string", "string (required)"],
    // A role has at least one capability (docs/contract.md#roles).
    [/^RolesService_/, /^(answer|answer\.roles\[\]|body)\.capabilities$/, "array (required)", "array"],
    // Given on create and not returned (docs/contract.md#role-bindings).
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

  test("has the published path, method and id", () => {
    expect(known?.id).toBe(id);
  });

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

test("every published operation is served or answers UNIMPLEMENTED", () => {
  const served = new Set(ours.map(keyOf));
  const unserved = new Set(
    unservedMethods.map(({ method, path }) => {
      const concrete = path.replace("{version}", "v2beta1").replace(/\{[^}]+\}/g, "{}");
      return keyOf({ method, path: concrete });
    }),
  );
  const missing = [...published.keys()].filter((key) => !served.has(key) && !unserved.has(key));
  expect(missing).toEqual([]);
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
