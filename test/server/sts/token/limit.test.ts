// Limits only remove grants, and reveal nothing (docs/faults.md#row-27).
import { describe, expect, it } from "vitest";
import { capabilityBits, type ExchangeRequest } from "../../../../schema/index.ts";
import { limitGrants } from "../../../../server/sts/token/limit.ts";
import { createService, GROUP, identity, ORG, payloadOf, UID } from "../../../harness/sts.ts";

const LIST = "CAP_IAM_GROUPS_LIST";
const CREATE = "CAP_IAM_GROUPS_CREATE";
const ROLES = "CAP_IAM_ROLES_LIST";
const OTHER = "0475f6ba00000000000000000000000000005b60";
const heldCapabilities = () =>
  new Map([
    [ORG, new Set([LIST, CREATE])],
    [GROUP, new Set([ROLES])],
  ]);
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
    expect(cap).toEqual(bits({ [ORG]: [LIST, CREATE], [GROUP]: [ROLES] }));
    expect(claims).not.toHaveProperty("capabilities");
    expect(claims).not.toHaveProperty("scopes");
  });

  it.each<[string, ExchangeRequest, Record<string, string[]>, object]>([
    ["one capability of two", { cap: ["groups.list"] }, { [ORG]: [LIST] }, { capabilities: new Set([LIST]) }],
    ["one that is not held", { cap: ["repo.create"] }, {}, { capabilities: new Set(["CAP_REPO_CREATE"]) }],
    ["one that does not exist", { cap: ["no.such"] }, {}, { capabilities: new Set() }],
    [
      "one that does not exist beside one that does",
      { cap: ["no.such", "roles.list"] },
      { [GROUP]: [ROLES] },
      { capabilities: new Set([ROLES]) },
    ],
    ["a scope and what is below it", { scopes: [ORG] }, { [ORG]: [LIST, CREATE], [GROUP]: [ROLES] }, { scopes: [ORG] }],
    ["a scope that inherits", { scopes: [GROUP] }, { [GROUP]: [LIST, CREATE, ROLES] }, { scopes: [GROUP] }],
    ["a scope in the old spelling", { scope: GROUP }, { [GROUP]: [LIST, CREATE, ROLES] }, { scopes: [GROUP] }],
    [
      "both spellings and one twice",
      { scope: GROUP, scopes: [GROUP, ORG] },
      { [ORG]: [LIST, CREATE], [GROUP]: [ROLES] },
      { scopes: [GROUP, ORG] },
    ],
    ["another tenant's scope", { scopes: [OTHER] }, {}, { scopes: [OTHER] }],
    ["a scope that is not a uid", { scopes: ["*"] }, {}, { scopes: [] }],
    [
      "capabilities and a scope",
      { cap: ["groups.list", "roles.list"], scopes: [GROUP] },
      { [GROUP]: [LIST, ROLES] },
      { capabilities: new Set([LIST, ROLES]), scopes: [GROUP] },
    ],
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
