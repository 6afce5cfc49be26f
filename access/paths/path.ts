// A path to more access: by which requests somebody could come to hold what they do not hold today.
import type { Json } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import type { Assumes, Step } from "./reached.ts";
import type { From, WorkloadClaims } from "./start.ts";

/** A capability that its first caller does not hold, at the topmost group where the path leads to it. */
export interface Gain {
  capability: string;
  group: NodeId;
}

export interface Path {
  from: From;
  gains: Gain[];
  assumes: Assumes;
  steps: Step[];
  /** what a cautious path takes for granted, a sentence each */
  assumptions: readonly string[];
  /** who holds the gains at its end */
  end: NodeId;
  /** of the workload that starts it; absent: not known */
  workload?: WorkloadClaims;
}

/** The claims of a token of the workload that starts a path; undefined: not known. */
export const workloadOf = ({ workload }: Path): Json | undefined =>
  workload && { ...workload.claims, iss: workload.issuer, sub: workload.subject };

export interface PathQuery {
  /** default: every identity that has a role */
  from?: { identity: NodeId } | { relationship: Json };
  /** a capability by its friendly name, or all that an owner has */
  to?: string;
  at?: NodeId;
}

export interface PathOptions {
  notVisible: readonly NotVisible[];
  /** address of the API, which tokens are for */
  audience: string;
  nowMs: number;
  /** steps of the search; default: a few seconds */
  steps?: number;
}

export interface Paths {
  paths: Path[];
  /** where the search ended before it was complete, in words */
  notSearched: string[];
}

// What became of a path when its requests were sent to a copy of the organization.

export type Proof =
  /** `holds`: what the last caller may then do of what the path leads to */
  | { carriedOut: true; holds: readonly Gain[] }
  /** a person has to do a step, or it is not known who starts */
  | { carriedOut: false; needsPerson: true; message: string }
  /** `step`: from 1 */
  | { carriedOut: false; step: number; message: string };

export type Proofs = ReadonlyMap<Path, Proof>;

/** The path is not what it says. */
export const isRefuted = (proof: Proof): boolean => !proof.carriedOut && "step" in proof;
