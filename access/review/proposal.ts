// The proposal of a change: access before and after, and facts that two graphs cannot express.
import type { Json } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { Report, Unknown } from "./report.ts";

/** A record that the program adopts. */
export interface AdoptedRecord extends Omit<Report["adopted"][number], "name"> {
  uid: string;
}

/** A repo or an account association, which is deleted with its group. */
export interface HeldRecord {
  kind: string;
  uid: string;
  name: string;
  /** the group that contains it */
  group: NodeId;
}

/** A resource that deletes records that no resource manages. */
export interface ForcedRecord extends Omit<Report["forceDestroy"][number], "name" | "contents"> {
  node: NodeId;
  /** repos and account associations that the deletion includes */
  held?: readonly HeldRecord[];
}

/** The facts that an unknown part may hide. An absent member may be any record. */
export type Hidden =
  /** a role binding */
  | { of: "binding"; identity?: NodeId; role?: NodeId; group?: NodeId }
  /** any role bindings of the group, which may be added or removed */
  | { of: "bindings"; group?: NodeId }
  /** who can assume the identity */
  | { of: "assumable"; identity: NodeId }
  /** which workloads get capabilities that change records, through an existing identity */
  | { of: "workloads" }
  /** the capabilities of the role */
  | { of: "capabilities"; role: NodeId }
  /** an existing record that gets these inputs */
  | { of: "takeover"; kind: "group" | "identity" | "role" | "role binding"; inputs: Json }
  /** the role of people, who have no identity */
  | { of: "people"; group?: NodeId }
  /** where people sign in */
  | { of: "issuer" }
  /** paths to more access */
  | { of: "paths" }
  | { of: "anything" };

/** An unknown part. */
export interface UnknownPart extends Unknown {
  /** the facts that it may hide, if a rule could find them */
  hides?: Hidden;
  /** its subject, if that is known */
  about?: NodeId | undefined;
}

export interface Proposal {
  before: AccessGraph;
  after: AccessGraph;
  /** identities that are replaced, by their replacements */
  replaced: ReadonlyMap<NodeId, NodeId>;
  /** nodes of `after` that were removed by hand and are created again */
  restored: readonly NodeId[];
  adopted: readonly AdoptedRecord[];
  forced: readonly ForcedRecord[];
  /** uids of all records that the run itself deletes */
  deleted: ReadonlySet<string>;
  /** existing bindings that nothing declares */
  undeclared: readonly NodeId[];
  /** the organizations of the change; absent: unknown */
  organizations?: ReadonlySet<NodeId>;
  unknown: readonly UnknownPart[];
}
