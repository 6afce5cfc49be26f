// What AccessPolicy adopts: by name, or by the uids of a file. The engine is a mock, the service is the reference server.
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { parsePolicy } from "../../../access/policy/parse.ts";
import type { PolicyDocument } from "../../../provider/index.ts";
import { policyMatch, policyMatchByUid, providersListedBy } from "../../../provider/program/policy-match.ts";
import { startService } from "../../harness/provider.ts";
import { create, document, issuer, registered, startEngine } from "./policy-engine.ts";

beforeEach(startEngine);

describe("adopt", async () => {
  const service = await startService();
  Object.assign(process.env, service.env);
  afterAll(async () => {
    for (const name of Object.keys(service.env)) delete process.env[name];
    await service.close();
  });
  const { call } = service;
  const uid: string = service.organization as string;
  const group = async (parent: string, name: string) => (await call("CreateGroup", { parent, group: { name } })).uid;

  it('"match" gives each record that exists to its resource, and creates the others', async () => {
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
    const { name } = (await call("GetGroup", { uid })) as { uid: string; name: string };
    expect(await matchOf({ organization: name }).group("/")).toMatchObject({ uid, name });
    expect(await matchOf({ organization: "nowhere" }).group("/")).toBeUndefined();
  });

  it('"match" finds the mappings of an identity provider by group and role, custom and built-in', async () => {
    const capabilities = ["CAP_IAM_GROUPS_LIST"];
    const auditor = (await call("CreateRole", { parent: uid, role: { name: "auditor", capabilities } })).uid;
    const viewer = await service.role("viewer");
    const oidc = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true };
    const identityProvider = { name: "acme-sso", defaultRole: viewer, oidc };
    const provider = async (parent: string) => (await call("CreateIdentityProvider", { parent, identityProvider })).uid;
    const sso = await provider(uid);
    // In a group below, so it is not the policy's.
    const below = await provider(await group(uid, "below"));
    const map = async (parent: string, roleUid: string) => {
      const externalGroupRoleMapping = { externalGroupId: "SRE", roleUid, scope: uid };
      return (await call("CreateExternalGroupRoleMapping", { parent, externalGroupRoleMapping })).uid;
    };
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
