// Capabilities: names, bits and the `cap` claim's bit set (docs/internals/contract.md#capabilities, docs/internals/contract.md#api-tokens).
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isInternalOnly } from "../../schema/capability.ts";
import {
  BUILT_IN_ROLE_CAPABILITIES,
  capabilities,
  capabilitiesFromBits,
  capabilityBits,
  capabilityFrom,
  capabilityName,
  classOf,
  inputViolations,
  messageFromJson,
  Role,
} from "../../schema/index.ts";

// Both published vectors (docs/internals/contract.md#api-tokens).
const SAMPLE = "AAAAAAAAAHxEQgBAgIBESAiIGDBAiqlk";
const OWNER = "AAAAAAAAAHz_8gDx4eD__gno-DBB__tv";

test("each capability of the table of roles is known, and none is internal", () => {
  const known = new Map(capabilities.map((one) => [one.name, one]));
  for (const [role, names] of Object.entries(BUILT_IN_ROLE_CAPABILITIES))
    for (const name of names) expect(known.get(name), `${role}: ${name}`).toMatchObject({ internalOnly: false });
});

test.each([
  ["role_bindings.create", "grant"],
  ["identity_providers.scim.manage", "grant"],
  ["tag.create", "write"],
  ["guardener.dfc.convert", "use"],
  ["repo.blobs.get", "read"],
  ["of.a.newer.service.list", "read"],
  ["of.a.newer.service.run", "write"],
  ["CAP_NEW_LIST", "write"],
])("the class of %s is %s", (name, expected) => expect(classOf(name)).toBe(expected));

describe("the bit set of a token", () => {
  test("a published token of a viewer decodes to length 124 and word 0x4442004080804448", () => {
    const bytes = Buffer.from(SAMPLE, "base64url");
    expect(bytes.readBigUInt64BE(0)).toBe(124n);
    expect(bytes.readBigUInt64BE(8)).toBe(0x4442004080804448n);
    const names = capabilitiesFromBits(SAMPLE).map(capabilityName);
    expect(names).toEqual(
      expect.arrayContaining(["groups.list", "group_invites.list", "roles.list", "role_bindings.list"]),
    );
    expect(names).not.toContain("groups.create");
  });

  test.each([SAMPLE, OWNER])("%s is written as it was read", (vector) => {
    expect(capabilityBits(capabilitiesFromBits(vector))).toBe(vector);
  });

  test("one capability needs the words up to its bit, and an empty set none", () => {
    expect(capabilityBits(["CAP_IAM_GROUPS_LIST"])).toBe(
      Buffer.from("00000000000000040000000000000008", "hex").toString("base64url"),
    );
    // CAP_INTERNAL is bit 95: length 96, two words, bit 31 of the second.
    expect(capabilityBits(["CAP_INTERNAL"])).toBe(
      Buffer.from("000000000000006000000000000000000000000080000000", "hex").toString("base64url"),
    );
    expect(capabilityBits([])).toBe("AAAAAAAAAAA");
    expect(capabilitiesFromBits("AAAAAAAAAAA")).toEqual([]);
  });

  test("unknown values are skipped without an error", () => {
    expect(capabilityBits(["CAP_OF_A_NEWER_SERVER", "CAP_IAM_GROUPS_LIST"])).toBe(
      capabilityBits(["CAP_IAM_GROUPS_LIST"]),
    );
    // Bit 1000 is not assigned.
    const bytes = Buffer.alloc(8 + 16 * 8);
    bytes.writeBigUInt64BE(1001n);
    bytes.writeBigUInt64BE(1n << 40n, 8 + 15 * 8);
    bytes.writeBigUInt64BE(8n, 8);
    expect(capabilitiesFromBits(bytes.toString("base64url"))).toEqual(["CAP_IAM_GROUPS_LIST"]);
  });

  test.each([
    ["", "no length"],
    ["AAAA", "half a length"],
    ["AAAAAAAAAHxE", "half a word"],
  ])("%j is not a bit set: %s", (text) => {
    expect(() => capabilitiesFromBits(text)).toThrow(new TypeError("a capability bit set is whole 64-bit words"));
  });
});

describe("the list of capabilities", () => {
  test("equals the published one: number, enum name, name, bit and flag of all 216", () => {
    const rows = capabilities.map(({ number, enum: name, name: friendly, bit, internalOnly, deprecated }) =>
      [number, name, friendly, bit, internalOnly ? "internal_only" : deprecated ? "deprecated" : ""].join(" ").trim(),
    );
    expect(rows.length).toBe(216);
    // SHA-256 of the sorted rows of the published list.
    expect(createHash("sha256").update(rows.toSorted().join("\n")).digest("hex")).toBe(
      "34519a680964b7e61126c985c491686d3bfa242a06db6b45c30b3db5b03229a5",
    );
  });

  test.each([
    ["the friendly name of v1 and the STS", "groups.list", "CAP_IAM_GROUPS_LIST"],
    ["the enum name of v2beta1", "CAP_IAM_GROUPS_LIST", "CAP_IAM_GROUPS_LIST"],
    ["a name of three parts", "identity_providers.scim.manage", "CAP_IAM_SCIM_MANAGE"],
    ["nothing of the prototype", "toString", undefined],
    ["nothing empty", "", undefined],
  ])("is searched by %s: %j is %s", (_, text, expected) => expect(capabilityFrom(text)).toBe(expected));

  test.each([
    ["CAP_REX_CLASS_USE", true],
    ["CAP_IAM_GROUPS_LIST", false],
    ["CAP_OF_A_NEWER_SERVER", false],
  ])("%s internal-only: %s", (name, internal) => expect(isInternalOnly(name)).toBe(internal));
});

describe("the capabilities of a role", () => {
  const role = (own: unknown) => ({ name: "r", capabilities: own });

  test("are enum names, or their numbers on input", () => {
    const { value, violations } = messageFromJson(Role, role(["CAP_IAM_GROUPS_LIST", 102]));
    expect(violations).toEqual([]);
    expect(value.capabilities).toEqual(["CAP_IAM_GROUPS_LIST", "CAP_IAM_GROUPS_UPDATE"]);
    expect(inputViolations(Role, value)).toEqual([]);
  });

  test.each([
    ["create needs at least one capability", undefined],
    ["an empty list counts as absent", []],
  ])("are refused: %s", (_, own) => {
    expect(inputViolations(Role, role(own))).toEqual([
      { field: "capabilities", description: "must have at least one capability" },
    ]);
  });

  test("are refused one by one, with their index in the list; UNKNOWN, which is the zero of the enum, is none", () => {
    const { violations } = messageFromJson(Role, role(["groups.list", "CAP_IAM_GROUPS_LIST", 99_999, null, true]));
    expect(violations.map(({ field }) => field)).toEqual([
      "capabilities[0]",
      "capabilities[2]",
      "capabilities[3]",
      "capabilities[4]",
    ]);
    expect(inputViolations(Role, role(["CAP_IAM_GROUPS_LIST", "UNKNOWN"]))).toEqual([
      { field: "capabilities[1]", description: "must be a capability, not UNKNOWN" },
    ]);
  });
});
