// The steps of records: groups, identities, roles and single bindings.
import { parentOf, printable } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import { groupNodeOf, identityNodeOf, roleNodeOf } from "./record.ts";
import { nodeOf, type Reference, referenceOf, roleReferenceOf } from "./reference.ts";
import type { Resource, ResourceKind } from "./resource.ts";
import { bind, groupOf, report, reportUnlisted, type Work } from "./work.ts";

type RecordKind = Exclude<ResourceKind, "roleBindingSet">;

export const applyRecord: Record<RecordKind, (work: Work, resource: Resource) => void> = {
  group: (work, resource) => {
    const { inputs } = resource.planned as NonNullable<Resource["planned"]>;
    const live = work.after.groups.get(nodeOf(resource));
    const parent = live ? live.parent : inputs.root === true ? null : placeOf(work, resource);
    work.after.groups.set(nodeOf(resource), groupNodeOf(resource, parent, live));
  },
  identity: (work, resource) => {
    const live = work.after.identities.get(nodeOf(resource));
    const { node, hidden } = identityNodeOf(resource, live?.group ?? placeOf(work, resource), live);
    reportHidden(work, resource, "", "who can assume it", hidden);
    work.after.identities.set(node.id, node);
  },
  role: (work, resource) => {
    const live = work.after.roles.get(nodeOf(resource));
    const { node, hidden } = roleNodeOf(resource, live?.group ?? placeOf(work, resource), live);
    reportHidden(work, resource, "capabilities", "what the role grants", hidden);
    work.after.roles.set(node.id, node);
  },
  roleBinding: (work, resource) => {
    const { uid, inputs, dependencies, op } = resource.planned as NonNullable<Resource["planned"]>;
    if (uid) work.declared.add(uid);
    if (op === "same") return;
    const { byUrn, after } = work;
    const names = (inputs.names ?? {}) as Record<string, unknown>;
    const group = uid ? { id: parentOf(uid) } : referenceOf(byUrn, inputs.parent, "group", dependencies.parent);
    const identity = referenceOf(byUrn, inputs.identity, "identity", dependencies.identity, names.identity);
    const role = roleReferenceOf(after, byUrn, inputs.role, dependencies.role, names.role);
    const parts = { parent: group, identity, role };
    const context = describe(work, parts);
    for (const [property, part] of Object.entries(parts))
      if ("why" in part) report(work, resource, property, `${part.why}; ${context}`);
    if ("id" in group && "id" in identity && "id" in role)
      bind(work, resource, {
        id: uid ?? resource.urn,
        uid: uid ?? null,
        group: group.id,
        identity: identity.id,
        role: role.id,
      });
    // Something else than now, and not known what.
    else if (uid) after.bindings.delete(uid);
  },
};

const reportHidden = (
  work: Work,
  resource: Resource,
  property: string,
  what: string,
  hidden: "unknown" | "secret" | undefined,
): void => {
  if (hidden)
    report(work, resource, property, `${what} is ${hidden === "secret" ? "secret" : "known only to the run"}`);
};

/** The group of a record. One that cannot be known gets a node of its own, so that its access stays in the review. */
const placeOf = (work: Work, resource: Resource): NodeId => {
  const group = groupOf(work, resource);
  if ("id" in group) {
    reportUnlisted(work, resource, group.id);
    return group.id;
  }
  report(work, resource, "parent", group.why);
  const id = `${resource.urn}#parent`;
  const name = "a group that is not known";
  work.after.groups.set(id, { id, uid: null, name, parent: null, logicalName: name });
  return id;
};

/** `identity deploy is granted a role that is not known at clusters` */
const describe = ({ after }: Work, parts: Record<"parent" | "identity" | "role", Reference>): string => {
  const named = (part: Reference, nodes: ReadonlyMap<NodeId, { name: string }>, kind: string): string =>
    "id" in part
      ? `${kind} ${printable(nodes.get(part.id)?.name ?? part.id)}`
      : `${kind === "identity" ? "an identity" : `a ${kind}`} that is not known`;
  return `${named(parts.identity, after.identities, "identity")} would get ${named(parts.role, after.roles, "role")} at ${named(parts.parent, after.groups, "group")}`;
};
