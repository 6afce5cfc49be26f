// Paths to more access as one page.
import type { AccessGraph } from "../../graph/graph.ts";
import type { NotVisible } from "../../graph/live.ts";
import type { Paths } from "../../paths/path.ts";
import type { Proofs } from "../../paths/proof.ts";
import { hiddenLines } from "../answer/rows.ts";
import { capabilitySets } from "../html/capability-sets.ts";
import { html } from "../html/markup.ts";
import { pageOf } from "../html/page.ts";
import { pathBlocks } from "../html/paths.ts";
import { listSection } from "../html/section.ts";
import { NOT_SEARCHED, NOT_VISIBLE, pathTexts, titleOf, totalsOf } from "./rows.ts";

export const pathsAsHtml = (
  graph: AccessGraph,
  found: Paths,
  notVisible: readonly NotVisible[],
  proofs?: Proofs,
): string => {
  const sets = capabilitySets();
  const blocks = pathBlocks(pathTexts(graph, found.paths, proofs), sets);
  const lines = (id: string, title: string, texts: readonly string[]) =>
    listSection(
      id,
      title.replace(/:$/, ""),
      texts.map((line) => html`${line}`),
    );
  return pageOf({
    title: titleOf(graph),
    lead: html`<p>By which requests somebody could come to hold what they do not hold today. ${totalsOf(found)}</p>`,
    search: "identities, groups and capabilities",
    sections: [
      lines("not-visible", NOT_VISIBLE, hiddenLines(graph, notVisible)),
      lines("not-searched", NOT_SEARCHED, found.notSearched),
      { id: "paths", title: "Paths", body: blocks.length > 0 ? html`${blocks}` : html`<p>${totalsOf(found)}</p>` },
      sets.section(),
    ],
  });
};
