import { type Cases, creates, deletes, type Fixture, gets, make } from "../fixture.ts";

const mapping = ({ organization, viewer }: Fixture, externalGroupId: string) => ({
  externalGroupId,
  roleUid: viewer,
  scope: organization,
});

// The groups that a case creates are in the provider of the case: a provider maps a group to a role once.
const ownProvider = (fixture: Fixture): Promise<string> =>
  make(fixture, "identityProviders", fixture.platform, {
    name: "own",
    defaultRole: fixture.viewer,
    oidc: { issuer: "https://idp.example", clientId: "c", pkceEnabled: true },
  });

export const cases = {
  GetExternalGroupRoleMapping: gets("mapping", (fixture) => ({
    uid: fixture.mapping,
    identityProviderUid: fixture.provider,
    ...mapping(fixture, "platform-sre"),
  })),
  ListExternalGroupRoleMappings: {
    request: ({ provider }) => ({
      uidp: { childrenOf: provider },
      identityProviderUid: provider,
      pageSize: 1,
      orderBy: "create_time asc",
      skip: 0,
    }),
    answer: ({ mapping: uid }) => ({ externalGroupRoleMappings: [{ uid }], skipped: 0 }),
  },
  CreateExternalGroupRoleMapping: creates(
    "externalGroupRoleMapping",
    (fixture) => mapping(fixture, "CN=SRE,OU=Platform"),
    ownProvider,
  ),
  DeleteExternalGroupRoleMapping: deletes(async (fixture) =>
    make(fixture, "externalGroupRoleMappings", await ownProvider(fixture), mapping(fixture, "a")),
  ),
  BatchDeleteExternalGroupRoleMappings: {
    request: async (fixture) => {
      const parent = await ownProvider(fixture);
      const create = (id: string) => make(fixture, "externalGroupRoleMappings", parent, mapping(fixture, id));
      return { parent, names: [await create("a"), await create("b")] };
    },
    answer: (_, { parent, names }) => ({
      parent,
      externalGroupRoleMappings: (names as string[]).map((uid) => ({ uid, identityProviderUid: parent })),
    }),
  },
} satisfies Cases;
