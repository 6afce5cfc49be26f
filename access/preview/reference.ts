// The record that an input of a resource refers to.
import { isUidp, printable } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { Records } from "./records.ts";
import type { Resource, ResourceKind } from "./resource.ts";
import { SECRET, UNKNOWN } from "./value.ts";

/** A node, or why it cannot be known. */
export type Reference = { id: NodeId } | { why: string };

/** The node of what a resource manages after the run. */
export const nodeOf = ({ urn, planned }: Resource): NodeId => planned?.uid ?? urn;

export const referenceOf = (records: Records, value: unknown, kind: ResourceKind): Reference => {
  if (value === SECRET) return { why: "it is secret" };
  if (value === UNKNOWN) return { why: "the program computes it, so that only the run knows it" };
  if (!isUidp(value))
    return { why: value == null ? "it is missing" : `${printable(JSON.stringify(value))} is not a uid` };
  const found = records.plannedWith(value);
  if (found === undefined) return { id: value };
  if (found === "unknown") return { why: "it stands for a record that this preview does not create" };
  if (found.kind !== kind) return { why: `it is the uid of ${found.logicalName}, which is no ${kind}` };
  if (found.planned?.mayAdopt)
    return { why: `it is the uid of ${found.logicalName}, and which record that takes over is not known` };
  return { id: nodeOf(found) };
};

/** A role may be given by the name of a built-in one. */
export const roleReferenceOf = (records: Records, graph: AccessGraph, value: unknown): Reference => {
  if (typeof value !== "string" || isUidp(value) || value === UNKNOWN || value === SECRET)
    return referenceOf(records, value, "role");
  const found = [...graph.roles.values()].filter((role) => role.group === null && role.name === value);
  if (found[0] && found.length === 1) return { id: found[0].id };
  return { why: `${found.length || "no"} built-in roles are named ${printable(JSON.stringify(value))}` };
};
