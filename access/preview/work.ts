// What the steps of a preview change, and what they report: shared by those of records and of sets.
import { printable } from "../../schema/index.ts";
import type { BindingNode, GraphBuilder, NodeId } from "../graph/graph.ts";
import type { IsVisible } from "../graph/visible.ts";
import type { Unknown } from "../review/report.ts";
import { type Reference, referenceOf } from "./reference.ts";
import type { Resource, ResourceKind } from "./resource.ts";

export interface Work {
  byUrn: ReadonlyMap<string, Resource>;
  before: GraphBuilder;
  after: GraphBuilder;
  isVisible: IsVisible;
  unknown: Unknown[];
  /** bindings that a resource declares or removes */
  declared: Set<NodeId>;
  restored: NodeId[];
  /** those that are there when the first set is planned, after all resources of one binding */
  bindingsByGroup?: Map<NodeId, BindingNode[]>;
}

export const WORDS: Record<ResourceKind, string> = {
  group: "group",
  identity: "identity",
  role: "role",
  roleBinding: "role binding",
  roleBindingSet: "role binding set",
};

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
  if (after.groups.has(group) || before.groups.has(group)) return;
  const why = `the API does not list group ${group}: it was removed since, you cannot see it, or the preview is of another service`;
  report(work, resource, "parent", why);
};

export const groupOf = ({ byUrn }: Work, { planned }: Resource): Reference =>
  referenceOf(byUrn, planned?.inputs.parent, "group", planned?.dependencies.parent);

/** What the preview does not tell of a resource. */
export const report = (work: Work, { kind, logicalName }: Resource, property: string, why: string): void => {
  work.unknown.push({
    subject: logicalName,
    ...(property && { property }),
    message: `${WORDS[kind]} ${printable(logicalName)}: ${property && `${property}: `}${why}`,
  });
};
