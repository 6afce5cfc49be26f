import { byName, type Cases, creates, deletes, gets, make, updates } from "../fixture.ts";

export const cases = {
  GetGroup: gets("eng", ({ eng }) => ({ uid: eng, name: "eng" })),
  ListGroups: {
    request: ({ organization }) => ({ uidp: { childrenOf: organization }, ...byName }),
    answer: () => ({ groups: [{ name: "eng" }], totalCount: "2", skipped: 1 }),
  },
  CreateGroup: creates(
    "group",
    () => ({ name: "new", description: "d" }),
    ({ eng }) => eng,
  ),
  UpdateGroup: updates("group", ({ platform }) => platform, { name: "platform", description: "changed" }),
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
} satisfies Cases;
