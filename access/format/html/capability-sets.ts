// Lists of capabilities. A built-in role has up to two hundred, which a thousand identities may gain. So the page prints a long list once,
// at its end, and links to it.
import { isWrite } from "../../graph/danger.ts";
import { countText } from "../words.ts";
import { html, type Markup, type Section } from "./page.ts";

const INLINE_MAX = 8;

export type CapabilitySets = ReturnType<typeof capabilitySets>;

export const capabilitySets = () => {
  const sets = new Map<string, { id: string; role: string; capabilities: readonly string[] }>();
  return {
    /** A short list, or a link to a long one. */
    show(role: string, capabilities: readonly string[]): Markup {
      if (capabilities.length <= INLINE_MAX) return chips(capabilities);
      const key = `${role} ${capabilities.join(" ")}`;
      const id = sets.get(key)?.id ?? `capabilities-${sets.size + 1}`;
      sets.set(key, { id, role, capabilities });
      return html`<a href="#${id}">${capabilities.length} capabilities</a>, ${writesOf(capabilities)}`;
    },
    /** The long lists, once all have been shown. */
    section(): Section | false {
      if (sets.size === 0) return false;
      const blocks = [...sets.values()].map(
        ({ id, role, capabilities }) =>
          html`<details><summary>${countText(capabilities.length, "capability")} of <b><bdi>${role}</bdi></b></summary>${byResource(id, capabilities)}</details>\n`,
      );
      return { id: "capabilities", title: "Capabilities", body: html`${blocks}` };
    },
  };
};

const writesOf = (capabilities: readonly string[]): string => {
  const writing = capabilities.filter((capability) => isWrite({ capability })).length;
  if (writing === 0) return "none of which changes anything";
  return writing === capabilities.length ? "all of which change records" : `${writing} of which change records`;
};

const chips = (capabilities: readonly string[]) =>
  html`<ul class="chips">${capabilities.map((one) => html`<li>${one}</li>`)}</ul>`;

/** `role_bindings: create, delete, list, update`. A link opens the fold around its target. */
const byResource = (id: string, capabilities: readonly string[]) => {
  const resources = Map.groupBy(capabilities, (one) => one.slice(0, Math.max(0, one.lastIndexOf("."))));
  const items = [...resources].map(
    ([resource, own]) =>
      html`<li>${resource !== "" && html`<b>${resource}</b> `}${own.map((one) => one.slice(one.lastIndexOf(".") + 1)).join(", ")}</li>`,
  );
  return html`<ul class="resources" id="${id}" tabindex="-1">${items}</ul>`;
};
