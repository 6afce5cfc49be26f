// AccessPolicy: the resources that it registers. The engine is a mock.
import { beforeEach, describe, expect, it } from "vitest";
import { IdentityProvider, type PolicyDocument } from "../../../provider/index.ts";
import { create, document, issuer, made, registered, release, startEngine, subject } from "./policy-engine.ts";

beforeEach(startEngine);

describe("AccessPolicy", () => {
  it("creates groups, roles, identities, and the role bindings of a group as one set, each from the uids before it", async () => {
    const outputs = await create(11, { policy: document });
    expect(made[0]).toMatchObject({ type: "irm:index:AccessPolicy", name: "acme" });
    const platform = "id of acme/platform";
    expect(registered()).toEqual({
      "Group acme": { root: true, name: "acme" },
      "Group acme/platform": { parent: "id of acme", name: "platform", description: "Builds" },
      "Group acme/platform/registry": { parent: platform, name: "registry" },
      "Group acme/platform/clusters": { parent: platform, name: "clusters" },
      "Group acme/product": { parent: "id of acme", name: "product" },
      "Role acme:role/publisher": { parent: platform, name: "publisher", capabilities: ["repo.list", "tag.create"] },
      "Identity acme:identity/release": { parent: platform, name: "release", claimMatch: { issuer, subject } },
      "Identity acme:identity/review": {
        parent: "id of acme",
        name: "review",
        claimMatch: { issuer, subjectPattern: "repo:acme/[^/:]*:pull_request" },
      },
      "RoleBindingSet acme:access/platform/registry": {
        parent: "id of acme/platform/registry",
        bindings: [
          { identity: "id of acme:identity/release", role: "id of acme:role/publisher" },
          { identity: "id of acme:identity/review", role: "editor" },
        ],
      },
      "RoleBindingSet acme:access/": {
        parent: "id of acme",
        bindings: [
          { identity: "id of acme:identity/review", role: "viewer" },
          { identity: "id of acme:identity/release", role: "viewer" },
        ],
      },
    });
    expect(outputs).toEqual({
      organization: "id of acme",
      groups: {
        platform,
        "platform/registry": "id of acme/platform/registry",
        "platform/clusters": "id of acme/platform/clusters",
        product: "id of acme/product",
      },
      identities: { release: "id of acme:identity/release", review: "id of acme:identity/review" },
      roles: { publisher: "id of acme:role/publisher" },
    });
  });

  it("keeps the logical names when lines move, records get another name, or the description changes", async () => {
    await create(11, { policy: document });
    const names = Object.keys(registered()).sort();
    await startEngine();
    const { access, groups, identities } = document;
    const moved = {
      access: Object.fromEntries(Object.entries(access).reverse()),
      roles: document.roles,
      identities: { review: identities.review, release: { ...release, name: "release workflow" } },
      groups: { product: { description: "What customers see", name: "products" }, platform: groups.platform },
      organization: { name: "acme", description: "The whole company" },
    } satisfies PolicyDocument;
    await create(11, { policy: moved });
    expect(Object.keys(registered()).sort()).toEqual(names);
  });

  it("uses an organization that exists by its uid, and an exclusive policy declares the bindings of every group", async () => {
    const uid = "0123456789abcdef0123456789abcdef01234567";
    const policy = { ...document, organization: { uid } };
    const outputs = await create(13, {
      policy,
      exclusive: true,
      maxRemovals: 5,
      allowReplace: true,
      deleteAdopted: true,
    });
    expect(outputs.organization).toBe(uid);
    const all = registered();
    expect(all).not.toHaveProperty("Group acme");
    expect(all["Group acme/product"]).toEqual({
      parent: uid,
      name: "product",
      allowReplace: true,
      deleteAdopted: true,
    });
    expect(all["RoleBindingSet acme:access/"]).toMatchObject({ parent: uid, exclusive: true, maxRemovals: 5 });
    expect(all["RoleBindingSet acme:access/product"]).toEqual({
      parent: "id of acme/product",
      bindings: [],
      exclusive: true,
      maxRemovals: 5,
    });
    expect(Object.keys(all).filter((name) => name.startsWith("RoleBindingSet "))).toHaveLength(5);
  });
});

it("a policy has records with names that every object has", async () => {
  const named = <T>(value: T) => Object.fromEntries(["__proto__", "constructor"].map((name) => [name, value]));
  const policy = {
    organization: "acme",
    groups: named({ groups: named(null) }),
    identities: named({ in: "__proto__/constructor", github: release.github }),
    roles: named({ can: ["tag.create"] }),
    access: { "__proto__/__proto__": named(["__proto__"]), ...named(named(["constructor", "__proto__"])) },
  } satisfies PolicyDocument;
  const outputs = await create(15, { policy });
  expect(registered()["Group acme/__proto__/constructor"]).toEqual({
    parent: "id of acme/__proto__",
    name: "constructor",
  });
  expect(registered()["RoleBindingSet acme:access/__proto__/__proto__"]).toMatchObject({
    bindings: ["__proto__", "constructor"].map((role) => ({
      identity: "id of acme:identity/__proto__",
      role: `id of acme:role/${role}`,
    })),
  });
  expect(outputs.organization).toBe("id of acme");
});

describe("the people of a policy", () => {
  const policy = {
    organization: "acme",
    roles: { auditor: { can: ["groups.list"], was: "inspector" } },
    people: {
      "acme-sso": { externalGroups: { "/platform/SRE": ["owner", "auditor"] } },
      other: { externalGroups: {} },
    },
  } satisfies PolicyDocument;

  it("get one mapping for each role of each external group, by the identity provider that is given", async () => {
    const sso = new IdentityProvider("sso", {
      parent: "0123456789abcdef0123456789abcdef01234567",
      name: "acme-sso",
      defaultRole: "viewer",
      oidc: { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true },
    });
    await create(6, { policy, identityProviders: { "acme-sso": sso }, deleteAdopted: true });
    const mappings = Object.entries(registered()).filter(([name]) => name.startsWith("ExternalGroupRoleMapping "));
    const own = { parent: "id of sso", externalGroupId: "/platform/SRE", scope: "id of acme", deleteAdopted: true };
    expect(Object.fromEntries(mappings)).toEqual({
      "ExternalGroupRoleMapping acme:people/acme-sso/owner//platform/SRE": { ...own, role: "owner" },
      "ExternalGroupRoleMapping acme:people/acme-sso/auditor//platform/SRE": {
        ...own,
        role: "id of acme:role/auditor",
      },
    });
  });
});
