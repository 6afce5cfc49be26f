import { type Cases, deletes, type Fixture, gets, make, paging } from "../fixture.ts";

const binding = ({ identity, viewer }: Fixture) => ({ identityUid: identity, roleUid: viewer });
const hydrated = ({ identity, viewer }: Fixture) => ({ identity: { uid: identity }, role: { uid: viewer } });

export const cases = {
  GetRoleBinding: gets("binding", ({ identity, eng, role }) => ({
    identity: { uid: identity },
    group: { uid: eng },
    role: { uid: role },
  })),
  ListRoleBindings: {
    request: ({ eng, identity, role }) => ({
      uidp: { childrenOf: eng },
      identity,
      group: eng,
      role,
      ...paging,
      skip: 0,
    }),
    answer: ({ binding: uid }) => ({ roleBindings: [{ uid }], totalCount: "1" }),
  },
  CreateRoleBinding: {
    request: (fixture) => ({ parent: fixture.platform, roleBinding: binding(fixture) }),
    answer: hydrated,
  },
  BatchCreateRoleBindings: {
    request: ({ platform, identity, viewer }) => ({
      parent: platform,
      roleUid: viewer,
      requests: [{ parent: platform, roleBinding: { identityUid: identity } }],
    }),
    answer: (fixture) => ({ roleBindings: [hydrated(fixture)] }),
  },
  UpdateRoleBinding: {
    request: async (fixture) => {
      const uid = await make(fixture, "roleBindings", fixture.platform, binding(fixture));
      return { roleBinding: { uid, roleUid: fixture.role }, updateMask: "roleUid" };
    },
    answer: ({ identity, role }) => ({ identity: { uid: identity }, role: { uid: role } }),
  },
  DeleteRoleBinding: deletes((fixture) => make(fixture, "roleBindings", fixture.platform, binding(fixture))),
  ListRoleBindingsV1: {
    request: ({ eng, binding: id }) => ({ id, uidp: { childrenOf: eng } }),
    answer: ({ eng, role, identity, binding: id }) => ({
      items: [
        {
          id,
          group: { id: eng, name: "eng" },
          role: { id: role, name: "deployer", capabilities: ["groups.list"] },
          identity,
          claimMatchIssuer: "https://issuer.example",
          claimMatchSubject: "ci",
          createdAt: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
  },
} satisfies Cases;
