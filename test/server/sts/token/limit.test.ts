// Limits only remove grants, and reveal nothing (docs/faults.md#row-27).
import { describe, expect, it } from "vitest";
import { capabilityBits, type ExchangeRequest } from "../../../../schema/index.ts";
import { limitGrants } from "../../../../server/sts/token/limit.ts";
import { createService, GROUP, identity, ORG, payloadOf, UID } from "../../../harness/sts.ts";

const LIST = "CAP_IAM_GROUPS_LIST";
const CREATE = "CAP_IAM_GROUPS_CREATE";
const ROLES = "CAP_IAM_ROLES_LIST";
const OTHER = "0475f6ba00000000000000000000000000005b60";
const HELD = { [ORG]: [LIST, CREATE], [GROUP]: [ROLES] };
const heldCapabilities = () => new Map(Object.entries(HELD).map(([at, names]) => [at, new Set(names)]));
const only = (...names: string[]) => ({ capabilities: new Set(names) });
const BOTH = { cap: ["groups.list", "roles.list"], scopes: [GROUP] };
const bits = (grants: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(grants).map(([group, names]) => [group, capabilityBits(names)]));

const exchange = async (request: ExchangeRequest) => {
  const records = [identity({})];
  const { sts } = createService(records, { capabilitiesOf: heldCapabilities });
  records[0] = identity({ claimMatch: { issuer: "https://issuer.irm.example/dev-issuer", subject: "ci" } });
  const bearer = (await sts.devIssuer?.mint({ subject: "ci" })) ?? "";
  const { token = "" } = await sts.exchange({ identity: UID, ...request }, bearer);
  return { cap: payloadOf(token).cap, claims: await sts.verifyApiToken(token) };
};

describe("the limits of an exchange", () => {
  it("are absent by default", async () => {
    const { cap, claims } = await exchange({ cap: [], scope: "", scopes: [] });
    expect(cap).toEqual(bits(HELD));
    expect(claims).not.toHaveProperty("capabilities");
    expect(claims).not.toHaveProperty("scopes");
  });

  it.each<[string, ExchangeRequest, Record<string, string[]>, object]>([
    ["one capability of two", { cap: ["groups.list"] }, { [ORG]: [LIST] }, only(LIST)],
    ["one that does not exist", { cap: ["no.such"] }, {}, only()],
    [
      "one that does not exist beside one that does",
      { cap: ["no.such", "roles.list"] },
      { [GROUP]: [ROLES] },
      only(ROLES),
    ],
    ["a scope that inherits", { scopes: [GROUP] }, { [GROUP]: [LIST, CREATE, ROLES] }, { scopes: [GROUP] }],
    ["a scope in the old spelling", { scope: GROUP }, { [GROUP]: [LIST, CREATE, ROLES] }, { scopes: [GROUP] }],
    ["both spellings and one twice", { scope: GROUP, scopes: [GROUP, ORG] }, HELD, { scopes: [GROUP, ORG] }],
    ["another tenant's scope", { scopes: [OTHER] }, {}, { scopes: [OTHER] }],
    ["a scope that is not a uid", { scopes: ["*"] }, {}, { scopes: [] }],
    ["capabilities and a scope", BOTH, { [GROUP]: [LIST, ROLES] }, { ...only(LIST, ROLES), scopes: [GROUP] }],
  ])("limit the token to %s", async (_, request, cap, limits) => {
    const token = await exchange(request);
    expect(token.cap).toEqual(bits(cap));
    expect(token.claims).toMatchObject({ subject: UID, ...limits });
  });

  it.each([["cap"], ["scopes"]] as const)("%s: an empty item is refused, not dropped", async (field) => {
    await expect(exchange({ [field]: ["groups.list", ""] })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: `Invalid argument: ${field}: must not have an empty item`,
    });
  });

  it("are at most fifty scopes", async () => {
    const scopes = Array.from({ length: 51 }, (_, i) => `${ORG}/${i.toString(16).padStart(16, "0")}`);
    await expect(exchange({ scopes })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "Invalid argument: scopes: must have at most 50 uids",
      fieldViolations: [{ field: "scopes", description: "must have at most 50 uids" }],
    });
    expect((await exchange({ scopes: scopes.slice(1) })).claims.scopes).toHaveLength(50);
  });
});

describe("limitGrants, from the published example on", () => {
  const grants = new Map([
    ["foo", new Set(["rb1"])],
    ["foo/bar", new Set(["rb2"])],
  ]);
  it.each<[string[], Record<string, string[]>]>([
    [["foo", "foo/bar"], { foo: ["rb1"], "foo/bar": ["rb2"] }],
    [["foo/bar"], { "foo/bar": ["rb1", "rb2"] }],
    [["foo"], { foo: ["rb1"], "foo/bar": ["rb2"] }],
    [["foo/bar/baz", "foo/qux"], { "foo/bar/baz": ["rb1", "rb2"], "foo/qux": ["rb1"] }],
    [["fo", "foo/ba", "foobar"], { "foo/ba": ["rb1"] }],
    [[], {}],
  ])("scopes %j", (scopes, expected) => {
    expect(limitGrants(grants, { scopes })).toEqual(
      new Map(Object.entries(expected).map(([scope, names]) => [scope, new Set(names)])),
    );
  });
});
