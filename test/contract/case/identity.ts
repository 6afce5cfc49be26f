import { all, type Cases, creates, deletes, gets, make, paging } from "../fixture.ts";

const claimMatch = {
  issuerPattern: "https://.*",
  subjectPattern: "s.*",
  audiencePattern: "a.*",
  claimPatterns: { ref: "r" },
};

export const cases = {
  GetIdentity: gets("identity", () => ({ name: "ci" })),
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
  CreateIdentity: creates("identity", () => ({ name: "new", claimMatch })),
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
  DeleteIdentity: deletes((fixture) => make(fixture, "identities", fixture.platform, { name: "old", claimMatch })),
  LookupIdentity: {
    access: all("any valid token"),
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
          updatedAt: "2026-01-28T12:54:21.189Z",
          lastSeen: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
  },
  LookupIdentityV1: {
    access: {
      stranger: "missing",
      viewer: "served",
      why: "any valid token; it finds what the caller may list",
    },
    request: () => ({ issuer: "https://issuer.example", subject: "ci" }),
    answer: ({ identity }) => ({ id: identity, name: "ci" }),
  },
} satisfies Cases;
