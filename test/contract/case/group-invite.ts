import { IAM } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { type Cases, deletes, type Fixture } from "../fixture.ts";

const invite = (fixture: Fixture) =>
  createUid(fixture.api, "groupInvites", fixture.platform, { roleUid: fixture.viewer, ttl: "60s" });

export const cases = {
  ListGroupInvitesV1: {
    request: async ({ api, eng, invite }) => {
      const { keyId } = await api.ok("GET", `${IAM}/groupInvites/${invite}`);
      return { group: eng, id: invite, keyId };
    },
    answer: ({ invite, viewer }, { keyId }) => ({
      items: [
        {
          id: invite,
          keyId,
          role: { id: viewer, name: "viewer" },
          expiration: "2026-01-28T12:55:21.189Z",
          createdAt: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
    volatile: ["keyId"],
  },
  GetGroupInvite: {
    request: ({ invite: uid }) => ({ uid }),
    answer: ({ viewer }) => ({ roleUid: viewer, role: { name: "viewer" }, expirationTime: "2026-01-28T12:55:21.189Z" }),
    volatile: ["keyId"],
  },
  ListGroupInvites: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, pageSize: 1, orderBy: "create_time desc" }),
    answer: ({ invite: uid }) => ({ groupInvites: [{ uid }], totalCount: "1", skipped: 0 }),
    volatile: ["keyId"],
  },
  CreateGroupInvite: {
    request: ({ platform, viewer }) => ({
      parent: platform,
      groupInvite: { roleUid: viewer, ttl: "90.500s", email: "a@example.org", singleUse: true },
    }),
    answer: ({ api }) => ({
      email: "a@example.org",
      singleUse: true,
      expirationTime: new Date(api.clock() + 90_500).toISOString(),
    }),
    volatile: ["code", "keyId"],
  },
  DeleteGroupInvite: deletes(invite),
} satisfies Cases;
