// AccessPolicy: the resources that it registers, the mistakes that it reports, and what it adopts. The engine is a mock, the service is
// the reference server.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { parsePolicy } from "../../../access/policy/index.ts";
import { AccessPolicy, type AccessPolicyArgs, IdentityProvider, type PolicyDocument } from "../../../provider/index.ts";
import { policyMatch } from "../../../provider/program/policy-match.ts";
import { providersListedBy } from "../../../provider/program/policy-people.ts";
import { policyMatchByUid } from "../../../provider/program/policy-uids.ts";
import { root } from "../../harness/api-process.ts";
import { startService } from "../../harness/provider.ts";
import { mockEngine } from "../../support/mock-engine.ts";

let made: pulumi.runtime.MockResourceArgs[];
const startEngine = async () => {
  made = [];
  await mockEngine((args) => {
    made.push(args);
    const id = args.type.startsWith("irm:") ? "" : `id of ${args.name}`;
    return { id, state: { name: args.inputs.name } };
  });
};
beforeEach(startEngine);

const value = <T>(output: pulumi.Input<T>): Promise<T> =>
  new Promise((resolve) => pulumi.output(output).apply((known) => resolve(known as T)));

const release = { in: "platform", github: { repository: "acme/images", branch: "main" } };
const document = {
  organization: "acme",
  groups: { platform: { description: "Builds", groups: { registry: null, clusters: null } }, product: null },
  identities: { release, review: { github: { repository: "acme/*", event: "pull_request" } } },
  roles: { publisher: { in: "platform", can: ["tag.create", "repo.list"] } },
  access: {
    "platform/registry": { publisher: ["release"], editor: ["review"] },
    "/": { viewer: ["review", "release"] },
  },
} satisfies PolicyDocument;

/** The outputs, when the engine has `count` resources. */
const create = async (count: number, args: AccessPolicyArgs) => {
  const { organization, groups, identities, roles } = new AccessPolicy("acme", args);
  await vi.waitFor(() => expect(made).toHaveLength(count), 10_000);
  return value(pulumi.output({ organization, groups, identities, roles }));
};

/** What a resource registers as its own arguments, by its logical name. */
const registered = (): Record<string, object> =>
  Object.fromEntries(
    made
      .slice(1)
      .map(({ type, name, inputs: { __provider, __key, names, ...inputs } }) => [
        `${type.replace("pulumi-nodejs:dynamic/irm:", "")} ${name}`,
        inputs,
      ]),
  );

const subject = "repo:acme/images:ref:refs/heads/main";
const issuer = "https://token.actions.githubusercontent.com";

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
      "ExternalGroupRoleMapping acme:people/acme-sso/owner//platform/SRE": { ...own, roleUid: "owner" },
      "ExternalGroupRoleMapping acme:people/acme-sso/auditor//platform/SRE": {
        ...own,
        roleUid: "id of acme:role/auditor",
      },
    });
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
      "  platform: { publisher: [release], viewer: [relaese] }",
    ];
    writeFileSync(join(folder, "access.yaml"), lines.join("\n"));
    const file = relative(root, join(folder, "access.yaml"));
    expect(failure({ file })).toBe(
      [
        "AccessPolicy acme: the policy has 3 mistakes:",
        `${file}:4:18: identities.release.in: there is no group platfrm; did you mean platform?`,
        `${file}:6:15: access.platform.publisher: there is no role publisher; declare it in roles`,
        `${file}:6:46: access.platform.viewer[0]: there is no identity relaese; did you mean release?`,
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

  it("refuse a default role of people, which is the identity provider's own, beside all mistakes", () => {
    const lines = ["organization: acme", "groups: { platform: }", "people: { sso: { defaultRole: veiwer } }"];
    writeFileSync(join(folder, "access.yaml"), lines.join("\n"));
    const file = relative(root, join(folder, "access.yaml"));
    expect(failure({ file })).toBe(
      [
        "AccessPolicy acme: the policy has 2 mistakes:",
        `${file}:3:18: people.sso.defaultRole: AccessPolicy changes no identity provider, and so not its default role; set defaultRole where the IdentityProvider is declared, and remove it here`,
        `${file}:3:31: people.sso.defaultRole: there is no role veiwer; did you mean viewer?`,
      ].join("\n  - "),
    );
    expect(made).toEqual([]);
  });

  it("refuse an identity provider that people does not name", () => {
    const people = { "acme-sso": { externalGroups: { SRE: ["viewer"] } } };
    expect(failure({ policy: { organization: "acme", people }, identityProviders: { "acme-ssso": "x" } })).toBe(
      "AccessPolicy acme:\n  - identityProviders.acme-ssso: people does not name it; did you mean acme-sso?",
    );
  });

  it("report the mistakes of an object, and arguments that do not exist", () => {
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
  });

  it("report every mistake of the file of uids", () => {
    const policy = { organization: "acme" };
    const file = relative(root, join(folder, "adopt.json"));
    const adopting = () => failure({ policy, adopt: { file } });
    expect(adopting()).toContain(`AccessPolicy acme: adopt: ${file}:\n  - ENOENT`);
    writeFileSync(join(folder, "adopt.json"), "[]");
    expect(adopting()).toContain("must be { groups, identities, roles }, each with uids by key");
    writeFileSync(join(folder, "adopt.json"), `{ "groups": { "a\\u001b": "b" }, "identities": [], "people": {} }`);
    expect(adopting()).toBe(
      [
        `AccessPolicy acme: adopt: ${file}:`,
        "people: there is no such section; there are groups, identities, roles",
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

describe("adopt", async () => {
  const service = await startService();
  Object.assign(process.env, service.env);
  afterAll(async () => {
    for (const name of Object.keys(service.env)) delete process.env[name];
    await service.close();
  });
  const call = (operation: string, request: object): Promise<{ uid: string }> =>
    service.session.call(operation as never, request as never) as never;
  const group = async (parent: string, name: string) => (await call("CreateGroup", { parent, group: { name } })).uid;

  it('"match" gives each record that exists to its resource, and creates the others', async () => {
    const uid = service.organization as string;
    const platform = await group(uid, "platform");
    const registry = await group(platform, "registry");
    await group(uid, "registry");
    const claimMatch = { issuer, subject: "other" };
    const identity = await call("CreateIdentity", { parent: platform, identity: { name: "release", claimMatch } });
    const role = { name: "publisher", capabilities: ["CAP_REPO_LIST"] };
    // In another group, so it is another role.
    await call("CreateRole", { parent: uid, role });

    const logged: string[] = [];
    const info = vi.spyOn(pulumi.log, "info").mockImplementation(async (text) => void logged.push(text));
    await create(10, { policy: { ...document, organization: { uid } }, adopt: "match" });
    await vi.waitFor(() => expect(logged).toHaveLength(2));
    info.mockRestore();
    const matches = Object.entries(registered()).flatMap(([name, inputs]) =>
      "__match" in inputs ? [[name, inputs.__match]] : [],
    );
    expect(matches).toEqual([
      ["Group acme/platform", platform],
      ["Group acme/platform/registry", registry],
      ["Identity acme:identity/release", identity.uid],
    ]);
    expect(logged.sort()).toEqual([
      `Group acme/platform changes on group ${platform}:\n  - description: "" becomes "Builds"`,
      expect.stringMatching(
        /^Identity acme:identity\/release changes on identity .*\n {2}- claimMatch\.subject: "other" becomes/,
      ),
    ]);
  });

  const matchOf = (document: PolicyDocument) => {
    const { policy } = parsePolicy(document);
    const client = Promise.resolve(service.session);
    return policyMatch(
      "acme",
      policy as NonNullable<typeof policy>,
      client,
      providersListedBy(() => client),
    );
  };

  it('"match" needs one list of each kind, fails where several records have one name, and lists them', async () => {
    const uid = service.organization as string;
    const twins = [await group(uid, "product"), await group(uid, "product")].sort();
    service.requests.length = 0;
    const match = matchOf({ ...document, organization: { uid } });
    await expect(match.group("product")).rejects.toThrow(
      [
        "AccessPolicy acme: adopt: it is not clear which records to adopt; rename or delete the others:",
        `groups product: 2 groups have this name in its group\n    - ${twins.join("\n    - ")}`,
      ].join("\n  - "),
    );
    const paths = service.requests.map(({ url }) => url.pathname);
    expect(paths.sort()).toEqual(["groups", "identities", "roles"].map((kind) => `/iam/v2beta1/${kind}`));
  });

  it("a file of uids tells records of one name apart, in one list of each kind", async () => {
    const uid = service.organization as string;
    const twins = [await group(uid, "twin"), await group(uid, "twin")];
    const gone = `${uid}/${"f".repeat(16)}`;
    const { policy } = parsePolicy({ ...document, organization: { uid } });
    const groups = new Map([
      ["product", twins[1] as string],
      ["platform", gone],
    ]);
    service.requests.length = 0;
    const match = policyMatchByUid(
      policy as NonNullable<typeof policy>,
      { groups, identities: new Map(), roles: new Map() },
      Promise.resolve(service.session),
    );
    expect(await match.group("product")).toMatchObject({ uid: twins[1], name: "twin" });
    // The engine's side says that it does not exist, if it is not in the stack already.
    expect(await match.group("platform")).toEqual({ uid: gone });
    expect(await match.group("platform/registry")).toBeUndefined();
    expect(await match.identity("release")).toBeUndefined();
    const paths = service.requests.map(({ url }) => url.pathname);
    expect(new Set(paths)).toEqual(new Set(["/iam/v2beta1/groups"]));
    expect(paths.length).toBe(2);
  });

  it('"match" finds an organization by its name', async () => {
    const uid = service.organization as string;
    const { name } = (await call("GetGroup", { uid })) as unknown as { name: string };
    expect(await matchOf({ organization: name }).group("/")).toMatchObject({ uid, name });
    expect(await matchOf({ organization: "nowhere" }).group("/")).toBeUndefined();
  });

  it('"match" finds the mappings of an identity provider by group and role, custom and built-in', async () => {
    const uid = service.organization as string;
    const capabilities = ["CAP_IAM_GROUPS_LIST"];
    const auditor = (await call("CreateRole", { parent: uid, role: { name: "auditor", capabilities } })).uid;
    const roles = (await call("ListRoles", { uidp: { inRoot: true }, name: "viewer" })) as unknown as {
      roles: { uid: string }[];
    };
    const viewer = roles.roles[0]?.uid as string;
    const oidc = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true };
    const provider = async (parent: string, name: string) => {
      const made = await call("CreateIdentityProvider", {
        parent,
        identityProvider: { name, defaultRole: viewer, oidc },
      });
      return made.uid;
    };
    const sso = await provider(uid, "acme-sso");
    // In a group below, so it is not the policy's.
    const below = await provider(await group(uid, "below"), "acme-sso");
    const map = async (parent: string, roleUid: string) =>
      (
        await call("CreateExternalGroupRoleMapping", {
          parent,
          externalGroupRoleMapping: { externalGroupId: "SRE", roleUid, scope: uid },
        })
      ).uid;
    const made = { auditor: await map(sso, auditor), viewer: await map(sso, viewer), below: await map(below, viewer) };
    const match = matchOf({
      organization: { uid },
      roles: { auditor: { can: ["groups.list"] } },
      people: { "acme-sso": { externalGroups: { SRE: ["auditor", "viewer", "editor"] } } },
    });
    const found = async (role: string) =>
      (await match.mapping({ provider: "acme-sso", externalGroupId: "SRE", role }))?.uid;
    expect([await found("auditor"), await found("viewer"), await found("editor")]).toEqual([
      made.auditor,
      made.viewer,
      undefined,
    ]);
  });
});
