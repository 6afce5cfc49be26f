// What an update takes over by the uids beside a policy (access/policy/uids.ts): only keys that the stack has no record for. The
// author of that file chooses which record a new key means, so a review looks at it with a stack too.
import { type Policy, ROOT } from "./policy.ts";
import type { PolicyStack } from "./stack.ts";
import type { PolicyUids } from "./uids.ts";

const SECTIONS = ["groups", "identities", "roles"] as const;

/** A record that a key of the policy takes over. */
export interface Adoption {
  section: (typeof SECTIONS)[number];
  key: string;
  uid: string;
}

/** Those that the next update makes, and one sentence for each that another key of the policy contradicts. */
export const adoptionsOf = (
  policy: Policy,
  uids: PolicyUids,
  stack?: PolicyStack,
): { adoptions: Adoption[]; problems: string[] } => {
  const adoptions: Adoption[] = [];
  const problems: string[] = [];
  for (const section of SECTIONS) {
    const keys = keysOf(policy, section);
    const owners = new Map(
      [...keys].flatMap(([key, was]) => {
        const uid = [key, was].flatMap((one) => (one === undefined ? [] : (stack?.[section].get(one) ?? []))).at(0);
        return uid === undefined ? [] : [[uid, key] as const];
      }),
    );
    const held = new Set(owners.values());
    for (const [key, uid] of uids[section]) {
      if (!keys.has(key) || held.has(key)) continue;
      const other = owners.get(uid);
      if (other !== undefined) problems.push(`${section}.${key}: ${uid} is the record of ${section}.${other}`);
      else adoptions.push({ section, key, uid });
      owners.set(uid, key);
    }
  }
  return { adoptions, problems };
};

/** Keys of a section, each with the one that it had before. */
const keysOf = (policy: Policy, section: Adoption["section"]): Map<string, string | undefined> => {
  if (section !== "groups") return new Map([...policy[section].values()].map(({ key, was }) => [key, was]));
  const groups = [...policy.groups.values()].map(
    ({ path, parent, was }) => [path, was && (parent === ROOT ? was : `${parent}/${was}`)] as const,
  );
  return new Map([[ROOT, undefined], ...groups]);
};

/** As if the stack had these records already. What it removes is up to the stack alone. */
export const withAdoptions = (stack: PolicyStack | undefined, adoptions: readonly Adoption[]): PolicyStack => {
  const own = (section: Adoption["section"]): ReadonlyMap<string, string> =>
    new Map([
      ...(stack?.[section] ?? []),
      ...adoptions.filter((one) => one.section === section).map(({ key, uid }) => [key, uid] as const),
    ]);
  return {
    groups: own("groups"),
    identities: own("identities"),
    roles: own("roles"),
    managed: new Set([...(stack?.managed ?? []), ...adoptions.map(({ uid }) => uid)]),
    exclusive: stack?.exclusive ?? new Set(),
  };
};
