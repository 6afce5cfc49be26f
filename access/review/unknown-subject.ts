// Allowances that can excuse no finding, since nothing has the name of their subject: a misspelt one would go unnoticed otherwise.
import { isUidp, suggestion } from "../../schema/index.ts";
import { type AccessGraph, pathOf } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { recordPath } from "./organizations.ts";
import { type Allowance, allowanceText } from "./rules-file.ts";

interface Named {
  before: AccessGraph;
  after: AccessGraph;
  /** what else a finding may be about */
  others: readonly string[];
  notVisible: readonly NotVisible[];
}

/** A sentence for each. */
export const unknownSubjects = (
  allow: readonly Allowance[],
  { before, after, others, notVisible }: Named,
): string[] => {
  // The subject of these is a file, which this change may leave alone, or a branch.
  const checked = allow.filter(({ rule }) => rule !== "rules-changed" && rule !== "other-branch");
  if (checked.length === 0) return [];
  const names = namesIn(before);
  const known = new Set([...others, ...names, ...namesIn(after), ...uidsIn(before)]);
  const isHidden = notVisible.some(({ kind }) => ["group", "identity", "role"].includes(kind));
  const hidden = isHidden ? "; you cannot list all of them, so it may be among the others" : "";
  return checked
    .filter(({ subject }) => !known.has(subject))
    .map((one) => {
      const near = isUidp(one.subject) ? "" : suggestion(one.subject, names);
      return `${allowanceText(one)} excuses nothing: there is no identity, group or role ${JSON.stringify(one.subject)}${near || hidden}`;
    });
};

/** Also paths. */
const namesIn = (graph: AccessGraph): string[] => [
  ...[...graph.groups.values()].flatMap(({ id, name }) => [name, pathOf(graph, id)]),
  ...[...graph.identities.values(), ...graph.roles.values()].flatMap(({ name, group }) => [
    name,
    recordPath(graph, group, name),
  ]),
];

const uidsIn = ({ groups, identities, roles }: AccessGraph): string[] =>
  [groups, identities, roles].flatMap((nodes) => [...nodes.values()].flatMap(({ uid }) => uid ?? []));
