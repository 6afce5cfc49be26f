// The rules of external groups of identity providers (docs/contract.md#external-groups).

import { describe, expect, test } from "vitest";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid, postRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectNotFound, expectRefusal, NO_UID, resourceInfo } from "../../support/refusal.ts";

const PATH = `${IAM}/externalGroupRoleMappings`;

const OIDC = { issuer: "https://idp.example", clientId: "c", pkceEnabled: true };
const provider = (parent = eng): Promise<string> =>
  createUid(api, "identityProviders", parent, { name: "sso", defaultRole: viewer, oidc: OIDC });
const fields = (body: Body = {}): Body => ({
  externalGroupId: "Platform-SRE",
  roleUid: viewer,
  scope: api.organization,
  ...body,
});
const post = (parent: string, body: Body = {}) => postRecord(api, "externalGroupRoleMappings", parent, fields(body));
const create = (parent: string, body: Body = {}) =>
  createRecord(api, "externalGroupRoleMappings", parent, fields(body));
const list = async (query: Body) => (await api.ok("GET", PATH, { query })).externalGroupRoleMappings as Body[];

const api = await serve();
const eng: string = await createUid(api, "groups", api.organization, { name: "eng" });
const viewer: string = await api.role("viewer");
const editor: string = await api.role("editor");

describe("a mapping", () => {
  test("is below its identity provider, and keeps the group as the identity provider writes it", async () => {
    const parent = await provider();
    const mapping = await create(parent, { externalGroupId: "CN=SRE,OU=Platform \u00c4" });
    expect(mapping).toEqual({
      uid: expect.stringMatching(new RegExp(`^${parent}/[0-9a-f]{16}$`)),
      identityProviderUid: parent,
      externalGroupId: "CN=SRE,OU=Platform \u00c4",
      roleUid: viewer,
      scope: api.organization,
      createTime: expect.any(String),
    });
    expect(await api.ok("GET", `${PATH}/${mapping.uid}`)).toEqual(mapping);
    expect(await list({ identityProviderUid: parent })).toEqual([mapping]);
    expect(await api.ok("GET", `${PATH.replace("v2beta1", "v2")}/${mapping.uid}`)).toEqual(mapping);
  });

  test("needs all of its fields, and every violation is reported at once", async () => {
    const parent = await provider();
    const answer = await api.call("POST", `${PATH}/${parent}`, { body: {} });
    expectInvalid(answer, { externalGroupId: "is required", roleUid: NO_UID, scope: NO_UID });
    expectInvalid(await post(parent, { externalGroupId: "g".repeat(1025) }), {
      externalGroupId: "must be at most 1024 characters",
    });
  });

  test.each([
    ["a group below the organization", () => eng],
    ["another organization", () => "f".repeat(40)],
  ])("whose scope is %s is refused, also with an unknown role", async (_, scope) => {
    const missing = `${api.organization}/ffffffffffffffff`;
    expectInvalid(await post(await provider(), { scope: scope(), roleUid: missing }), {
      scope: `must be the organization of the identity provider, ${api.organization}`,
      roleUid: `role ${missing} does not exist at ${api.organization} or above`,
    });
  });

  test("exists once for provider, group, role and scope; another of each is another mapping", async () => {
    const [first, second] = [await provider(), await provider()];
    const { uid } = await create(first);
    const text = `the identity provider ${first} maps this external group to role ${viewer} at ${api.organization} already`;
    expectRefusal(await post(first), "ALREADY_EXISTS", text, {
      details: [resourceInfo("ExternalGroupRoleMapping", uid)],
    });
    await create(first, { roleUid: editor });
    await create(first, { externalGroupId: "platform-sre" });
    await create(second);
    await api.ok("DELETE", `${PATH}/${uid}`);
    expect((await create(first)).uid).not.toBe(uid);
  });

  test("goes with its identity provider", async () => {
    const parent = await provider();
    const { uid } = await create(parent);
    await api.ok("DELETE", `${IAM}/identityProviders/${parent}`);
    expectNotFound(await api.call("GET", `${PATH}/${uid}`), "ExternalGroupRoleMapping", uid);
    expect(await list({ identityProviderUid: parent })).toEqual([]);
  });
});

describe("the delete of several", () => {
  const deleteMappings = (parent: string, names: string[], token?: string) =>
    api.call("POST", `${PATH}:batchDelete`, { body: { parent, names }, ...(token && { token }) });

  test("answers with those that it deleted, in order, and skips those that are gone", async () => {
    const parent = await provider();
    const [first, second, kept] = [
      await create(parent, { externalGroupId: "a" }),
      await create(parent, { externalGroupId: "b" }),
      await create(parent, { externalGroupId: "c" }),
    ];
    const names = [second.uid, `${parent}/ffffffffffffffff`, first.uid, second.uid];
    const answer = await deleteMappings(parent, names);
    expect(answer.json).toEqual({ parent, externalGroupRoleMappings: [second, first] });
    expect(await list({ identityProviderUid: parent })).toEqual([kept]);
    expect((await deleteMappings(parent, names)).json).toEqual({ parent, externalGroupRoleMappings: [] });
  });

  test("deletes nothing when one is of another identity provider, and names each that is", async () => {
    const [parent, other] = [await provider(), await provider()];
    const [own, theirs] = [await create(parent), await create(other)];
    const text = "must be the uid of a mapping of the identity provider";
    expectInvalid(await deleteMappings(parent, [own.uid, theirs.uid, parent]), { "names[1]": text, "names[2]": text });
    expect(await list({ identityProviderUid: parent })).toEqual([own]);
  });
});
