import { type Cases, creates, deletes, type Fixture, gets, make, updates } from "../fixture.ts";

const role = (fixture: Fixture): Promise<string> =>
  make(fixture, "roles", fixture.platform, { capabilities: ["CAP_REPO_LIST"] });

export const cases = {
  GetRole: gets("role", () => ({ name: "deployer" })),
  ListRoles: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, name: "deployer", pageSize: 1, orderBy: "name" }),
    answer: () => ({ roles: [{ name: "deployer" }], totalCount: "1", skipped: 0 }),
  },
  CreateRole: creates("role", () => ({ name: "new", capabilities: ["CAP_REPO_LIST"] })),
  UpdateRole: updates("role", role, { name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  DeleteRole: deletes(role),
  ListRolesV1: {
    request: ({ eng, role }) => ({ id: role, name: "deployer", parent: eng, uidp: { childrenOf: eng } }),
    answer: ({ role }) => ({ items: [{ id: role, name: "deployer", capabilities: ["groups.list"] }] }),
  },
} satisfies Cases;
