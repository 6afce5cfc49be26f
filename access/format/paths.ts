// Paths to more access in the parts that people read.

import { byEffect } from "../graph/danger.ts";
import { type AccessGraph, nameOf, placesIn } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { recordIn } from "../paths/find.ts";
import type { Path, Paths, Proof, Proofs } from "../paths/path.ts";
import { pathRows } from "../review/lists.ts";
import type { PathReview } from "../review/report.ts";
import { type Document, type Item, line, type PathText, quotedItems, say, section } from "./document/document.ts";
import { countText, hiddenLines, organizationPartsOf, placeText } from "./words.ts";

export const pathsDocument = (
  graph: AccessGraph,
  found: Paths,
  notVisible: readonly NotVisible[],
  proofs?: Proofs,
): Document => ({
  title: ["Paths to more access", ...organizationPartsOf(graph)],
  facts: [],
  sections: [
    section(
      "paths",
      "Paths",
      pathTexts(graph, found.paths, proofs).map((path) => pathItem(path, true)),
      { isBlocks: true, isMain: true, none: totalsOf(found) },
    ),
    section(
      "not-visible",
      "Not visible to you, so paths may be missing here",
      quotedItems(hiddenLines(graph, notVisible)),
    ),
    section("not-searched", "Not searched, so paths may be missing here", quotedItems(found.notSearched)),
  ],
  foot: totalsOf(found),
  isWrapped: true,
});

export const pathsJson = ({ paths, notSearched }: Paths, notVisible: readonly NotVisible[], proofs?: Proofs) => ({
  // Without fields that only the search needs.
  paths: paths.map((path) => {
    const { from, gains, assumes, steps, assumptions } = path;
    const ifAny = assumptions.length > 0 ? assumptions : undefined;
    return { from, gains, assumes, steps, assumptions: ifAny, proof: proofs?.get(path) };
  }),
  notVisible,
  notSearched,
});

export const pathItem = (path: PathText, isOpen: boolean): Item => {
  const { from, assumes, gains, steps, assumptions, proof } = path;
  return {
    path,
    isOpen,
    parts: say`${{ name: from }} could come to hold  ${{ tag: assumes }}`,
    lines: [
      ...gains.map(({ place, capabilities }) => line`at ${place} and below${{ capabilities, role: "a path" }}`),
      ...steps.map(({ by, request, body, why }, i) => ({
        ...line`${[String(i + 1)]}. ${request}`,
        isWhole: true as const,
        lines: [...(body === "" ? [] : [{ ...line`${body}`, isWhole: true as const }]), line`as ${by}: ${why}`],
      })),
      ...assumptions.map((text) => line`if ${text}`),
      ...(proof === undefined ? [] : [line`${proof}`]),
    ],
  };
};

const pathTexts = (graph: AccessGraph, paths: readonly Path[], proofs?: Proofs): PathText[] => {
  const placeName = placesIn(graph);
  const reviewed = pathRows(graph, paths).map(reviewedPathText);
  return paths.map(({ from, gains, end }, i): PathText => {
    const proof = proofs?.get(paths[i] as Path);
    return {
      ...(reviewed[i] as PathText),
      ...("workload" in from && { from: workloadText(from.workload) }),
      gains: byPlace(gains, ({ group }) => placeName(group)),
      proof: proof && proofText(proof, nameOf(graph.identities, end)),
    };
  });
};

/** As a review shows it. */
export const reviewedPathText = ({ from, assumes, gains, steps, assumptions }: PathReview): PathText => ({
  from: from.name,
  // In a step, a new identity has this text in place of a uid.
  fromId: from.identity ?? `<uid of ${from.name}>`,
  assumes,
  assumptions,
  gains: byPlace(gains, ({ groupName, group }) => placeText(groupName, group === null)),
  steps: steps.map(({ as, name, method, path, body, why, about }) => ({
    by: as === "workload" ? as : name,
    byId: as,
    request: `${method} ${path}`,
    body: body === null ? "" : JSON.stringify(body),
    why,
    target: about,
    targetId: recordIn(path),
  })),
});

const byPlace = <G extends { capability: string }>(gains: readonly G[], placeName: (gain: G) => string) =>
  [...Map.groupBy(gains, placeName)].map(([place, own]) => ({
    place,
    capabilities: own.map(({ capability }) => capability).sort(byEffect),
  }));

const proofText = (proof: Proof, end: string) => {
  if (proof.carriedOut)
    return `carried out on a copy: ${end} then holds ${proof.holds.length === 1 ? "it" : `all ${proof.holds.length} capabilities`}`;
  if ("needsPerson" in proof) return `not carried out on a copy, which needs more than requests: ${proof.message}`;
  return `REFUTED: on a copy step ${proof.step} fails: ${proof.message}`;
};

const workloadText = ({ issuer, subject }: { issuer: string; subject: string }) =>
  subject === "" ? "the workload" : `workload ${subject} of ${issuer}`;

/** `2 paths, 1 of them cautious` */
const totalsOf = ({ paths }: Paths) => {
  if (paths.length === 0) return "No path leads to more access.";
  const cautious = paths.filter(({ assumes }) => assumes === "cautious").length;
  const count = countText(paths.length, "path");
  if (cautious === 0) return `${count}, all strict`;
  const which = cautious === paths.length ? "all cautious" : `${cautious} of them cautious`;
  return `${count}, ${which}: a cautious path exists only under what it assumes`;
};
