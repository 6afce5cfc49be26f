// A path in the parts that people read, the same in every format.
import { type AccessGraph, type NodeId, organizationsIn, placesIn } from "../../graph/graph.ts";
import type { Path, Paths } from "../../paths/path.ts";
import type { Proof, Proofs } from "../../paths/proof.ts";
import type { Step } from "../../paths/request.ts";
import { recordIn, targetsIn } from "../../paths/target.ts";
import { byEffect } from "../../review/danger.ts";
import type { PathReview } from "../../review/report.ts";
import { placeOf } from "../review/blocks.ts";
import { countText, inOrganizationsText } from "../words.ts";

export interface PathText {
  /** who starts it: the name of an identity, or a workload */
  from: string;
  /** as `byId` of the steps that the same identity sends; two of them may share a name */
  fromId: string;
  assumes: Path["assumes"];
  /** what it leads to, by group */
  gains: { place: string; capabilities: string[] }[];
  steps: {
    by: string;
    /** uid, or `workload` */
    byId: string;
    request: string;
    body: string;
    why: string;
    target: string;
    targetId: string;
  }[];
  /** of a cautious path */
  assumptions: readonly string[];
  /** what became of it on a copy */
  proof?: string;
}

export const pathTexts = (graph: AccessGraph, paths: readonly Path[], proofs?: Proofs): PathText[] => {
  const placeOf = placesIn(graph);
  const nameOf = (id: NodeId): string => graph.identities.get(id)?.name ?? id;
  const targetOf = targetsIn(graph);
  const proofText = (path: Path): { proof?: string } => {
    const proof = proofs?.get(path);
    return proof === undefined ? {} : { proof: textOfProof(proof, nameOf(path.end)) };
  };
  return paths.map(({ from, gains, assumes, steps, assumptions }, i) => ({
    from: "identity" in from ? nameOf(from.identity) : workloadText(from.workload),
    fromId: "identity" in from ? idOf(graph.identities.get(from.identity) ?? { uid: from.identity }) : "start",
    assumes,
    gains: [...Map.groupBy(gains, ({ group }) => group)].map(([group, own]) => ({
      place: placeOf(group),
      capabilities: own.map(({ capability }) => capability).sort(byEffect),
    })),
    steps: steps.map((step) => stepText(step, nameOf(step.as), targetOf(step.path, step.method))),
    assumptions,
    ...proofText(paths[i] as Path),
  }));
};

/** The same of a path that a review shows. */
export const reviewedPathText = ({ from, assumes, gains, steps, assumptions }: PathReview): PathText => ({
  from: from.name,
  fromId: idOf({ uid: from.identity, name: from.name }),
  assumes,
  gains: [...Map.groupBy(gains, ({ group, groupName }) => placeOf(groupName, group)).entries()].map(([place, own]) => ({
    place,
    capabilities: own.map(({ capability }) => capability).sort(byEffect),
  })),
  steps: steps.map((step) => stepText(step, step.name, step.about)),
  assumptions,
});

/** A new identity has in a step what its requests have in place of a uid. */
const idOf = ({ uid, name = "" }: { uid: string | null; name?: string }): string => uid ?? `<uid of ${name}>`;

/** `name`: of the identity that sends it. */
const stepText = ({ as, method, path, body, why }: Step, name: string, target: string): PathText["steps"][number] => ({
  by: as === "workload" ? as : name,
  byId: as,
  request: `${method} ${path}`,
  body: body === null ? "" : JSON.stringify(body),
  why,
  target,
  targetId: recordIn(path),
});

const textOfProof = (proof: Proof, end: string): string => {
  if (proof.carriedOut)
    return `carried out on a copy: ${end} then holds ${proof.holds.length === 1 ? "it" : `all ${proof.holds.length} capabilities`}`;
  if ("needsPerson" in proof) return `not carried out on a copy, which needs more than requests: ${proof.message}`;
  return `REFUTED: on a copy step ${proof.step} fails: ${proof.message}`;
};

const workloadText = ({ issuer, subject }: { issuer: string; subject: string }): string =>
  subject === "" ? "the workload" : `workload ${subject} of ${issuer}`;

/** `2 paths, 1 of them only under what they assume` */
export const totalsOf = ({ paths }: Paths): string => {
  if (paths.length === 0) return "No path leads to more access.";
  const cautious = paths.filter(({ assumes }) => assumes === "cautious").length;
  const count = countText(paths.length, "path");
  if (cautious === 0) return `${count}, all strict`;
  const which = cautious === paths.length ? "all cautious" : `${cautious} of them cautious`;
  return `${count}, ${which}: a cautious path exists only under what it assumes`;
};

/** `Paths to more access in acme` */
export const titleOf = (graph: AccessGraph, show?: (name: string) => string): string =>
  `Paths to more access${inOrganizationsText(
    organizationsIn(graph).map(({ name }) => name),
    show,
  )}`;
export const NOT_VISIBLE = "Not visible to you, so paths may be missing here:";
export const NOT_SEARCHED = "Not searched, so paths may be missing here:";
