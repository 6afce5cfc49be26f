// The steps of records: groups, identities, roles and single bindings.
import { type Json, parentOf } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import type { Hidden } from "../review/proposal.ts";
import { applyMapping } from "./external-group.ts";
import { applyInvite, applyProvider, reportAdoptedProvider } from "./people.ts";
import { groupNodeOf, identityNodeOf, roleNodeOf } from "./record.ts";
import { nodeOf, referenceOf, roleReferenceOf } from "./reference.ts";
import { type RecordKind, type Resource, wordOf } from "./resource.ts";
import { SECRET } from "./value.ts";
import { bind, groupOf, report, reportPair, reportUnlisted, type Work } from "./work.ts";

export const applyRecord: Record<RecordKind, (work: Work, resource: Resource) => void> = {
  group: (work, resource) => {
    if (resource.planned?.mayAdopt) return reportTakeover(work, resource);
    const { inputs } = resource.planned as NonNullable<Resource["planned"]>;
    const live = work.after.groups.get(nodeOf(resource));
    const parent = live ? live.parent : inputs.root === true ? null : placeOf(work, resource);
    work.after.groups.set(nodeOf(resource), groupNodeOf(resource, parent, live));
  },
  identity: (work, resource) => {
    if (resource.planned?.mayAdopt) return reportTakeover(work, resource);
    const live = work.after.identities.get(nodeOf(resource));
    const { node, hidden } = identityNodeOf(resource, live?.group ?? placeOf(work, resource), live);
    reportHidden(work, resource, "", "who can assume it", hidden, { of: "assumable", identity: node.id });
    work.after.identities.set(node.id, node);
  },
  role: (work, resource) => {
    if (resource.planned?.mayAdopt) return reportTakeover(work, resource);
    const live = work.after.roles.get(nodeOf(resource));
    const { node, hidden } = roleNodeOf(resource, live?.group ?? placeOf(work, resource), live);
    const hides: Hidden = { of: "capabilities", role: node.id };
    reportHidden(work, resource, "capabilities", "what the role grants", hidden, hides);
    work.after.roles.set(node.id, node);
  },
  identityProvider: (work, resource) => {
    if (resource.planned?.mayAdopt) return reportAdoptedProvider(work, resource);
    applyProvider(work, resource, (live) => live ?? placeOf(work, resource));
  },
  externalGroupRoleMapping: applyMapping,
  groupInvite: (work, resource) => applyInvite(work, resource, () => placeOf(work, resource)),
  roleBinding: (work, resource) => {
    const { uid, inputs, op, mayAdopt } = resource.planned as NonNullable<Resource["planned"]>;
    if (uid) work.declared.add(uid);
    if (op === "same") return;
    const { records, after } = work;
    if (mayAdopt) reportTakeover(work, resource);
    const group = uid ? { id: parentOf(uid) } : referenceOf(records, inputs.parent, "group");
    const identity = referenceOf(records, inputs.identity, "identity");
    const role = roleReferenceOf(records, after, inputs.role);
    reportPair(work, resource, { parent: group, identity, role });
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
  hides: Hidden,
): void => {
  if (hidden === undefined) return;
  const why = `${what} is ${hidden === "secret" ? "secret" : "known only to the run"}`;
  report(work, resource, property, why, hides, nodeOf(resource));
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

/** What a resource takes over. It creates nothing, so it is not in the graph. */
const reportTakeover = (work: Work, resource: Resource): void => {
  const inputs: Json = resource.planned?.inputs ?? {};
  const kind = wordOf(resource.kind) as (Hidden & { of: "takeover" })["kind"];
  const why = `it takes over ${kind === "identity" ? "an" : "a"} ${kind} that exists, and which one is ${inputs.adopt === SECRET ? "secret" : "known only to the run"}`;
  report(work, resource, "adopt", why, { of: "takeover", kind, inputs });
};
