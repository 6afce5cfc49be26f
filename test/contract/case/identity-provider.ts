import { createUid } from "../../harness/records.ts";
import { type Cases, deletes, type Fixture, gets } from "../fixture.ts";

const oidc = { issuer: "https://idp.example", clientId: "c", clientSecret: "s", additionalScopes: ["groups"] };
const { clientSecret: _, ...shownOidc } = oidc;

const idp = (fixture: Fixture) =>
  createUid(fixture.api, "identityProviders", fixture.platform, { name: "idp", defaultRole: fixture.viewer, oidc });

export const cases = {
  GetIdentityProvider: gets("provider", () => ({
    name: "sso",
    oidc: { clientId: "c" },
    scim: { credentialState: "CREDENTIAL_STATE_NOT_ISSUED" },
  })),
  ListIdentityProviders: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, name: "sso", pageSize: 1, orderBy: "name desc" }),
    answer: ({ provider: uid }) => ({ identityProviders: [{ uid }], totalCount: "1", skipped: 0 }),
  },
  CreateIdentityProvider: {
    request: ({ platform, viewer }) => ({
      parent: platform,
      identityProvider: { name: "new", description: "d", defaultRole: viewer, oidc },
    }),
    answer: ({ viewer }) => ({ name: "new", description: "d", defaultRole: viewer, oidc: shownOidc }),
  },
  UpdateIdentityProvider: {
    request: async (fixture) => ({
      identityProvider: { uid: await idp(fixture), name: "ignored", oidc: { groupsClaim: "g" } },
      updateMask: "oidc.groupsClaim",
    }),
    answer: () => ({ name: "idp", oidc: { ...shownOidc, groupsClaim: "g" } }),
  },
  DeleteIdentityProvider: deletes(idp),
} satisfies Cases;
