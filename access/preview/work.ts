// What the steps of a preview change, and what they report: shared by the steps of records and of sets.
import { isUidp, printable } from "../../schema/index.ts";
import type { BindingNode, GraphBuilder, NodeId } from "../graph/graph.ts";
import type { IsVisible } from "../graph/visible.ts";
import type { Hidden, UnknownPart } from "../review/proposal.ts";
import type { Records } from "./records.ts";
import { type Reference, referenceOf } from "./reference.ts";
import { type Resource, wordOf } from "./resource.ts";

export interface Work {
  records: Records;
  before: GraphBuilder;
  after: GraphBuilder;
  isVisible: IsVisible;
  unknown: UnknownPart[];
  /** bindings that a resource declares or removes */
  declared: Set<NodeId>;
  /** those that are there when the first set is planned, after all resources of one binding */
  bindingsByGroup?: Map<NodeId, BindingNode[]>;
}

export const bind = (work: Work, resource: Resource, binding: BindingNode): void => {
  const { before, after } = work;
  after.bindings.set(binding.id, binding);
  const { bindingsByGroup } = work;
  if (bindingsByGroup && !bindingsByGroup.get(binding.group)?.push(binding))
    bindingsByGroup.set(binding.group, [binding]);
  const { identity } = binding;
  reportUnlisted(work, resource, binding.group);
  if (!after.identities.has(identity) && !before.identities.has(identity))
    report(work, resource, "identity", `the API does not list identity ${identity}`);
};

/** A group by its uid that neither the API has nor the preview creates. */
export const reportUnlisted = (work: Work, resource: Resource, group: NodeId): void => {
  const { before, after } = work;
  if (!isUidp(group) || after.groups.has(group) || before.groups.has(group)) return;
  const why = `the API does not list group ${group}: it was removed since, you cannot see it, or the preview is of another service`;
  report(work, resource, "parent", why);
};

export const groupOf = ({ records }: Work, { planned }: Resource): Reference =>
  referenceOf(records, planned?.inputs.parent, "group");

/** What the preview does not tell of a resource. */
export const report = (
  work: Work,
  { kind, logicalName }: Resource,
  property: string,
  why: string,
  hides?: Hidden,
  about?: NodeId,
): void => {
  work.unknown.push({
    ...(hides && { hides, about }),
    subject: logicalName,
    ...(property && { property }),
    message: `${wordOf(kind)} ${printable(logicalName)}: ${property && `${property}: `}${why}`,
  });
};

/** A pair that a role binding or a set declares. The first part that is not known carries what it may hide. */
export const reportPair = (
  work: Work,
  resource: Resource,
  parts: Readonly<Record<"parent" | "identity" | "role", Reference>>,
  pathOf: (part: string) => string = (part) => part,
): void => {
  const idOf = (part: Reference): NodeId | undefined => ("id" in part ? part.id : undefined);
  const [group, identity, role] = [idOf(parts.parent), idOf(parts.identity), idOf(parts.role)];
  const hides: Hidden = {
    of: "binding",
    ...(group !== undefined && { group }),
    ...(identity !== undefined && { identity }),
    ...(role !== undefined && { role }),
  };
  const unknown = Object.entries(parts).filter(([, part]) => "why" in part) as [string, { why: string }][];
  unknown.forEach(([part, { why }], i) => {
    const text = `${why}; ${grantText(work, parts)}`;
    report(work, resource, pathOf(part), text, i === 0 ? hides : undefined, identity);
  });
};

/** `identity deploy would get a role that is not known at group clusters` */
const grantText = ({ after }: Work, parts: Readonly<Record<"parent" | "identity" | "role", Reference>>): string => {
  const nameText = (part: Reference, nodes: ReadonlyMap<NodeId, { name: string }>, kind: string): string =>
    "id" in part
      ? `${kind} ${printable(nodes.get(part.id)?.name ?? part.id)}`
      : `${kind === "identity" ? "an identity" : `a ${kind}`} that is not known`;
  return `${nameText(parts.identity, after.identities, "identity")} would get ${nameText(parts.role, after.roles, "role")} at ${nameText(parts.parent, after.groups, "group")}`;
};
