// Words that reports share.

import { resources } from "../../schema/index.ts";
import { type AccessGraph, organizationsIn, placesIn } from "../graph/graph.ts";
import type { NotVisible as Hidden } from "../graph/live.ts";
import type { NotVisible } from "../review/report.ts";
import { shortList } from "../text.ts";
import { type Item, line, type Part, say } from "./document/document.ts";

/** `1 binding`, `2 bindings`, `2 identities` */
export const countText = (count: number, one: string, many = `${one.replace(/(?<![aeiou])y$/, "ie")}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const NAMES_SHOWN = 3;

/** ` in acme and tools`, ` in 5 organizations`; empty if none is known. */
export const organizationParts = (lead: string, names: readonly string[]): Part[] => {
  if (names.length > NAMES_SHOWN) return [`${lead}${names.length} organizations`];
  return names.flatMap((name, i) => say`${[i === 0 ? lead : i + 1 < names.length ? ", " : " and "]}${name}`);
};

/** The text for the organizations of a graph. */
export const organizationPartsOf = (graph: AccessGraph): Part[] =>
  organizationParts(
    " in ",
    organizationsIn(graph).map(({ name }) => name),
  );

export const notVisibleItems = (notVisible: readonly Pick<NotVisible, "groupName" | "message">[]): Item[] =>
  notVisible.map(({ groupName, message }) => line`${groupName}: ${message}`);

/** Kinds that a report of bindings lacks if they cannot be listed. */
export const HIDES = ["group", "identity", "role", "roleBinding"];

const PATHS_SHOWN = 10;

/** The records that cannot be listed, a line for each kind: `role bindings of /, platform`. */
export const hiddenLines = (graph: AccessGraph, notVisible: readonly Hidden[]): string[] => {
  const placeIn = placesIn(graph);
  return [...Map.groupBy(notVisible, ({ kind }) => kind)].map(([kind, entries]) => {
    const refused = entries.find(({ group }) => group === "");
    if (refused) return refused.message;
    const paths = entries.map(({ group }) => placeIn(group));
    return `${resources[kind].words} of ${shortList(paths, PATHS_SHOWN, " groups")}`;
  });
};

export const placeText = (path: string, isNew = false): string =>
  isNew ? `${path} (new)` : path === "/" ? "/ (the organization)" : path;
