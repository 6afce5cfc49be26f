// What a change proposes: access before and after, and what two graphs cannot say.
import type { Json } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { Adopted, Forced, Unknown } from "./report.ts";

/** A record that the program takes over. */
export interface AdoptedRecord extends Omit<Adopted, "name"> {
  uid: string;
}

/** A repo or an account association, which goes with its group. */
export interface HeldRecord {
  kind: string;
  uid: string;
  name: string;
  /** the group that holds it */
  group: NodeId;
}

/** A resource that deletes what no resource manages. */
export interface ForcedRecord extends Omit<Forced, "name" | "contents"> {
  node: NodeId;
  /** repos and account associations that the deletion takes along */
  held?: readonly HeldRecord[];
}

/** What may stand behind something that is not known. A member that is absent may be any record. */
export type Hidden =
  /** a role binding */
  | { of: "binding"; identity?: NodeId; role?: NodeId; group?: NodeId }
  /** any role bindings of the group, which may come and go */
  | { of: "bindings"; group?: NodeId }
  /** who can assume the identity */
  | { of: "assumable"; identity: NodeId }
  /** which workloads get capabilities that change things, by an identity that exists */
  | { of: "workloads" }
  /** what the role grants */
  | { of: "capabilities"; role: NodeId }
  /** a record that exists, and gets these inputs */
  | { of: "takeover"; kind: "group" | "identity" | "role" | "role binding"; inputs: Json }
  /** which role people get, who have no identity */
  | { of: "people"; group?: NodeId }
  /** where people sign in */
  | { of: "issuer" }
  /** what could be made of access */
  | { of: "paths" }
  | { of: "anything" };

/** Something that is not known. */
export interface UnknownPart extends Unknown {
  /** what may stand behind it, where a rule could find it */
  hides?: Hidden;
  /** whom it is about, where that is known */
  about?: NodeId | undefined;
}

export interface Proposal {
  before: AccessGraph;
  after: AccessGraph;
  /** identities that are replaced, by those that replace them */
  replaced: ReadonlyMap<NodeId, NodeId>;
  /** nodes of `after` that were removed by hand, and are created again */
  restored: readonly NodeId[];
  adopted: readonly AdoptedRecord[];
  forced: readonly ForcedRecord[];
  /** uids of all records that the run deletes on its own account */
  deleted: ReadonlySet<string>;
  /** bindings that exist and that nothing declares */
  undeclared: readonly NodeId[];
  /** the organizations that the change is about; absent: not known */
  organizations?: ReadonlySet<NodeId>;
  unknown: readonly UnknownPart[];
}
