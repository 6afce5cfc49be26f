// Every method with a token that the exchange has narrowed (docs/internals/contract.md#d28), of an identity that may do
// everything: without a capability of the method, outside the scopes, and without a capability of the role that it
// gives, it is refused; with just these, in the group of the record, it is served.
import { describe, expect, test } from "vitest";
import { capabilities, type Operation, type OperationName, operations } from "../../schema/index.ts";
import { IAM, type TokenOptions } from "../harness/api-server.ts";
import { createRecord, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { type Outcome, WAYS } from "../support/way.ts";
import { type Fixture, make } from "./fixture.ts";
import { operationCases, startFixture } from "./operation-case.ts";

const fixture = await startFixture();
const { api, eng, organization } = fixture;
const one = async (kind: string, name: string): Promise<Body> =>
  (await api.ok("GET", `${IAM}/${kind}`, { query: { name } }))[kind][0];
const sales: string = (await one("groups", "sales")).uid;
const VIEWER: string[] = (await api.ok("GET", `/iam/v1/roles`, { query: { name: "viewer" } })).items[0].capabilities;

interface Row {
  operation: OperationName;
  title: string;
  request: (fixture: Fixture) => Promise<Body> | Body;
  /** what it gives away, by friendly names */
  gives: readonly string[];
  /** where it needs that; default: in the group of the record */
  at?: string;
}

const GIVES: Partial<Record<OperationName, readonly string[]>> = {
  CreateRole: ["repo.list"],
  UpdateRole: ["groups.list", "repo.list"],
  CreateRoleBinding: VIEWER,
  BatchCreateRoleBindings: VIEWER,
  UpdateRoleBinding: ["groups.list"],
  CreateGroupInvite: VIEWER,
  CreateIdentityProvider: VIEWER,
  UpdateIdentityProvider: VIEWER,
  CreateExternalGroupRoleMapping: [...VIEWER, "role_bindings.create"],
};

const needsOf = (operation: OperationName): string[] => [...(operations[operation] as Operation).capabilities];

const rows: Row[] = [
  ...(Object.keys(operations) as OperationName[])
    .filter((operation) => needsOf(operation).length > 0)
    .map((operation): Row => {
      const own = operation === "CreateExternalGroupRoleMapping" ? { at: organization } : {};
      return {
        operation,
        title: "its case",
        request: operationCases[operation].request,
        gives: GIVES[operation] ?? [],
        ...own,
      };
    }),
  {
    operation: "UpdateIdentity",
    title: "to other claims",
    gives: ["groups.list"],
    request: async () => {
      const uid = await make(fixture, "identities", eng, { name: "robot" });
      await createRecord(api, "roleBindings", eng, { identityUid: uid, roleUid: fixture.role });
      return { identity: { uid, claimMatch: { subject: "other" } }, updateMask: "claimMatch.subject" };
    },
  },
  {
    operation: "UpdateIdentityProvider",
    title: "whose groups have a role",
    gives: VIEWER,
    at: organization,
    request: () => ({ identityProvider: { uid: fixture.provider, name: "sso" }, updateMask: "name" }),
  },
];

const way = WAYS["REST in lowerCamel"];
/** Who may write readmes, or the owner. */
const callerOf = (operation: OperationName) =>
  operation === "UpdateRepoReadme"
    ? { uid: fixture.librarian, subject: "librarian" }
    : { uid: api.identity, subject: "owner" };

const call = async ({ operation }: Row, request: Body, limits: Pick<TokenOptions, "cap" | "scopes">) => {
  const { uid, subject } = callerOf(operation);
  return way(api, { operation, request, token: await api.token(uid, { subject, ...limits }) });
};

/** Refused; a list has nothing in it, but for the built-in roles, which everyone may read. */
const expectNothing = ({ operation }: Row, { code, message, json }: Outcome, missing: readonly string[]): void => {
  if (operation.startsWith("List")) {
    const [records] = Object.values(json).filter((value) => Array.isArray(value)) as [Body[]];
    expect({ code, records }).toEqual({ code: "OK", records: [] });
    return;
  }
  expect({ code, message }).toEqual({ code: "PERMISSION_DENIED", message: expect.stringContaining(": needs ") });
  expect((/: needs (.*) at /.exec(message)?.[1] ?? "").split(", ").toSorted()).toEqual(missing.toSorted());
};

describe.each(rows)("$operation, $title", (row) => {
  const { operation, gives, at } = row;
  const needs = needsOf(operation);
  // A repo that syncs, and so pulls, is in the case of a create.
  const pulls = operation === "CreateRepo" ? ["manifest.list", "repo.blobs.get"] : [];
  const all = [...new Set([...needs, ...gives, ...pulls])];
  const without = (capability: string) => capabilities.map(({ name }) => name).filter((one) => one !== capability);

  test("is refused without a capability, in other groups, and for a role with a further one", async () => {
    const request = await row.request(fixture);
    for (const missing of needs) expectNothing(row, await call(row, request, { cap: without(missing) }), [missing]);
    expectNothing(row, await call(row, request, { scopes: [sales], cap: all }), needs);
    const given = gives.filter((one) => !needs.includes(one));
    if (given.length > 0) expectNothing(row, await call(row, request, { cap: needs }), given);
    // The first and the last stand for all: the refusal above names each.
    for (const missing of new Set([given[0], given.at(-1)]))
      if (missing !== undefined) expectNothing(row, await call(row, request, { cap: without(missing) }), [missing]);
    // In the group of the record alone, where the role is given above it.
    if (at !== undefined)
      expect(await call(row, request, { cap: all, scopes: [eng] })).toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringContaining(` at ${at}`),
      });
  });

  test("is served with a token for just that", async () => {
    const outcome = await call(row, await row.request(fixture), { cap: all, scopes: [at ?? eng] });
    expect({ code: outcome.code, message: outcome.message }).toEqual({ code: "OK", message: "" });
  });
});

test("LookupIdentity finds only what the token may list", async () => {
  const uid = await createUid(api, "identities", eng, {
    name: "found",
    claimMatch: { issuer: api.issuer, subject: "f" },
  });
  const find = async (limits: Pick<TokenOptions, "cap" | "scopes">): Promise<string> => {
    const token = await api.token(api.identity, { subject: "owner", ...limits });
    const request = { issuer: api.issuer, subject: "f" };
    return (await way(api, { operation: "LookupIdentity", request, token })).json.uid;
  };
  expect(await find({ cap: ["identity.list"], scopes: [eng] })).toBe(uid);
  expect(await find({ cap: ["identity.list"], scopes: [sales] })).not.toBe(uid);
  expect(await find({ cap: ["groups.list"] })).not.toBe(uid);
});
