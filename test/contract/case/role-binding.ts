// A case for each method of role bindings.
import type { OperationName } from "../../../schema/index.ts";
import { deletes, type Fixture, gets, list, make, type OperationCase, paging, write } from "../fixture.ts";

const binding = ({ identity, viewer }: Fixture) => ({ identityUid: identity, roleUid: viewer });
const hydrated = ({ identity, viewer }: Fixture) => ({ identity: { uid: identity }, role: { uid: viewer } });

export const cases = {
  GetRoleBinding: gets("role_bindings.list", "binding", ({ identity, eng, role }) => ({
    identity: { uid: identity },
    group: { uid: eng },
    role: { uid: role },
  })),
  ListRoleBindings: {
    access: list("role_bindings.list"),
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
    access: write("role_bindings.create"),
    request: (fixture) => ({ parent: fixture.platform, roleBinding: binding(fixture) }),
    answer: hydrated,
  },
  BatchCreateRoleBindings: {
    access: write("role_bindings.create"),
    request: ({ platform, identity, viewer }) => ({
      parent: platform,
      roleUid: viewer,
      requests: [{ parent: platform, roleBinding: { identityUid: identity } }],
    }),
    answer: (fixture) => ({ roleBindings: [hydrated(fixture)] }),
  },
  UpdateRoleBinding: {
    access: write("role_bindings.update"),
    request: async (fixture) => {
      const uid = await make(fixture, "roleBindings", fixture.platform, binding(fixture));
      return { roleBinding: { uid, roleUid: fixture.role }, updateMask: "roleUid" };
    },
    answer: ({ identity, role }) => ({ identity: { uid: identity }, role: { uid: role } }),
  },
  DeleteRoleBinding: deletes("role_bindings.delete", (fixture) =>
    make(fixture, "roleBindings", fixture.platform, binding(fixture)),
  ),
  ListRoleBindingsV1: {
    access: list("role_bindings.list"),
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
} satisfies Partial<Record<OperationName, OperationCase>>;
