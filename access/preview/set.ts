// The pairs of a RoleBindingSet: those that it declares, and the bindings that the run removes.
import type { Json } from "../../schema/index.ts";
import type { AccessGraph, BindingNode, NodeId } from "../graph/graph.ts";
import type { Records } from "./records.ts";
import { type Reference, referenceOf, roleReferenceOf } from "./reference.ts";
import type { Resource } from "./resource.ts";

/** A declared pair. */
export interface Pair {
  identity: Reference;
  role: Reference;
}

/** undefined: the list itself is not known. */
export const pairsOf = ({ planned }: Resource, graph: AccessGraph, records: Records): Pair[] | undefined => {
  const { bindings } = planned?.inputs ?? {};
  if (!Array.isArray(bindings)) return undefined;
  return bindings.map((pair: Json | null | string): Pair => {
    // What is not known, or secret, as a whole is so in its parts.
    const parts = typeof pair === "object" && pair !== null ? pair : { identity: pair, role: pair };
    return {
      identity: referenceOf(records, parts.identity, "identity"),
      role: roleReferenceOf(records, graph, parts.role),
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

export const managedBindings = (outputs: Json | undefined, group: NodeId): BindingNode[] =>
  bindingsIn(outputs?.bindings, group).map(({ kept: _, ...binding }) => binding);

/** What a set removes besides, if it was exclusive before: what the last run or refresh has recorded, and does not keep on purpose. */
export const removableIn = (outputs: Json | undefined, group: NodeId): BindingNode[] =>
  bindingsIn(outputs?.unmanaged, group).flatMap(({ kept, ...binding }) => (kept ? [] : [binding]));
