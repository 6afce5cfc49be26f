// An answer as one page: the map of who may do what where; then by identity, the groups and the roles through which it acts there.
import { type AccessGraph, lineageOf, type NodeId } from "../../graph/graph.ts";
import type { Answer, Held } from "../../query/answer.ts";
import { documentAsHtml } from "../document/html.ts";
import { mapSection } from "../html/map.ts";
import { html } from "../html/markup.ts";
import { mapOf, type Side } from "../map/model.ts";
import { answerDocument, holdingsIn } from "./document.ts";

export const answerAsHtml = (answer: Answer): string => {
  const held = holdingsIn(answer);
  const links = new Map(held.map(({ id }, i) => [id, `#identities-${i + 1}`]));
  return documentAsHtml(answerDocument(answer, held), {
    search: "identities, groups and roles",
    lead: html`<p>A role holds in its group and in every group below it.</p>`,
    opening: mapSection(mapOf({ after: sideOf(answer) }), {
      linkOf: (row) => links.get(row),
      note:
        answer.notVisible.length > 0 &&
        html`<p class="note">The map lacks what is <a href="#not-visible">not visible</a>.</p>`,
    }),
  });
};

/** The graph of the question: the bindings in the answer, and of the groups those that it is about. */
const sideOf = ({ graph, question, grants, unknown, people }: Answer): Side => {
  const { capability, group } = question;
  const isShown = ({ id }: { id: NodeId }): boolean =>
    group === undefined || lineageOf(graph, id).includes(group.id) || lineageOf(graph, group.id).includes(id);
  const roles = [...graph.roles].map(
    ([id, role]) =>
      [id, { ...role, capabilities: role.capabilities.filter((one) => (capability ?? one) === one) }] as const,
  );
  const part = <G extends AccessGraph>(
    of: G,
    { grants: own, unknown: hidden }: Pick<Held, "grants" | "unknown">,
  ): G => {
    const ids = new Set([...own.map(({ binding }) => binding), ...hidden.map(({ id }) => id)]);
    return {
      ...of,
      groups: new Map([...of.groups].filter(([, one]) => isShown(one))),
      roles: new Map(roles),
      bindings: new Map([...of.bindings].filter(([id]) => ids.has(id))),
    };
  };
  return { graph: part(graph, { grants, unknown }), people: part(people.graph, people) };
};
