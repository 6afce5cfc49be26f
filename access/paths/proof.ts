// What became of a path when its requests were sent to a copy of the organization.
import type { Gain, Path } from "./path.ts";

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
