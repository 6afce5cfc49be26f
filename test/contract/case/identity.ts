// A case for each method of identities.
import type { OperationName } from "../../../schema/index.ts";
import { make, type OperationCase, paging } from "../fixture.ts";

const claimMatch = {
  issuerPattern: "https://.*",
  subjectPattern: "s.*",
  audiencePattern: "a.*",
  claimPatterns: { ref: "r" },
};

export const identityCases = {
  GetIdentity: { request: ({ identity }) => ({ uid: identity }), answer: () => ({ name: "ci" }) },
  ListIdentities: {
    request: ({ eng }) => ({
      uidp: { descendantsOf: eng },
      name: "ci",
      relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH",
      ...paging,
      skip: 0,
    }),
    answer: () => ({ identities: [{ name: "ci" }], totalCount: "1" }),
  },
  CreateIdentity: {
    request: ({ platform }) => ({ parent: platform, identity: { name: "new", claimMatch } }),
    answer: () => ({ name: "new", claimMatch }),
  },
  UpdateIdentity: {
    request: async (fixture) => {
      const uid = await make(fixture, "identities", fixture.platform, { name: "changing", claimMatch });
      return {
        identity: { uid, name: "ignored", claimMatch: { subjectPattern: "t.*" } },
        updateMask: "claimMatch.subjectPattern",
      };
    },
    answer: () => ({ name: "changing", claimMatch: { ...claimMatch, subjectPattern: "t.*" } }),
  },
  DeleteIdentity: {
    request: async (fixture) => ({
      uid: await make(fixture, "identities", fixture.platform, { name: "old", claimMatch }),
    }),
    answer: () => ({}),
  },
  LookupIdentity: {
    request: () => ({ issuer: "https://issuer.example", subject: "ci" }),
    answer: ({ identity }) => ({ uid: identity }),
  },
  ListIdentitiesV1: {
    request: ({ eng, identity }) => ({ id: identity, uidp: { childrenOf: eng } }),
    answer: ({ identity }) => ({
      items: [
        {
          id: identity,
          name: "ci",
          description: "",
          claimMatch: { issuer: "https://issuer.example", subject: "ci" },
          createdAt: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
  },
  LookupIdentityV1: {
    request: () => ({ issuer: "https://issuer.example", subject: "ci" }),
    answer: ({ identity }) => ({ id: identity, name: "ci" }),
  },
} satisfies Partial<Record<OperationName, OperationCase>>;
