// The roles whose capabilities change, and those that are new or gone.
import type { RoleNode } from "../../graph/graph.ts";
import { byEffect, worstFirst } from "../../review/danger.ts";
import type { Review } from "../../review/report.ts";
import type { CapabilitySets } from "./capability-sets.ts";
import { renameMarkup } from "./identity.ts";
import { html } from "./markup.ts";
import type { Section } from "./page.ts";
import { listSection } from "./section.ts";

export const rolesSection = ({ before, after }: Review, sets: CapabilitySets): Section | false => {
  const ids = new Set([...before.roles.keys(), ...after.roles.keys()]);
  const changes = [...ids].flatMap((id) => {
    const [old, own] = [before.roles.get(id), after.roles.get(id)];
    const [lost, gained] = [without(old, own), without(own, old)];
    const nameBefore = old?.name === own?.name ? undefined : old?.name;
    if (old !== undefined && own !== undefined && lost.length + gained.length === 0 && nameBefore === undefined)
      return [];
    return [
      {
        name: (own ?? old)?.name ?? id,
        nameBefore: own && nameBefore,
        isNew: old === undefined,
        isGone: own === undefined,
        lost,
        gained,
      },
    ];
  });
  return listSection(
    "roles",
    "Roles that change",
    worstFirst(changes, ({ gained, lost, name }) => ({ capabilities: gained, losses: lost, texts: [name] })).map(
      ({ name, nameBefore, isNew, isGone, lost, gained }) =>
        html`<b>${renameMarkup(nameBefore, name)}</b>${isNew && html` <ins class="tag">new</ins>`}${isGone && html` <del class="tag">deleted</del>`}${
          gained.length > 0 && html`<p>gains ${sets.show(name, gained)}</p>`
        }${lost.length > 0 && html`<p>loses ${sets.show(name, lost)}</p>`}`,
    ),
  );
};

const without = (one?: RoleNode, other?: RoleNode): string[] => {
  const held = new Set(other?.capabilities);
  return (one?.capabilities ?? []).filter((capability) => !held.has(capability)).sort(byEffect);
};
