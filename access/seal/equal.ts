// Which records are as the seal has those that it creates: a killed run may have created them.
import type { Json } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { isSameRelationship, textOf } from "../graph/same.ts";
import { NODES, type RecordKind } from "../run/kind.ts";
import { changeIn } from "./change.ts";
import type { SealContent, Step } from "./seal.ts";

export type Node = { id: NodeId; uid: string | null };
export type Nodes = ReadonlyMap<NodeId, Node>;

/** Whether the record is younger than the review. */
export type IsSince = (uid: NodeId) => boolean;

/** The review knows the time of the service to a second. */
const CLOCK_MS = 1_000;

export const sinceReview = ({ origin }: SealContent, createdAt: Live["createdAt"]): IsSince => {
  const reviewedMs = Date.parse(origin.time) + CLOCK_MS;
  return (uid) => Date.parse(createdAt?.get(uid) ?? "") >= reviewedMs;
};

/** Who has the code of an invite, no field shows. */
const NEVER_EQUAL = "groupInvite" satisfies RecordKind;

/**
 * Adds them to `made`, which has the ids in the seal by uid. Who else may have created them makes no difference: they give the same. What
 * was there before the review is something else, whatever its name is now. `without`: kinds that are left out.
 */
export const addEqual = (
  made: Map<string, NodeId>,
  seal: SealContent,
  { graph: live, isSince }: { graph: AccessGraph; isSince: IsSince },
  without: readonly RecordKind[] = [],
): void => {
  const { before, after } = changeIn(seal);
  const idOf = (uid: string): NodeId => made.get(uid) ?? uid;
  // Others of the same fields may have been there before.
  const repeatable = new Set(seal.steps.flatMap(({ urn, inputs }) => (inputs?.values["/allowDuplicate"] ? [urn] : [])));
  // What others refer to comes first.
  for (const [kind, nodes] of Object.entries(NODES)) {
    if ([NEVER_EQUAL, ...without].some((one) => one === kind)) continue;
    const [was, is, now]: [Nodes, Nodes, Nodes] = [before[nodes], after[nodes], live[nodes]];
    const found = new Set(made.values());
    const open = [...is.values()].filter(({ id, uid }) => uid === null && !found.has(id) && !repeatable.has(id));
    const missing = Map.groupBy(open, keyOf);
    if (missing.size === 0) continue;
    for (const node of now.values()) {
      if (was.has(node.id) || made.has(node.id) || !isSince(node.id)) continue;
      const own = withIds(node, idOf);
      const others = missing.get(keyOf(own)) ?? [];
      const at = others.findIndex((one) => isSame(one, own));
      const [shown] = at < 0 ? [] : others.splice(at, 1);
      if (shown) made.set(node.id, shown.id);
    }
  }
};

/** The members of nodes that are ids. */
export const IDS = ["id", "parent", "group", "identity", "role", "provider", "defaultRole"];

/** The node, with other ids. One that the change has created has no uid yet. */
export const withIds = <T extends Node>(node: T, idOf: (uid: string) => NodeId): T => {
  const ids = Object.entries(node).flatMap(([name, value]) => {
    const id = IDS.includes(name) && typeof value === "string" ? idOf(value) : value;
    return id === value ? [] : [[name, id] as const];
  });
  if (ids.length === 0) return node;
  return { ...node, ...(idOf(node.id) !== node.id && { uid: null }), ...Object.fromEntries(ids) };
};

/**
 * What nodes that are the same have in common, without who may assume an identity. What the API gives a record by itself is left out: its
 * uid, and the name of an invite, which alone has an end.
 */
export const keyOf = (node: Node): string => {
  const { id: _id, uid: _uid, logicalName: _logical, relationship: _claims, ...own }: Json = { ...node };
  const { expirationTime, name, ...others } = own;
  return textOf(expirationTime === undefined ? { ...others, name } : others);
};

const relationshipIn = (node: Node): Json | null => ((node as Json).relationship ?? null) as Json | null;

export const isSame = (shown: Node, now: Node): boolean =>
  keyOf(shown) === keyOf(now) && isSameRelationship(relationshipIn(shown), relationshipIn(now));

/** The same, whatever their names are. */
export const givesSame = (shown: Node, now: Node): boolean =>
  isSame({ ...shown, name: "" } as Node, { ...now, name: "" } as Node);

/** Whether the record gives what the seal has of the resource that creates it. Kinds that give no access are not compared. */
export const isAsSealed = (
  { kind, urn }: Pick<Step, "kind" | "urn">,
  uid: string,
  { after, live, idOf }: { after: AccessGraph; live: AccessGraph; idOf(uid: string): NodeId },
): boolean => {
  const { [kind as RecordKind]: nodes } = NODES;
  if (nodes === undefined) return true;
  const [shown, now]: (Node | undefined)[] = [after[nodes].get(urn), live[nodes].get(uid)];
  return shown !== undefined && now !== undefined && givesSame(shown, withIds(now, idOf));
};
