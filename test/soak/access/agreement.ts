// Whether an access graph, and the change from one to another, agree with what the server decides.

import { accessChange, accessIn } from "../../../access/graph/effective-access.ts";
import { type AccessGraph, lineageOf } from "../../../access/graph/graph.ts";
import { type Authorization, NAMES } from "./authorization.ts";

type Agrees = (held: boolean, decided: boolean) => boolean;

/** Throws the first decision that the graph does not agree with. Returns how many there are. */
export const compare = (graph: AccessGraph, authorization: Authorization, agrees: Agrees): number => {
  const { holds } = accessIn(graph);
  const { groups, identities, decisions } = authorization;
  for (const group of groups) {
    const lineage = lineageOf(graph, group);
    for (const identity of identities) {
      const allowed = decisions(identity, group);
      for (const capability of NAMES) {
        const held = holds(identity, capability, lineage);
        const decided = allowed.has(capability);
        if (!agrees(held, decided))
          throw new Error(`${identity} ${capability} at ${group}: the server says ${decided}, the graph says ${held}`);
      }
    }
  }
  return groups.size * identities.size * NAMES.length;
};

export const rowsOf = (before: AccessGraph, after: AccessGraph, identities: ReadonlySet<string>): string[] => {
  const nameOf = (graph: AccessGraph, role: string): string | undefined => graph.roles.get(role)?.name;
  return accessChange(before, after)
    .filter(({ identity }) => identities.has(identity))
    .flatMap(({ identity, gains, losses }) => [
      ...gains.map((row) => `${identity} + ${row.group} ${row.capability} by ${nameOf(after, row.role)}`),
      ...losses.map((row) => `${identity} - ${row.group} ${row.capability} by ${nameOf(before, row.role)}`),
    ])
    .sort();
};

/** Throws what is in one list and not in the other. */
export const checkRows = (rows: readonly string[], expected: readonly string[]): void => {
  const [found, due] = [new Set(rows), new Set(expected)];
  const wrong = rows.filter((row) => !due.has(row)).map((row) => `should not be there: ${row}`);
  const missing = expected.filter((row) => !found.has(row)).map((row) => `is missing: ${row}`);
  if (rows.length > found.size) wrong.push("a row is there twice");
  if (wrong.length + missing.length > 0) throw new Error([...wrong, ...missing].join("\n"));
};
