// AccessPolicy: the resources that it registers, and its mistakes, all at once. The engine is a mock.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type * as pulumi from "@pulumi/pulumi";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { AccessPolicy, type AccessPolicyArgs, IdentityProvider, type PolicyDocument } from "../../../provider/index.ts";
import { reviewBetween } from "../../access/format/reviews.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../../access/graphs.ts";
import { root } from "../../harness/api-process.ts";
import { create, document, issuer, made, registered, release, startEngine, subject } from "./policy-engine.ts";

beforeEach(startEngine);

it("AccessPolicy creates groups, roles, identities, and the bindings of a group as one set", async () => {
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

it("AccessPolicy keeps logical names when lines move, or a record gets another name", async () => {
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

it("AccessPolicy uses an organization by its uid; an exclusive one declares every group's bindings", async () => {
  const uid = "0123456789abcdef0123456789abcdef01234567";
  const policy = { ...document, organization: { uid } };
  const options = { allowReplace: true, deleteAdopted: true };
  const outputs = await create(13, { policy, exclusive: true, maxRemovals: 5, ...options });
  expect(outputs.organization).toBe(uid);
  const all = registered();
  expect(all).not.toHaveProperty("Group acme");
  expect(all["Group acme/product"]).toEqual({ parent: uid, name: "product", ...options });
  expect(all["RoleBindingSet acme:access/"]).toMatchObject({ parent: uid, exclusive: true, maxRemovals: 5 });
  expect(all["RoleBindingSet acme:access/product"]).toEqual({
    parent: "id of acme/product",
    bindings: [],
    exclusive: true,
    maxRemovals: 5,
  });
  expect(Object.keys(all).filter((name) => name.startsWith("RoleBindingSet "))).toHaveLength(5);
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

const withPeople = {
  organization: "acme",
  roles: { auditor: { can: ["groups.list"], was: "inspector" } },
  people: { "acme-sso": { externalGroups: { "/platform/SRE": ["owner", "auditor"] } }, other: { externalGroups: {} } },
} satisfies PolicyDocument;

it("the people of a policy get one mapping for each role of each external group, by the identity provider that is given", async () => {
  const sso = new IdentityProvider("sso", {
    parent: "0123456789abcdef0123456789abcdef01234567",
    name: "acme-sso",
    defaultRole: "viewer",
    oidc: { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true },
  });
  await create(6, { policy: withPeople, identityProviders: { "acme-sso": sso }, deleteAdopted: true });
  const mappings = Object.entries(registered()).filter(([name]) => name.startsWith("ExternalGroupRoleMapping "));
  const own = { parent: "id of sso", externalGroupId: "/platform/SRE", scope: "id of acme", deleteAdopted: true };
  expect(Object.fromEntries(mappings)).toEqual({
    "ExternalGroupRoleMapping acme:people/acme-sso/owner//platform/SRE": { ...own, role: "owner" },
    "ExternalGroupRoleMapping acme:people/acme-sso/auditor//platform/SRE": { ...own, role: "id of acme:role/auditor" },
  });
});

describe("the arguments of AccessPolicy", () => {
  const folder = mkdtempSync(join(tmpdir(), "irm-policy-"));
  const failure = (args: unknown): string => {
    try {
      new AccessPolicy("acme", args as AccessPolicyArgs);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };

  it("report all mistakes of the file at once, with their places, and nothing is created", () => {
    const lines = [
      "organization: acme",
      "groups: { platform: }",
      "identities:",
      "  release: { in: platfrm, github: { repository: acme/images, branch: main } }",
      "access:",
      "  platform: { editor: [release], viewer: [relaese] }",
    ];
    writeFileSync(join(folder, "access.yaml"), lines.join("\n"));
    const file = relative(root, join(folder, "access.yaml"));
    expect(failure({ file })).toBe(
      [
        "AccessPolicy acme: the policy has 2 mistakes:",
        `${file}:4:18: identities.release.in: there is no group platfrm; did you mean platform?`,
        `${file}:6:43: access.platform.viewer[0]: there is no identity relaese; did you mean release?`,
      ].join("\n  - "),
    );
    expect(made).toEqual([]);
  });

  it("find the file from the folder of the project, also where the program is in another", () => {
    writeFileSync(join(folder, "Pulumi.yaml"), "name: project\n");
    mkdirSync(join(folder, "source", "program"), { recursive: true });
    const working = vi.spyOn(process, "cwd").mockReturnValue(join(folder, "source", "program"));
    expect(failure({ file: "policy/access.yaml" })).toMatch(/ there is no file \.\.\/\.\.\/policy\/access\.yaml$/);
    working.mockRestore();
  });

  it("report the mistakes of an object, arguments that do not exist, and an identity provider that people does not name", () => {
    expect(failure({ policy: { organization: "acme", identitys: {} } })).toMatch(
      /^AccessPolicy acme: the policy has a mistake:\n {2}- identitys: there is no such field here; did you mean identities\?$/,
    );
    expect(failure({ adopt: "all", exlusive: true })).toBe(
      [
        "AccessPolicy acme:",
        "exlusive: unknown argument; did you mean exclusive?",
        "exactly one of file and policy is required",
        'adopt: must be "match", or { file } with the name of a file of uids',
      ].join("\n  - "),
    );
    const people = { "acme-sso": { externalGroups: { SRE: ["viewer"] } } };
    expect(failure({ policy: { organization: "acme", people }, identityProviders: { "acme-ssso": "x" } })).toBe(
      "AccessPolicy acme:\n  - identityProviders.acme-ssso: people does not name it; did you mean acme-sso?",
    );
  });

  it("report every mistake of the file of uids", () => {
    const policy = { organization: "acme" };
    const file = relative(root, join(folder, "adopt.json"));
    const adopting = () => failure({ policy, adopt: { file } });
    expect(adopting()).toContain(`AccessPolicy acme: adopt: ${file}:\n  - ENOENT`);
    writeFileSync(join(folder, "adopt.json"), "[]");
    expect(adopting()).toContain("must be { groups, identities, roles, resources }, each with uids by key");
    writeFileSync(join(folder, "adopt.json"), `{ "groups": { "a\\u001b": "b" }, "identities": [], "people": {} }`);
    expect(adopting()).toBe(
      [
        `AccessPolicy acme: adopt: ${file}:`,
        "people: there is no such section; there are groups, identities, roles, resources",
        "groups.a\\u001b: must be a uid",
        "identities: must be uids by key",
      ].join("\n  - "),
    );
  });

  it("are checked by the compiler: an object has the shape of the file", () => {
    const types = () => {
      // @ts-expect-error either a file or an object
      new AccessPolicy("both", { file: "access.yaml", policy: document });
      // @ts-expect-error a misspelt section
      new AccessPolicy("section", { policy: { organization: "acme", identitys: {} } });
      const { github } = release;
      const google = { serviceAccount: "a@b.iam.gserviceaccount.com" };
      // @ts-expect-error the default role is the identity provider's own
      new AccessPolicy("people", { policy: { organization: "acme", people: { sso: { defaultRole: "viewer" } } } });
      // @ts-expect-error one relationship
      new AccessPolicy("two", { policy: { organization: "acme", identities: { a: { github, google } } } });
    };
    expect(types).toBeTypeOf("function");
  });
});

// `was` makes the resource an alias of the former one, so that the record keeps its uid.
const claimMatch = { issuer: "https://issuer.example", subject: "s" };
const renamed = {
  organization: "acme",
  groups: { team: { was: "crew", groups: { tools: null } } },
  identities: { publish: { in: "team", was: "release", claimMatch } },
  roles: { pusher: { in: "team", was: "publisher", can: ["tag.create"] } },
  access: { "team/tools": { pusher: ["publish"] } },
} satisfies PolicyDocument;

test("was is an alias of the resource, and of those whose names follow from it", async () => {
  const aliases = new Map<string, unknown>();
  const see: pulumi.ResourceTransformation = ({ name, opts }) => {
    const named = (opts.aliases ?? []).flatMap((alias) => (alias as pulumi.Alias).name ?? []);
    if (named.length > 0) aliases.set(name, named[0]);
    return undefined;
  };
  // A role that people get belongs to the organization itself.
  const roles = { ...renamed.roles, auditor: { was: "inspector", can: ["groups.list"] } };
  const people = { sso: { externalGroups: { SRE: ["auditor", "viewer"] } } };
  const identityProviders = { sso: "0123456789abcdef0123456789abcdef01234567/0123456789abcdef" };
  const args = { policy: { ...renamed, roles, people }, identityProviders };
  new AccessPolicy("acme", args, { transformations: [see] });
  await vi.waitFor(() => expect(made).toHaveLength(10));
  expect(Object.fromEntries(aliases)).toEqual({
    "acme/team": "acme/crew",
    "acme/team/tools": "acme/crew/tools",
    "acme:role/pusher": "acme:role/publisher",
    "acme:identity/publish": "acme:identity/release",
    "acme:access/team/tools": "acme:access/crew/tools",
    "acme:role/auditor": "acme:role/inspector",
    "acme:people/sso/auditor/SRE": "acme:people/sso/inspector/SRE",
  });
});

test.each([
  ["its own key", { a: { was: "a" } }, "is its key now; leave was out"],
  ["a key in use", { a: { was: "b" }, b: {} }, "b is the key of another one here, which keeps its own record"],
  ["the same key twice", { a: { was: "c" }, b: { was: "c" } }, "a was c too; one record has one key"],
  ["nothing", { a: { was: "" } }, "is empty; write the key that it had before"],
])("was cannot be %s", (_, groups, text) => {
  const { mistakes } = parsePolicy({ organization: "acme", groups });
  expect(mistakes.map((one) => one.text)).toEqual([text]);
});

test("a review of the policy alone agrees: with was the records keep their uids", () => {
  const live = newGraph();
  addGroup(live, ROOT, "acme", null);
  const crew = addGroup(live, uidIn(ROOT, 1), "crew", ROOT);
  const tools = addGroup(live, uidIn(crew, 2), "tools", crew);
  const former = addIdentity(live, uidIn(crew, 16), "release", crew, claimMatch);
  bind(live, tools, former, addRole(live, "publisher", ["tag.create"], crew));
  const { graph, mistakes } = policyGraph(parsePolicy(renamed).policy as never, live);
  expect(mistakes).toEqual([]);
  const { identities, findings } = reviewBetween(live, newGraph(graph)).report;
  expect(findings).toEqual([]);
  expect(identities).toMatchObject([{ uid: former, name: "publish", nameBefore: "release", gains: [], losses: [] }]);
});
