// Two organizations on one server: `acme` lets identity `mirror` of `partner` push into its registry, and in `partner` identity `helper` may
// change identities. In acme, `onboarding` may create identities and role bindings at the registry.
import { IAM, serve } from "./api-server.ts";
import { createUid } from "./records.ts";

const GITHUB = "https://token.actions.githubusercontent.com";

export const startPartners = async (options: Parameters<typeof serve>[0] = {}) => {
  const api = await serve(options);
  const acme = api.organization;
  await api.ok("PATCH", `${IAM}/groups/${acme}`, { body: { name: "acme" } });
  const { uid: partner } = await api.ok("POST", `${IAM}/groups`, { body: { name: "partner" } });
  const create = (collection: Parameters<typeof createUid>[1], parent: string, fields: object): Promise<string> =>
    createUid(api, collection, parent, fields as never);
  const [registry, ci] = [
    await create("groups", acme, { name: "registry" }),
    await create("groups", partner, { name: "ci" }),
  ];
  const identity = (parent: string, name: string, repository: string): Promise<string> =>
    create("identities", parent, {
      name,
      claimMatch: { issuer: GITHUB, subject: `repo:${repository}:ref:refs/heads/main` },
    });
  const capabilities = ["CAP_IAM_IDENTITY_UPDATE", "CAP_IAM_IDENTITY_LIST"];
  const admin = await create("roles", partner, { name: "identity-admin", capabilities });
  const helper = await identity(partner, "helper", "partner/helper");
  const mirror = await identity(ci, "mirror", "partner/mirror");
  const onboarding = await identity(registry, "onboarding", "acme/onboarding");
  for (const [group, identityUid, roleUid] of [
    [partner, helper, admin],
    [registry, mirror, await api.role("registry.push")],
    [registry, onboarding, await api.role("limited_owner")],
  ] as const)
    await create("roleBindings", group, { identityUid, roleUid });
  return { api, acme, registry, partner, helper, mirror, onboarding };
};
