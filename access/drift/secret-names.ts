// The API lists the name of a record in clear text, also where the program marks it as secret.

import { SECRET, valuesIn } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import type { AccessGraph } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import type { RunRecord } from "../run/record.ts";

const NAMED = ["groups", "identities", "roles", "providers"] as const;

/** The same records, without the names that a resource of the stack marks as secret. */
export const withoutSecretNames = ({ stored, left }: Pick<RunRecord, "stored" | "left">, live: Live): Live => {
  const { graph } = live;
  const hidden = new Set(
    [...stored, ...left].flatMap(({ id, inputs, outputs }) =>
      [inputs, outputs].some((bag) => valuesIn(bag as Json).name === SECRET) ? [id] : [],
    ),
  );
  if (hidden.size === 0) return live;
  const shown = NAMED.map((kind) => [
    kind,
    new Map([...graph[kind]].map(([id, node]) => [id, hidden.has(id) ? { ...node, name: SECRET } : node])),
  ]);
  return { ...live, graph: { ...graph, ...(Object.fromEntries(shown) as Partial<AccessGraph>) } };
};
