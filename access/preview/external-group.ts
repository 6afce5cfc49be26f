// The steps of mappings of external groups: which role the people of a group of an identity provider get at the organization.
import type { GraphBuilder } from "../graph/graph.ts";
import { addExternalGroup } from "../graph/live-record.ts";
import { hiddenPart } from "./record.ts";
import { nodeOf, referenceOf, roleReferenceOf } from "./reference.ts";
import type { Resource, Stored } from "./resource.ts";
import { report, type Work } from "./work.ts";

/** A mapping never changes. What is not known of a new one may be any role, any people and any organization. */
export const applyMapping = (work: Work, resource: Resource): void => {
  const { records, after } = work;
  const { uid = null, inputs = {}, mayAdopt } = resource.planned ?? {};
  const id = nodeOf(resource);
  if (after.externalGroups.has(id)) return;
  if (mayAdopt) {
    const why = "it takes over a mapping of an external group that exists, and which one is not known";
    report(work, resource, "adopt", why, { of: "anything" });
    return;
  }
  const parts = {
    parent: referenceOf(records, inputs.parent, "identityProvider"),
    role: roleReferenceOf(records, after, inputs.role),
    scope: referenceOf(records, inputs.scope, "group"),
  };
  for (const [property, part] of Object.entries(parts))
    if ("why" in part) report(work, resource, property, `${part.why}; people get a role`, { of: "anything" });
  const { externalGroupId } = inputs;
  const isHidden = typeof externalGroupId !== "string" || hiddenPart(externalGroupId) !== undefined;
  if (isHidden) report(work, resource, "externalGroupId", "which people get the role is not known", { of: "anything" });
  const { parent, role, scope } = parts;
  if (!("id" in parent && "id" in role && "id" in scope)) return;
  if (!after.providers.has(parent.id))
    report(work, resource, "parent", `the API does not list identity provider ${parent.id}`, { of: "anything" });
  const name = isHidden ? "a group that is not known" : externalGroupId;
  after.externalGroups.set(id, {
    id,
    uid,
    provider: parent.id,
    externalGroupId: name,
    role: role.id,
    group: scope.id,
  });
};

/** A mapping that the engine's state shows, where the API does not list it. */
export const showStoredMapping = (graph: GraphBuilder, { uid, outputs }: Stored): void => {
  if (!graph.externalGroups.has(uid)) addExternalGroup(graph, { ...outputs, uid });
};
