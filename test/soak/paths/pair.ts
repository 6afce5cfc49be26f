// Two small organizations on one server, of which each may trust identities of the other: random groups, identities, roles and bindings, with
// the capabilities that give access more often than others.
import { rootOf } from "../../../schema/index.ts";
import { IAM, type TestServer } from "../../harness/api-server.ts";
import type { Random } from "../../support/random.ts";

export interface Pair {
  organizations: readonly [string, string];
  groups: string[];
  identities: string[];
  /** `sub` of the workload of each identity, by uid */
  subjects: ReadonlyMap<string, string>;
}

export const VOCABULARY = [
  ...["IDENTITY_UPDATE", "IDENTITY_UPDATE", "IDENTITY_LIST", "IDENTITY_CREATE"],
  ...["ROLE_BINDINGS_CREATE", "ROLE_BINDINGS_UPDATE", "ROLE_BINDINGS_DELETE", "ROLES_UPDATE", "ROLES_CREATE"],
  ...["GROUPS_LIST", "GROUPS_CREATE", "GROUP_INVITES_CREATE", "IDENTITY_PROVIDERS_CREATE", "IDENTITY_PROVIDERS_UPDATE"],
].map((name) => `CAP_IAM_${name}`);
const PAYLOAD = ["CAP_TAG_CREATE", "CAP_REPO_DELETE"];

/** At most 4 groups and 5 identities in each. */
export const growPair = async (random: Random, api: TestServer): Promise<Pair> => {
  const create = async (target: string, body: object): Promise<string> =>
    (await api.ok("POST", `${IAM}/${target}`, { body })).uid as string;
  const organizations = [await create("groups", { name: "one" }), await create("groups", { name: "two" })] as const;
  const groups: string[] = [];
  const identities: string[] = [];
  const roles: string[] = [];
  const subjects = new Map<string, string>();
  const chance = (percent: number): boolean => random.below(100) < percent;
  const inside = (all: readonly string[], organization: string): string[] =>
    all.filter((uid) => rootOf(uid) === organization);
  for (const [i, organization] of organizations.entries()) {
    groups.push(organization);
    for (let left = random.below(4); left > 0; left -= 1)
      groups.push(await create(`groups/${random.pick(inside(groups, organization))}`, { name: `g${groups.length}` }));
    const own = inside(groups, organization);
    for (let left = 2 + random.below(3); left > 0; left -= 1) {
      const size = 1 + random.below(3);
      const capabilities = Array.from({ length: size }, () => random.pick(VOCABULARY));
      if (chance(50)) capabilities.push(random.pick(PAYLOAD));
      roles.push(
        await create(`roles/${random.pick(own)}`, {
          name: `r${roles.length}`,
          capabilities: [...new Set(capabilities)],
        }),
      );
    }
    for (let left = 1 + random.below(5); left > 0; left -= 1) {
      const number = identities.length;
      // Some workloads may be two identities.
      const subject = number > 0 && chance(12) ? `s${random.below(number)}` : `s${number}`;
      const claimMatch = { issuer: api.issuer, subject };
      const uid = await create(`identities/${random.pick(own)}`, { name: `i${i}-${number}`, claimMatch });
      identities.push(uid);
      subjects.set(uid, subject);
    }
  }
  const bind = async (identityUid: string, organization: string): Promise<void> => {
    const role = chance(8)
      ? await api.role(random.pick(["owner", "viewer", "limited_owner"]))
      : random.pick(inside(roles, organization));
    const group = random.pick(inside(groups, organization));
    // A role can be granted in its own group and below.
    await api.call("POST", `${IAM}/roleBindings/${group}`, { body: { identityUid, roleUid: role } });
  };
  for (const uid of identities) for (let left = random.below(4); left > 0; left -= 1) await bind(uid, rootOf(uid));
  const [one, two] = organizations;
  for (let left = 1 + random.below(3); left > 0; left -= 1) await bind(random.pick(inside(identities, two)), one);
  if (chance(40)) await bind(random.pick(inside(identities, one)), two);
  return { organizations, groups, identities, subjects };
};
