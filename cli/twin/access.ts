// The access of each identity of a twin, by the twin's own authorization (docs/internals/contract.md#validate). It uses nothing of access/graph/: a review
// compares the two.
import type { Client } from "../../client/client.ts";
import { hasCode } from "../../client/errors.ts";
import { ancestorsOf, capabilityName, isUidp } from "../../schema/index.ts";
import type { Twin } from "./twin.ts";

/**
 * By uid of the group of a binding: the capabilities that hold there and everywhere below. Each has the name of its role, or of several
 * the first by alphabet.
 */
type Grants = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** By uid of the identity. One that has been deleted is absent. */
export type TwinAccess = ReadonlyMap<string, Grants>;

/** Asks the twin as each of these identities. */
export const accessOf = async (twin: Twin, identities: Iterable<string>): Promise<TwinAccess> => {
  const access = new Map<string, Grants>();
  const shared: Shared = new Map();
  for (const identity of identities) {
    const grants = await grantsOf(await twin.clientOf(identity), shared);
    if (grants) access.set(identity, grants);
  }
  return access;
};

/** Thousands of bindings grant the same few roles: this keeps the capabilities of each combination once. */
type Shared = Map<string, ReadonlyMap<string, string>>;

/** Undefined where the identity does not exist: its token is refused. */
const grantsOf = async (client: Client, shared: Shared): Promise<Grants | undefined> => {
  try {
    const { capabilities = [] } = await client.call("Validate", {});
    const byGroup = Map.groupBy(capabilities, ({ group }) => group?.id);
    return new Map(
      [...byGroup].flatMap(([group, entries]): [string, ReadonlyMap<string, string>][] => {
        if (!isUidp(group)) return [];
        const roles = entries.map(({ role }): [name: string, capabilities: string[]] => [
          role?.name ?? "",
          (role?.capabilities ?? []).map(capabilityName),
        ]);
        const key = JSON.stringify(roles);
        const held = shared.get(key) ?? heldBy(roles);
        shared.set(key, held);
        return [[group, held]];
      }),
    );
  } catch (error) {
    if (hasCode(error, "UNAUTHENTICATED")) return undefined;
    throw error;
  }
};

const heldBy = (roles: readonly (readonly [name: string, capabilities: readonly string[]])[]): Map<string, string> => {
  const held = new Map<string, string>();
  for (const [name, capabilities] of roles)
    for (const capability of capabilities) {
      const known = held.get(capability);
      if (known === undefined || name < known) held.set(capability, name);
    }
  return held;
};

/** Capabilities of `one`, at the topmost group, that `other` lacks at that group. `role` is a name. */
export const rowsBetween = (
  one: TwinAccess,
  other: TwinAccess,
): { identity: string; group: string; capability: string; role: string }[] =>
  [...one].flatMap(([identity, grants]) =>
    [...grants].flatMap(([group, capabilities]) =>
      [...capabilities]
        .filter(([capability]) => !holdsAt(grants, ancestorsOf(group), capability))
        .filter(([capability]) => !holdsAt(other.get(identity), [...ancestorsOf(group), group], capability))
        .map(([capability, role]) => ({ identity, group, capability, role })),
    ),
  );

const holdsAt = (grants: Grants | undefined, groups: readonly string[], capability: string) =>
  groups.some((group) => grants?.get(group)?.has(capability));
