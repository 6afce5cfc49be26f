// The pairs of a RoleBindingSet: those that it declares, and the bindings that the run removes.
import type { Json } from "../../schema/index.ts";
import type { AccessGraph, BindingNode, NodeId } from "../graph/graph.ts";
import { referenceOf, roleReferenceOf } from "./reference.ts";
import type { Resource } from "./resource.ts";

/** A declared pair: its nodes, or why one of them cannot be known. */
export interface Pair {
  identity: NodeId | undefined;
  role: NodeId | undefined;
  problems: { property: string; why: string }[];
}

/** undefined: the list itself is not known. */
export const pairsOf = (
  { planned }: Resource,
  graph: AccessGraph,
  byUrn: ReadonlyMap<string, Resource>,
): Pair[] | undefined => {
  const { inputs = {}, dependencies = {} } = planned ?? {};
  const { bindings, names } = inputs;
  if (!Array.isArray(bindings)) return undefined;
  // One property holds all pairs, so each value may come from any resource that the property depends on; the names tell which.
  return bindings.map((pair: Json | null, i): Pair => {
    const named = (Array.isArray(names) ? names[i] : undefined) as Json | undefined;
    const own = typeof pair === "object" && pair !== null ? pair : {};
    const identity = referenceOf(byUrn, own.identity, "identity", dependencies.bindings, named?.identity);
    const role = roleReferenceOf(graph, byUrn, own.role, dependencies.bindings, named?.role);
    const problems = Object.entries({ identity, role }).flatMap(([property, reference]) =>
      "why" in reference ? [{ property: `bindings[${i}].${property}`, why: reference.why }] : [],
    );
    return {
      identity: "id" in identity ? identity.id : undefined,
      role: "id" in role ? role.id : undefined,
      problems,
    };
  });
};

export const keyOfPair = ({ identity, role }: { identity?: NodeId; role?: NodeId }): string => `${identity} ${role}`;

interface SetBinding {
  uid: string;
  identity?: { uid?: string };
  role?: { uid?: string };
  kept?: string;
}

/** Bindings in the outputs of a set. */
const bindingsIn = (list: unknown, group: NodeId): (BindingNode & { kept: boolean })[] =>
  (Array.isArray(list) ? (list as SetBinding[]) : []).flatMap((one) => {
    const [uid, identity, role] = [one?.uid, one?.identity?.uid, one?.role?.uid];
    if (!uid || !identity || !role) return [];
    return [{ id: uid, uid, group, identity, role, kept: one.kept !== undefined }];
  });

export const managedIn = (outputs: Json | undefined, group: NodeId): BindingNode[] =>
  bindingsIn(outputs?.bindings, group).map(({ kept: _, ...binding }) => binding);

/** What a set removes besides, if it was exclusive before: what the last run or refresh has recorded, and does not keep on purpose. */
export const removableIn = (outputs: Json | undefined, group: NodeId): BindingNode[] =>
  bindingsIn(outputs?.unmanaged, group).flatMap(({ kept, ...binding }) => (kept ? [] : [binding]));
