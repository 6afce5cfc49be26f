// A review never shows values that the state of the stack marks as secret. If such a value decides access, the access that the change gives
// is unknown.
import { capabilityFrom, printable } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import { type AccessGraph, type NodeId, newGraph } from "../graph/graph.ts";
import type { Hidden, UnknownPart } from "../review/proposal.ts";

interface Facts {
  before: AccessGraph;
  after: AccessGraph;
  /** whether a text contains something that the state marks as secret */
  isSecret(text: string): boolean;
}

/** The service lists unchanged values to everyone who may read them. */
export const hideSecrets = ({ before, after, isSecret }: Facts): { after: AccessGraph; unknown: UnknownPart[] } => {
  const shown = newGraph(after);
  const unknown: UnknownPart[] = [];
  const hasSecret = (value: unknown): boolean => {
    if (typeof value === "string") return isSecret(value);
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([key, one]) => isSecret(key) || hasSecret(one));
  };
  const changed = <K extends keyof AccessGraph>(kind: K) => {
    const nodes = after[kind] as ReadonlyMap<NodeId, { id: NodeId; name?: string }>;
    return [...nodes.values()]
      .filter((node) => equalityKey(node) !== equalityKey(before[kind].get(node.id) ?? null))
      .flatMap((node) => shown[kind].get(node.id) ?? []);
  };
  const hide = (subject: string, property: string, what: string, hides: Hidden, about?: NodeId): void =>
    void unknown.push({ subject, property, message: `${printable(subject)}: ${what} is secret`, hides, about });

  for (const kind of ["groups", "identities", "roles", "providers"] as const)
    for (const node of changed(kind))
      if (isSecret(node.name)) (shown[kind] as Map<NodeId, object>).set(node.id, { ...node, name: SECRET_NAME });
  for (const { id } of changed("identities")) {
    const node = shown.identities.get(id) as NonNullable<ReturnType<typeof shown.identities.get>>;
    if (!hasSecret(node.relationship)) continue;
    shown.identities.set(id, { ...node, relationship: null });
    hide(node.name, "", "who can assume it", { of: "assumable", identity: id }, id);
  }
  for (const { id, name, ...node } of changed("roles")) {
    // The state uses the names of the API.
    const open = node.capabilities.filter((one) => !isSecret(one) && !isSecret(capabilityFrom(one) ?? one));
    if (open.length === node.capabilities.length) continue;
    // A hidden capability may be one that the role grants now: it is not reported as a loss.
    const held = before.roles.get(id)?.capabilities.filter((one) => node.capabilities.includes(one)) ?? [];
    shown.roles.set(id, { ...node, id, name, capabilities: [...new Set([...open, ...held])].sort() });
    hide(name, "capabilities", "what the role grants", { of: "capabilities", role: id }, id);
  }
  for (const { id, identity, role, group } of changed("bindings")) {
    const parts = Object.entries({ identity, role, group }).filter(([, uid]) => !isSecret(uid));
    if (parts.length === 3) continue;
    shown.bindings.delete(id);
    hide("role binding", "", "a part of it", { of: "binding", ...Object.fromEntries(parts) });
  }
  for (const { id, name, signIn, defaultRole, group, ...node } of changed("providers")) {
    const [hidesSignIn, hidesRole] = [hasSecret(signIn), hasSecret(defaultRole)];
    shown.providers.set(id, {
      ...{ ...node, id, name, group },
      ...{ signIn: hidesSignIn ? null : signIn, defaultRole: hidesRole ? null : defaultRole },
    });
    if (hidesSignIn) hide(name, "oidc", "where people sign in", { of: "issuer" }, id);
    if (hidesRole) hide(name, "defaultRole", "the role of its people", { of: "people", group }, id);
  }
  for (const node of changed("externalGroups"))
    if (hasSecret(node)) {
      shown.externalGroups.delete(node.id);
      hide("external group", "", "a part of it", { of: "people" });
    }
  for (const node of changed("invites"))
    if (hasSecret(node.email) || hasSecret(node.role)) {
      const role = hasSecret(node.role) ? null : node.role;
      shown.invites.set(node.id, { ...node, role, email: hasSecret(node.email) ? "" : node.email });
      hide("invite", "", "who can accept it, or the role that they get,", { of: "people", group: node.group }, node.id);
    }
  return { after: shown, unknown };
};

const SECRET_NAME = "[secret]";
