// A case for each method of roles.
import type { OperationName } from "../../../schema/index.ts";
import { deletes, gets, make, type OperationCase } from "../fixture.ts";

export const cases = {
  GetRole: gets("role", () => ({ name: "deployer" })),
  ListRoles: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, name: "deployer", pageSize: 1, orderBy: "name" }),
    answer: () => ({ roles: [{ name: "deployer" }], totalCount: "1", skipped: 0 }),
  },
  CreateRole: {
    request: ({ platform }) => ({ parent: platform, role: { name: "new", capabilities: ["CAP_REPO_LIST"] } }),
    answer: () => ({ name: "new", capabilities: ["CAP_REPO_LIST"] }),
  },
  UpdateRole: {
    request: async (fixture) => {
      const uid = await make(fixture, "roles", fixture.platform, { name: "changing", capabilities: ["CAP_REPO_LIST"] });
      return { role: { uid, name: "ignored", capabilities: ["CAP_IAM_GROUPS_LIST"] }, updateMask: "capabilities" };
    },
    answer: () => ({ name: "changing", capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  },
  DeleteRole: deletes((fixture) =>
    make(fixture, "roles", fixture.platform, { name: "old", capabilities: ["CAP_REPO_LIST"] }),
  ),
  ListRolesV1: {
    request: ({ eng, role }) => ({ id: role, name: "deployer", parent: eng, uidp: { childrenOf: eng } }),
    answer: ({ role }) => ({ items: [{ id: role, name: "deployer", capabilities: ["groups.list"] }] }),
  },
} satisfies Partial<Record<OperationName, OperationCase>>;
