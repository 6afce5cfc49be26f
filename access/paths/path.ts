// A path to more access: the requests by which someone could reach access that they do not hold today.
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
  /** what a cautious path assumes, one sentence each */
  assumptions: readonly string[];
  /** the holder of the gains at its end */
  end: NodeId;
  /** of the workload that starts it; absent: unknown */
  workload?: WorkloadClaims;
}

/** The claims of a token of the workload that starts a path; undefined: unknown. */
export const workloadOf = ({ workload }: Path): Json | undefined =>
  workload && { ...workload.claims, iss: workload.issuer, sub: workload.subject };

export interface PathQuery {
  /** default: every identity that has a role */
  from?: { identity: NodeId } | { relationship: Json };
  /** a capability by its friendly name, or `owner`: all capabilities of an owner */
  to?: string;
  at?: NodeId;
}

export interface PathOptions {
  notVisible: readonly NotVisible[];
  /** address of the API, the audience of tokens */
  audience: string;
  nowMs: number;
  /** steps of the search; default: a few seconds */
  steps?: number;
}

export interface Paths {
  paths: Path[];
  /** why the search ended early, in words */
  notSearched: string[];
}

// The outcome of a path when its requests were sent to a copy of the organization.

export type Proof =
  /** `holds`: the gains of the path that the last caller then holds */
  | { carriedOut: true; holds: readonly Gain[] }
  /** a person must perform a step, or it is unknown who starts */
  | { carriedOut: false; needsPerson: true; message: string }
  /** `step`: from 1 */
  | { carriedOut: false; step: number; message: string };

export type Proofs = ReadonlyMap<Path, Proof>;

/** Whether the copy refutes the path. */
export const isRefuted = (proof: Proof): boolean => !proof.carriedOut && "step" in proof;
