// The document that `pulumi preview --json --show-sames --refresh` prints of a change from one access graph to another, as if a
// program declared all of an organization. Records of `after` that do not exist yet have the uid null.
import type { AccessGraph, NodeId } from "../../access/graph/graph.ts";
import { placeholderUid } from "../../client/placeholder-uid.ts";
import type { Json } from "../../schema/index.ts";

export interface PreviewOptions {
  /** of the organization, which the program does not declare */
  organization: string;
  /** role bindings as one set for each group */
  sets?: boolean;
}

interface Resource {
  urn: string;
  uid: string | null;
  /** what the preview shows in place of the uid of a new record */
  placeholder: string;
  inputs: Json;
  outputs: Json;
  dependencies: Record<string, string[]>;
}

export const previewDocument = (before: AccessGraph, after: AccessGraph, options: PreviewOptions): Json => {
  const [olds, news] = [resourcesOf(before, options), resourcesOf(after, options)];
  const refreshes = [...olds.values()].map((old) => ({
    op: "refresh",
    urn: old.urn,
    oldState: stateOf(old),
    newState: stateOf(old),
  }));
  const steps = [...new Set([...olds.keys(), ...news.keys()])].map((urn) => stepOf(urn, olds.get(urn), news.get(urn)));
  const all = [...refreshes, ...steps];
  const changeSummary = Object.fromEntries(
    [...Map.groupBy(steps, ({ op }) => op)].map(([op, own]) => [op, own.length]),
  );
  return { steps: all, diagnostics: [], duration: 1, changeSummary };
};

const stepOf = (urn: string, old: Resource | undefined, now: Resource | undefined): Json & { op: string } => {
  if (!now) return { op: "delete", urn, oldState: old && stateOf(old) };
  const newState = { inputs: now.inputs, propertyDependencies: now.dependencies };
  if (!old) return { op: "create", urn, newState: { ...newState, inputs: { ...now.inputs, uid: now.placeholder } } };
  const isSame = JSON.stringify(old.inputs) === JSON.stringify(now.inputs);
  return { op: isSame ? "same" : "update", urn, oldState: stateOf(old), newState };
};

const stateOf = ({ uid, inputs, outputs, dependencies }: Resource): Json => ({
  id: uid,
  inputs,
  outputs,
  propertyDependencies: dependencies,
});

const resourcesOf = (graph: AccessGraph, { organization, sets = false }: PreviewOptions): Map<string, Resource> => {
  const resources = new Map<string, Resource>();
  const isInside = (id: NodeId): boolean => id.startsWith(`${organization}/`);
  const urnOf = (type: string, id: NodeId): string => `urn:pulumi:dev::acme::pulumi-nodejs:dynamic/irm:${type}::${id}`;
  const nodes = { Group: graph.groups, Identity: graph.identities, Role: graph.roles };

  const placeholders = new Map<string, string>();
  const placeholderOf = (urn: string): string => {
    const placeholder = placeholders.get(urn) ?? (placeholderUid(organization) as string);
    placeholders.set(urn, placeholder);
    return placeholder;
  };
  const dependencies = new Map<string, Record<string, string[]>>();
  /** The uid, or what stands for it, and the resource that gives it. */
  const refer = (urn: string, property: string, type: keyof typeof nodes, id: NodeId): string => {
    const own = dependencies.get(urn) ?? {};
    dependencies.set(urn, own);
    const isDeclared = isInside(id);
    own[property] = [...new Set([...(own[property] ?? []), ...(isDeclared ? [urnOf(type, id)] : [])])];
    return nodes[type].get(id)?.uid ?? placeholderOf(urnOf(type, id));
  };
  const add = (urn: string, uid: string | null, inputs: Json, outputs: Json = {}): void => {
    const all = { ...inputs, ...outputs, ...(uid && { uid }) };
    const own = { placeholder: placeholderOf(urn), dependencies: dependencies.get(urn) ?? {} };
    resources.set(urn, { urn, uid, inputs, outputs: all, ...own });
  };

  for (const { id, uid, name, parent } of graph.groups.values()) {
    if (!isInside(id) || parent === null) continue;
    const urn = urnOf("Group", id);
    add(urn, uid, { name, parent: refer(urn, "parent", "Group", parent) });
  }
  for (const { id, uid, name, group, relationship } of graph.identities.values()) {
    if (!isInside(id)) continue;
    const urn = urnOf("Identity", id);
    add(urn, uid, { name, parent: refer(urn, "parent", "Group", group), ...relationship });
  }
  for (const { id, uid, name, group, capabilities } of graph.roles.values()) {
    if (!isInside(id) || group === null) continue;
    const urn = urnOf("Role", id);
    add(urn, uid, { name, parent: refer(urn, "parent", "Group", group), capabilities });
  }
  const bindings = [...graph.bindings.values()].filter(({ id }) => isInside(id));
  const nameOf = (type: keyof typeof nodes, id: NodeId): string => nodes[type].get(id)?.name ?? id;
  if (sets)
    for (const [group, own] of Map.groupBy(bindings, (binding) => binding.group)) {
      const urn = urnOf("RoleBindingSet", group);
      const parent = refer(urn, "parent", "Group", group);
      const pairs = own.map(({ identity, role }) => ({
        identity: refer(urn, "bindings", "Identity", identity),
        role: refer(urn, "bindings", "Role", role),
      }));
      const names = own.map((one) => ({ identity: nameOf("Identity", one.identity), role: nameOf("Role", one.role) }));
      const made = own.map(({ uid, identity, role }) => ({
        uid,
        identity: { uid: identity, name: nameOf("Identity", identity) },
        role: { uid: role, name: nameOf("Role", role) },
      }));
      add(urn, graph.groups.get(group)?.uid ?? null, { parent, bindings: pairs, names }, { bindings: made });
    }
  else
    for (const { id, uid, group, identity, role } of bindings) {
      const urn = urnOf("RoleBinding", id);
      const names = { identity: nameOf("Identity", identity), role: nameOf("Role", role) };
      const parts = {
        parent: refer(urn, "parent", "Group", group),
        identity: refer(urn, "identity", "Identity", identity),
        role: refer(urn, "role", "Role", role),
      };
      add(urn, uid, { ...parts, names });
    }
  return resources;
};
