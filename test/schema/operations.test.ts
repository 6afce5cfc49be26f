// The table of methods, compared with the published one: method, path, body, capabilities, scope. Every message of
// those that are served: the published behaviours of its fields, whose names, numbers and types are in
// test/contract/published.test.ts. Their texts, which have one home: every form of the description, and every language,
// has them from there. And the published types, generated from the zod objects: TypeScript proves that the two agree.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import type { FieldInfo } from "../../schema/field.ts";
import type * as zod from "../../schema/index.ts";
import {
  argumentText,
  asMessage,
  fieldInfo,
  fieldText,
  isManaged,
  type Message,
  messageInfo,
  type Operation,
  openapiDocument,
  operations,
  type Resource,
  resources,
  toSnake,
  unservedMethods,
  unwrap,
  VERSION,
  VERSIONS,
} from "../../schema/index.ts";
import type * as published from "../../schema/public.ts";
import { root } from "../harness/api-process.ts";
import { type PublishedField, publishedMessages, publishedMethods } from "../support/published.ts";

const messages = new Map<string, Message>();

const walk = (schema: z.ZodType): void => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) walk(inner.element as z.ZodType);
  if (inner instanceof z.ZodRecord) walk(inner.valueType as z.ZodType);
  const message = asMessage(inner);
  const name = messageInfo(inner)?.message;
  if (!message || !name || messages.has(name)) return;
  messages.set(name, message);
  for (const field of Object.values(message.shape)) walk(field);
};
for (const row of Object.values(operations as Record<string, Operation>)) {
  walk(row.request);
  walk(row.response);
}
messages.delete("google.protobuf.Empty");

// The part of a behaviour that matters to a caller: required, and set by the server only.
const behavior = (info: FieldInfo) =>
  info.behavior === "REQUIRED" || info.behavior === "OUTPUT_ONLY" ? info.behavior : "";
const publishedBehavior = ({ flags }: PublishedField) =>
  flags.includes("REQ") ? "REQUIRED" : flags.includes("OUT") ? "OUTPUT_ONLY" : "";

// Where ours has more than the published one: the create needs it, or its description says so.
const REQUIRED = "REQUIRED";
const STRICTER: Record<string, Record<string, string>> = {
  "iam.RoleBinding": { identity_uid: REQUIRED, role_uid: REQUIRED },
  "iam.ExternalGroupRoleMapping": { external_group_id: REQUIRED, role_uid: REQUIRED, scope: REQUIRED },
  "iam.Role": { capabilities: REQUIRED },
};

test.each([...messages])("%s has fields with the published behaviours", (name, { shape }) => {
  const published = publishedMessages.get(name)?.map((field) => [field.name, publishedBehavior(field)]) ?? [];
  const expected = { ...Object.fromEntries(published), ...STRICTER[name] };
  const own = Object.entries(shape).map(([field, schema]) => [toSnake(field), behavior(fieldInfo(schema))]);
  expect(own).toEqual(own.map(([field]) => [field, expected[field as string]]));
});

test("every field of the API has a text", () => {
  const current = [...messages].filter(([message]) => !message.includes(".v1."));
  const fields = current.flatMap(([message, { shape }]) =>
    Object.entries(shape).map(([name, field]) => ({ name: `${message}.${name}`, text: fieldText(field) })),
  );
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter(({ text = "" }) => text === "").map(({ name }) => name)).toEqual([]);
  expect(fields.filter(({ text = "" }) => !/^(uids? |[A-Z`])/.test(text) && !text.startsWith("https "))).toEqual([]);
});

test("every resource that a program can declare says what its own arguments do", () => {
  const kinds = Object.values<Resource>(resources).filter(isManaged);
  expect(kinds.length).toBeGreaterThan(8);
  for (const kind of kinds)
    expect(["adopt", "deleteAdopted", "allowReplace"].map((name) => argumentText(kind, name))).not.toContain(undefined);
});

test("the text of a field is in the .proto files, in OpenAPI, in the schema of the plugin and in each language", () => {
  const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
  const { digest } = resources.tag.schema.shape;
  const text = digest && fieldText(digest);
  expect(text).toBe("Digest of the manifest: `sha256:` and 64 hexadecimal digits");
  expect(read("schema/generated/chainguard/platform/registry/v2beta1/registry.proto")).toContain(`// ${text}\n`);
  const sdks = ["sdk/python/pulumi_irm/tag.py", "sdk/go/irm/tag.go"];
  for (const file of ["plugin/generated/schema.json", ...sdks]) expect(read(file), file).toContain(text);
  expect(JSON.stringify(openapiDocument())).toContain(text);
});

const rows = Object.entries(operations as Record<string, Operation>);

// Every method of the contract's services, except those that it leaves out.
const SERVICES = [
  ...["iam.GroupsService", "iam.IdentitiesService", "iam.RolesService", "iam.RoleBindingsService"],
  ...["iam.IdentityProvidersService", "iam.ExternalGroupRoleMappingsService", "iam.AccountAssociationsService"],
  ...["iam.GroupInvitesService", "registry.ReposService", "registry.TagsService", "vulnerabilities.AdvisoriesService"],
  ...["ping.PingService", "oidc.SecurityTokenService"],
];
const LEFT_OUT = [
  ...["RequestGroupAccess", "CheckEligibility", "UpdateIdentityMetadata"],
  ...["GenerateScimToken", "RegenerateScimToken", "RevokeScimToken", "SetScimEnabled"],
];
const ALSO = [
  ...["iam.Groups List", "iam.Roles List", "iam.Identities List", "iam.Identities Lookup", "iam.RoleBindings List"],
  ...[
    "iam.GroupInvites List",
    "iam.GroupAccountAssociations List",
    "registry.Registry ListRepos",
    "auth.Auth Validate",
  ],
];

const inScope = publishedMethods.filter(
  ({ service, name }) =>
    (SERVICES.includes(service) && !LEFT_OUT.includes(name)) || ALSO.includes(`${service} ${name}`),
);

const key = ({ service, name, method }: { service: string; name: string; method: string }) =>
  `${service}/${name} ${method}`;
const publishedRows = new Map(publishedMethods.map((row) => [key(row), row]));
const snakePath = (path: string) =>
  path.replace(/\{([^=}]+)/g, (whole, field: string) => (field === "version" ? whole : `{${toSnake(field)}`));

test("exactly the methods that this version promises are served", () => {
  const served = rows.map(([name, row]) => key({ service: row.service, name: row.rpc ?? name, method: row.method }));
  expect(served.toSorted()).toEqual(inScope.map(key).toSorted());
});

test("served and unserved methods together are the published ones", () => {
  const served = rows.map(([, { method, path }]) => `${method} ${snakePath(path)}`);
  const unserved = unservedMethods.map(({ method, path }) => `${method} ${snakePath(path)}`);
  expect([...served, ...unserved].toSorted()).toEqual(
    publishedMethods.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test.each(rows)("%s has the published path, body, capabilities and scope", (name, row) => {
  const known = publishedRows.get(key({ service: row.service, name: row.rpc ?? name, method: row.method }));
  const scope = row.auth ?? (row.scope ? "scoped" : "UNSCOPED");
  const { capabilities } = row;
  expect({ path: snakePath(row.path), body: row.body ? toSnake(row.body) : "-", capabilities, scope }).toEqual({
    path: known?.path,
    body: known?.body,
    capabilities: known?.capabilities,
    scope: known?.scope,
  });
  if (!row.scope) return expect(known?.scope).not.toBe("scoped");
  const [field, ...below] = row.scope.split(".");
  const message = `${row.service.split(".")[0]}.${name}Request`;
  const flagged = publishedMessages.get(message)?.find(({ flags }) => flags.includes("SCOPE"));
  expect({ field: toSnake(field as string), below }).toEqual({
    field: flagged?.name,
    below: flagged?.type === "string" ? [] : ["uid"],
  });
});

test("one table serves v2beta1 and v2, and the client uses v2beta1", () => {
  expect(VERSIONS).toEqual(["v2beta1", "v2"]);
  expect(VERSION).toBe("v2beta1");
});

type IsSame<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
// A check refuses the unset value of an enum. Only the generated type can express that.
type IsPart<A, B> = [A] extends [B] ? true : false;
// One type may have a field as readonly and the other not. They count as equal here.
type Flat<T> = T extends readonly (infer E)[]
  ? readonly Flat<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Flat<T[K]> }
    : T;

type Compared = {
  AccountAssociation: IsSame<published.AccountAssociation, zod.ResponseOf<"GetAccountAssociation">>;
  Advisory: IsPart<zod.ResponseOf<"GetAdvisory">, published.Advisory>;
  Group: IsSame<published.Group, zod.ResponseOf<"GetGroup">>;
  GroupInvite: IsSame<published.GroupInvite, zod.ResponseOf<"GetGroupInvite">>;
  Identity: IsSame<published.Identity, zod.ResponseOf<"GetIdentity">>;
  IdentityProvider: IsSame<published.IdentityProvider, zod.ResponseOf<"GetIdentityProvider">>;
  Repo: IsSame<published.Repo, zod.ResponseOf<"GetRepo">>;
  RepoReadme: IsSame<published.RepoReadme, zod.ResponseOf<"GetRepoReadme">>;
  Role: IsPart<zod.ResponseOf<"GetRole">, published.Role>;
  RoleBinding: IsSame<published.RoleBinding, zod.ResponseOf<"GetRoleBinding">>;
  Tag: IsSame<published.Tag, zod.ResponseOf<"GetTag">>;
  ListGroupsRequest: IsSame<published.ListGroupsRequest, zod.RequestOf<"ListGroups">>;
  ListIdentitiesRequest: IsSame<published.ListIdentitiesRequest, zod.RequestOf<"ListIdentities">>;
  ListReposRequest: IsSame<published.ListReposRequest, zod.RequestOf<"ListRepos">>;
  ListRoleBindingsRequest: IsSame<published.ListRoleBindingsRequest, zod.RequestOf<"ListRoleBindings">>;
  ListRolesRequest: IsSame<published.ListRolesRequest, zod.RequestOf<"ListRoles">>;
};

/** The messages that differ. */
type Different = { [K in keyof Compared]: Compared[K] extends true ? never : K }[keyof Compared];

test("the published types of messages equal the types of the zod schema", () => {
  // Where one differs, this does not compile, and the error names it.
  const isSame: [Different] extends [never] ? true : Different = true;
  expect(isSame).toBe(true);
});
