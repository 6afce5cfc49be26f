// A rehearsal as one page.
import type { Rehearsal } from "../../rehearsal/report.ts";
import type { Origin } from "../../review/report.ts";
import { FOOT, factsOf, rehearsalLimits, rehearsalSections, titleOf } from "../rehearsal/sections.ts";
import { originFacts } from "../review/blocks.ts";
import { factList } from "./facts.ts";
import { html } from "./markup.ts";
import { pageOf } from "./page.ts";
import { reportSection } from "./section.ts";

export const rehearsalAsHtml = (rehearsal: Rehearsal, origin: Origin): string =>
  pageOf({
    title: titleOf(rehearsal),
    lead: factList([...originFacts(origin), ...factsOf(rehearsal)]),
    sections: [
      ...[...rehearsalLimits(rehearsal), ...rehearsalSections(rehearsal)].map(reportSection),
      { id: "limits", title: "What a rehearsal cannot know", body: html`<p>${FOOT}</p>` },
    ],
  });
