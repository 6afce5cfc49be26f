// Validate (docs/internals/contract.md#validate): the claims of the caller's token, and the current grants of its identity, as far as the token
// may use them (docs/internals/contract.md#d28).
import { capabilityName, isAncestorOrSelf, type ResponseOf } from "../../schema/index.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { timeText } from "./record.ts";
import { capabilitiesOfRole } from "./role.ts";
import { groupV1From, roleV1From } from "./v1.ts";

export const whoAmIService = {
  Validate: (_, context) => {
    const { issuer, audience, issuedAtMs, expiresAtMs, email } = context.caller.token();
    return {
      issuer,
      subject: context.caller.uid,
      audience,
      expiry: timeText(expiresAtMs),
      issuedAt: timeText(issuedAtMs),
      capabilities: heldByGroup(context),
      email,
    };
  },
} satisfies ServiceMethods;

type Held = NonNullable<ResponseOf<"Validate">["capabilities"]>;

/** Shows a role whole if the token's limits leave all its capabilities. The rest of the other roles is one entry for each group. */
const heldByGroup = ({ caller, store }: ServiceContext): Held => {
  const { scopes } = caller;
  const isShown = (capability: string) => caller.capabilities?.has(capability) ?? true;
  const bound = store
    .statement("SELECT parent, role_uid FROM role_bindings WHERE identity_uid = ? ORDER BY uid")
    .all(caller.uid)
    .map(({ parent, role_uid }) => ({
      group: store.get(shapes.group, parent as string) as Row,
      role: store.get(shapes.role, role_uid as string) as Row,
    }))
    .filter(({ group: { uid } }) => {
      // A role that is bound above a scope counts inside it.
      return !scopes || scopes.some((scope) => isAncestorOrSelf(scope, uid) || isAncestorOrSelf(uid, scope));
    });
  return [...Map.groupBy(bound, ({ group }) => group.uid).values()].flatMap((here): Held => {
    const group = groupV1From((here[0] as (typeof here)[number]).group, store);
    const roles = here.map(({ role }) => role);
    const whole = roles.filter((role) => capabilitiesOfRole(role).every(isShown));
    const held = new Set(roles.flatMap(capabilitiesOfRole).filter(isShown));
    const shown = new Set(whole.flatMap(capabilitiesOfRole));
    const entries = whole.map((role) => ({ group, role: roleV1From(role) }));
    if (whole.length === roles.length || (whole.length > 0 && held.size === shown.size)) return entries;
    const known = [...roles, ...builtInRoles(store)].find((role) => grantsExactly(role, held));
    // `held` includes the grants of the whole roles: an entry lists everything that the token may do there.
    return [
      known
        ? { group, role: roleV1From(known) }
        : { group, capabilities: [...held].map((one) => String(capabilityName(one))).sort() },
    ];
  });
};

const builtInRoles = (store: Store) =>
  store
    .statement("SELECT uid FROM roles WHERE parent IS NULL ORDER BY name")
    .all()
    .map(({ uid }) => store.get(shapes.role, uid as string) as Row);

const grantsExactly = (role: Row, held: ReadonlySet<string>) => {
  const own = new Set(capabilitiesOfRole(role));
  return own.size === held.size && [...own].every((capability) => held.has(capability));
};
