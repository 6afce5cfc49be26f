// A case for each method of groups.
import { expect } from "vitest";
import type { OperationName } from "../../../schema/index.ts";
import { byName, deletes, gets, make, type OperationCase } from "../fixture.ts";

export const cases = {
  GetGroup: gets("eng", ({ eng }) => ({ uid: eng, name: "eng" })),
  ListGroups: {
    request: ({ organization }) => ({ uidp: { childrenOf: organization }, ...byName }),
    answer: () => ({ groups: [{ name: "eng" }], totalCount: "2", skipped: 1 }),
  },
  CreateGroup: {
    request: ({ eng }) => ({ parent: eng, group: { name: "new", description: "d" } }),
    answer: ({ eng }) => ({ uid: expect.stringMatching(`^${eng}/[0-9a-f]{16}$`), name: "new", description: "d" }),
  },
  UpdateGroup: {
    request: ({ platform }) => ({
      group: { uid: platform, name: "ignored", description: "changed" },
      updateMask: "description",
    }),
    answer: ({ platform }) => ({ uid: platform, name: "platform", description: "changed" }),
  },
  DeleteGroup: deletes((fixture) => make(fixture, "groups", fixture.eng, { name: "old" })),
  ListGroupsV1: {
    request: ({ organization, eng }) => ({ id: eng, name: "eng", uidp: { childrenOf: organization } }),
    answer: ({ eng }) => ({ items: [{ id: eng, name: "eng" }] }),
  },
  LookupGroup: {
    access: {
      stranger: "missing",
      viewer: "missing",
      owner: "missing",
      why: "any valid token; one without an e-mail address has no organization to find",
    },
    request: () => ({}),
    answer: () => ({ group: { name: "acme.example", verified: true } }),
    bearer: async ({ api }) => {
      const claims = { email: "a@acme.example", email_verified: true };
      const { json } = await api.exchange(await api.identityToken("owner", { claims }), {
        aud: api.baseUrl,
        identity: api.identity,
      });
      return json.token as string;
    },
  },
} satisfies Partial<Record<OperationName, OperationCase>>;
