// Nodes of a graph from the inputs of resources, as a preview shows them.
import { withoutPlaceholders } from "../../client/placeholder-uid.ts";
import { capabilityName, type Json } from "../../schema/index.ts";
import type { GroupNode, IdentityNode, NodeId, RoleNode } from "../graph/graph.ts";
import { RELATIONSHIPS, relationshipOf } from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import { nodeOf } from "./reference.ts";
import type { Resource, Stored } from "./resource.ts";
import { SECRET, UNKNOWN } from "./value.ts";

/** What a preview does not show in a value: undefined when it shows all of it. */
export const hiddenPart = (value: unknown): "unknown" | "secret" | undefined => {
  if (value === SECRET) return "secret";
  // A text that contains the uid of a new record will contain another one.
  if (typeof value === "string")
    return value.includes(UNKNOWN) || withoutPlaceholders(value) !== value ? "unknown" : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const one of Object.values(value)) {
    const found = hiddenPart(one);
    if (found) return found;
  }
  return undefined;
};

export const nameIn = (inputs: Json, otherwise: string): string =>
  typeof inputs.name === "string" && hiddenPart(inputs.name) === undefined ? inputs.name : otherwise;

export const nodeIn = (resource: Resource, live?: { name: string }) => ({
  id: nodeOf(resource),
  uid: resource.planned?.uid ?? null,
  name: nameIn(resource.planned?.inputs ?? {}, live?.name ?? resource.logicalName),
});

/** Inputs that the preview changes, so that the API's record takes them. A secret has one text, before and after. */
export const changedInputs = ({ planned, stored }: Resource, names: readonly string[]): boolean => {
  const [news, olds] = [planned?.inputs ?? {}, stored?.inputs ?? {}];
  if (planned?.op === "create") return true;
  return names.some((name) => textOf(news[name]) !== textOf(olds[name]) || hiddenPart(news[name]) === "secret");
};

export const groupNodeOf = (resource: Resource, parent: NodeId | null, live?: GroupNode): GroupNode => ({
  ...nodeIn(resource, live),
  parent,
  logicalName: resource.logicalName,
});

/** `hidden`: the preview does not show who can assume it. */
export const identityNodeOf = (
  resource: Resource,
  group: NodeId,
  live?: IdentityNode,
): { node: IdentityNode; hidden?: "unknown" | "secret" } => {
  const { inputs = {} } = resource.planned ?? {};
  const node = { ...nodeIn(resource, live), group };
  const given = relationshipOf(inputs);
  if (live && (given === null || !changedInputs(resource, RELATIONSHIPS)))
    return { node: { ...node, relationship: live.relationship } };
  const hidden = hiddenPart(given);
  if (hidden) return { node: { ...node, relationship: null }, hidden };
  return { node: { ...node, relationship: withExpiry(given, live) } };
};

/** The API keeps the end of static keys that the program does not set. */
const withExpiry = (given: Json | null, live?: IdentityNode): Json | null => {
  const [now, before] = [given?.staticKeys, live?.relationship?.staticKeys] as (Json | undefined)[];
  if (!now || now.expirationTime || !before?.expirationTime) return given;
  return { ...given, staticKeys: { ...now, expirationTime: before.expirationTime } };
};

/** `hidden`: the preview does not show what the role grants. */
export const roleNodeOf = (
  resource: Resource,
  group: NodeId,
  live?: RoleNode,
): { node: RoleNode; hidden?: "unknown" | "secret" } => {
  const { inputs = {} } = resource.planned ?? {};
  const node = { ...nodeIn(resource, live), group };
  const { capabilities } = inputs;
  if (live && (capabilities === undefined || !changedInputs(resource, ["capabilities"])))
    return { node: { ...node, capabilities: live.capabilities } };
  const hidden = hiddenPart(capabilities);
  const known = Array.isArray(capabilities) ? capabilities : [];
  const shown = known.filter((one): one is string => typeof one === "string" && hiddenPart(one) === undefined);
  // What is not shown may be what it grants now: this is no loss.
  const held = new Set([...shown.map(capabilityName), ...(hidden && live ? live.capabilities : [])]);
  return { node: { ...node, capabilities: [...held].sort() }, ...(hidden && { hidden }) };
};

const storedNode = ({ uid, outputs }: Stored) => ({ id: uid, uid, name: nameIn(outputs, uid) });

/** The records that the engine's state shows, where the API does not list them. */
export const storedIdentity = (stored: Stored, group: NodeId): IdentityNode => ({
  ...storedNode(stored),
  group,
  relationship: relationshipOf(stored.outputs),
});

export const storedRole = (stored: Stored, group: NodeId): RoleNode => ({
  ...storedNode(stored),
  group,
  capabilities: (Array.isArray(stored.outputs.capabilities) ? stored.outputs.capabilities.map(String) : [])
    .map(capabilityName)
    .sort(),
});

export const storedGroup = (stored: Stored, parent: NodeId | null): GroupNode => ({ ...storedNode(stored), parent });
