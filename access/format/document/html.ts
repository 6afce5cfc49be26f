// A document as one page.
import { factList } from "../html/facts.ts";
import { html } from "../html/markup.ts";
import { pageOf } from "../html/page.ts";
import { listSection, partMarkup } from "../html/section.ts";
import { originFacts } from "../review/blocks.ts";
import type { Document } from "./document.ts";

export const documentAsHtml = ({ title, origin, sections, foot }: Document): string =>
  pageOf({
    title: title.map((part) => (typeof part === "string" ? part : part.quoted)).join(""),
    lead: html`${origin && factList(originFacts(origin))}<p>${foot}</p>`,
    search: "entries",
    sections: sections.map(({ title: own, items }, i) =>
      listSection(
        `section-${i}`,
        own,
        items.map(
          ({ parts, lines }) =>
            html`${parts.map(partMarkup)}${lines.length > 0 && html`<ul>${lines.map((line) => html`<li>${line.map(partMarkup)}</li>`)}</ul>`}`,
        ),
      ),
    ),
  });
