// Names and values below the title of a page.
import { html, type Markup } from "./markup.ts";

export const factList = (facts: readonly { name: string; value: string }[]): Markup =>
  html`<dl class="origin">${facts.map(({ name, value }) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>
`;
