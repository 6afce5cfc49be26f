// The record that an input of a resource refers to. A preview does not know the uid of what the run creates; its place is taken by the
// resource that the engine reports as the origin of the value.
import { isUidp, printable } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { Resource, ResourceKind } from "./resource.ts";
import { SECRET, UNKNOWN } from "./value.ts";

/** A node, or why it cannot be known. */
export type Reference = { id: NodeId } | { why: string };

/** The node of what a resource manages after the run. */
export const nodeOf = ({ urn, planned }: Resource): NodeId => planned?.uid ?? urn;

/** `names` are those of the records of that kind that the value may stand for, where the preview shows them. */
export const referenceOf = (
  byUrn: ReadonlyMap<string, Resource>,
  value: unknown,
  kind: ResourceKind,
  dependencies: readonly string[] = [],
  name?: unknown,
): Reference => {
  if (isUidp(value)) return { id: value };
  const isSecret = value === SECRET;
  if (value !== UNKNOWN && !isSecret)
    return { why: value == null ? "it is missing" : `${printable(JSON.stringify(value))} is no uid` };
  // What the preview does not know is not the uid of a record that exists.
  const candidates = dependencies.flatMap((urn) => {
    const found = byUrn.get(urn);
    return found?.kind === kind && found.planned && (isSecret || found.planned.op === "create") ? [found] : [];
  });
  const named = candidates.filter(({ planned }) => planned?.inputs.name === name);
  const [match, ...others] = candidates.length > 1 && typeof name === "string" ? named : candidates;
  if (match && others.length === 0) return { id: nodeOf(match) };
  if (candidates.length === 0)
    return { why: isSecret ? "it is secret" : "the program computes it, so that only the run knows it" };
  return { why: `it is one of ${candidates.map(({ logicalName }) => logicalName).join(", ")}` };
};

/** A role may be given by the name of a built-in one. */
export const roleReferenceOf = (
  graph: AccessGraph,
  byUrn: ReadonlyMap<string, Resource>,
  value: unknown,
  dependencies: readonly string[] = [],
  name?: unknown,
): Reference => {
  if (typeof value !== "string" || isUidp(value) || value === UNKNOWN || value === SECRET)
    return referenceOf(byUrn, value, "role", dependencies, name);
  const found = [...graph.roles.values()].filter((role) => role.group === null && role.name === value);
  if (found[0] && found.length === 1) return { id: found[0].id };
  return { why: `${found.length || "no"} built-in roles are named ${printable(JSON.stringify(value))}` };
};
