// A case for each method of groups.
import { expect } from "vitest";
import type { OperationName } from "../../../schema/index.ts";
import { byName, deletes, gets, list, make, type OperationCase, write } from "../fixture.ts";

export const cases = {
  GetGroup: gets("groups.list", "eng", ({ eng }) => ({ uid: eng, name: "eng" })),
  ListGroups: {
    access: list("groups.list"),
    request: ({ organization }) => ({ uidp: { childrenOf: organization }, ...byName }),
    answer: () => ({ groups: [{ name: "eng" }], totalCount: "2", skipped: 1 }),
  },
  CreateGroup: {
    access: write("groups.create", "with a parent, the capability is needed there"),
    request: ({ eng }) => ({ parent: eng, group: { name: "new", description: "d" } }),
    answer: ({ eng }) => ({ uid: expect.stringMatching(`^${eng}/[0-9a-f]{16}$`), name: "new", description: "d" }),
  },
  UpdateGroup: {
    access: write("groups.update"),
    request: ({ platform }) => ({
      group: { uid: platform, name: "ignored", description: "changed" },
      updateMask: "description",
    }),
    answer: ({ platform }) => ({ uid: platform, name: "platform", description: "changed" }),
  },
  DeleteGroup: deletes("groups.delete", (fixture) => make(fixture, "groups", fixture.eng, { name: "old" })),
  ListGroupsV1: {
    access: list("groups.list"),
    request: ({ organization, eng }) => ({ id: eng, name: "eng", uidp: { childrenOf: organization } }),
    answer: ({ eng }) => ({ items: [{ id: eng, name: "eng" }] }),
  },
  LookupGroup: {
    access: {
      needs: "",
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
