// The table of methods, compared with the published one: method, path, body, capabilities, scope.
import { expect, test } from "vitest";
import { type Operation, operations, toSnake, unservedMethods, VERSION, VERSIONS } from "../../schema/index.ts";
import { publishedMessages, publishedMethods } from "../support/published.ts";

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
const published = new Map(publishedMethods.map((row) => [key(row), row]));
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
  const known = published.get(key({ service: row.service, name: row.rpc ?? name, method: row.method }));
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
