// What a service decides of everybody's access, and how that changes, without the access graph: of identities by Validate on a copy of it, of
// people by the records that give them a role.
import { copyOf } from "../../cli/copy.ts";
import { accessOf } from "../../cli/twin/access.ts";
import { startTwin } from "../../cli/twin/twin.ts";
import type { Client } from "../../client/client.ts";
import { ancestorsOf, capabilityName, type Json, parentOf } from "../../schema/index.ts";

export interface Decided {
  /** by subject and uid of the group, the capabilities that are given there */
  held: Map<string, Map<string, Set<string>>>;
  /** in words, by uid of the identity or of the group */
  names: ReadonlyMap<string, string>;
}

export const decidedAt = async (client: Client, address: string): Promise<Decided> => {
  const copy = await copyOf(client, address);
  const list = (plural: string): Json[] =>
    [copy.named, copy.records].flatMap((lists) => (lists as Record<string, Json[] | undefined>)[plural] ?? []);
  const [groups, roles, providers] = ["groups", "roles", "identityProviders"].map(
    (plural) => new Map(list(plural).map((one) => [String(one.uid), one])),
  ) as [Records, Records, Records];
  const names = new Map<string, string>();
  for (const uid of groups.keys()) {
    const below = [...ancestorsOf(uid), uid].filter((one) => ancestorsOf(one).length > 0);
    names.set(uid, below.map((one) => groups.get(one)?.name).join("/") || "/");
  }
  for (const { uid, name } of list("identities")) names.set(String(uid), String(name));
  const held: Decided["held"] = new Map();
  const add = (subject: string, group: string, capabilities: Iterable<string>): void => {
    const own = held.get(subject) ?? new Map<string, Set<string>>();
    held.set(subject, own.set(group, new Set([...(own.get(group) ?? []), ...capabilities])));
  };
  const twin = await startTwin(copy, address);
  try {
    const identities = list("identities").map(({ uid }) => String(uid));
    for (const [uid, grants] of await accessOf(twin, identities))
      for (const [group, capabilities] of grants) add(uid, group, capabilities.keys());
  } finally {
    await twin.close();
  }
  const capabilitiesOf = (role: unknown): string[] =>
    ((roles.get(String(role))?.capabilities ?? []) as string[]).map(capabilityName);
  for (const { uid, name, defaultRole } of providers.values())
    add(`people of ${name}`, parentOf(String(uid)), capabilitiesOf(defaultRole));
  for (const { uid, externalGroupId, scope, roleUid } of list("externalGroupRoleMappings")) {
    const subject = `external group ${externalGroupId} of ${providers.get(parentOf(String(uid)))?.name}`;
    add(subject, String(scope), capabilitiesOf(roleUid));
  }
  // Who accepts another invite is somebody else.
  for (const { uid, role, roleUid } of list("groupInvites"))
    add(`invite ${uid}`, parentOf(String(uid)), capabilitiesOf(roleUid ?? (role as Json).uid));
  return { held, names };
};

type Records = Map<string, Json>;

/** Lines `+ SUBJECT: CAPABILITY at PATH`, of the topmost group where it is gained, and with `-` where it is lost. */
export const changesBetween = (before: Decided, after: Decided): string[] => {
  const rowsOf = (sign: string, one: Decided, other: Decided): string[] =>
    [...one.held].flatMap(([subject, grants]) =>
      [...grants].flatMap(([group, capabilities]) =>
        [...capabilities].flatMap((capability) => {
          const isIn = (all: typeof grants | undefined, places: string[]) =>
            places.some((at) => all?.get(at)?.has(capability));
          const above = ancestorsOf(group);
          if (isIn(grants, above) || isIn(other.held.get(subject), [...above, group])) return [];
          const name = after.names.get(subject) ?? before.names.get(subject) ?? subject.replace(/^invite .*/, "invite");
          return [`${sign} ${name}: ${capability} at ${one.names.get(group)}`];
        }),
      ),
    );
  return [...rowsOf("+", after, before), ...rowsOf("-", before, after)].toSorted();
};
