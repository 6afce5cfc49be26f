// The API lists the name of a record in clear text, also where the program marks it as secret.
import type { AccessGraph } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import type { Preview } from "../preview/shape.ts";
import { ourTypeOf } from "../preview/urn.ts";
import { SECRET, valuesIn } from "../preview/value.ts";

const NAMED = ["groups", "identities", "roles", "providers"] as const;

/** The same records, without the names that a resource of the preview marks as secret. */
export const withoutSecretNames = ({ steps }: Preview, live: Live): Live => {
  const { graph } = live;
  const hidden = new Set(
    steps
      .filter(({ urn }) => ourTypeOf(urn) !== undefined)
      .flatMap(({ oldState, newState }) => {
        const bags = [oldState?.inputs, oldState?.outputs, newState?.inputs, newState?.outputs];
        const isHidden = bags.some((bag) => valuesIn(bag).name === SECRET);
        return isHidden ? [oldState?.id, newState?.id].filter((id) => typeof id === "string") : [];
      }),
  );
  if (hidden.size === 0) return live;
  const shown = NAMED.map((kind) => [
    kind,
    new Map([...graph[kind]].map(([id, node]) => [id, hidden.has(id) ? { ...node, name: SECRET } : node])),
  ]);
  return { ...live, graph: { ...graph, ...(Object.fromEntries(shown) as Partial<AccessGraph>) } };
};
