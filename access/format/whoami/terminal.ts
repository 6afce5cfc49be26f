// Who the caller is, for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import { type AccessGraph, lineageOf, type NodeId, placesIn } from "../../graph/graph.ts";
import { type OwnGrant, throughText, type WhoAmI } from "../../query/whoami.ts";
import { byEffect } from "../../review/danger.ts";
import { NOT_READABLE } from "../answer/rows.ts";
import type { TerminalOptions } from "../answer/terminal.ts";
import { countText } from "../words.ts";
import { capabilityWords, wrapWords } from "../wrap.ts";

export interface WhoAmIReport {
  who: WhoAmI;
  /** the groups of its grants, with their names */
  groups: AccessGraph;
  /** how it was reached: name and value */
  reached: readonly (readonly [name: string, value: string])[];
}

export const whoAmIAsText = ({ who, groups, reached }: WhoAmIReport, { color, width }: TerminalOptions): string => {
  const style = (format: "bold" | "yellow", text: string): string =>
    color ? styleText(format, printable(text), { validateStream: false }) : printable(text);
  const { name, identity, expires, grants, notKnown } = who;
  const rows = [["uid", identity ?? "the token does not show it"], ...reached, ["until", expires ?? "not known"]];
  const column = Math.max(...rows.map(([label = ""]) => label.length)) + 2;
  const placeIn = placeNames(groups);
  const blockOf = ({ group, role, capabilities }: OwnGrant): string[] => [
    `  ${printable(placeIn(group))}  through ${role === null ? throughText({ role }) : style("bold", role)}`,
    ...(capabilities.length > 0
      ? wrapWords(capabilityWords([...capabilities].sort(byEffect)), width)
      : [`      (${notKnown.length > 0 ? NOT_READABLE : "nothing within the limits of this token"})`]),
  ];
  const noGrants =
    notKnown.length > 0 ? "No grant that you can see." : "No grant: it may do nothing but what needs no right.";
  return [
    style("bold", name ?? "an identity whose name you cannot read"),
    ...rows.map(([label = "", value = ""]) => `  ${label.padEnd(column)}${printable(value)}`),
    "",
    ...(grants.length > 0 ? [...grants.flatMap(blockOf), "", countText(grants.length, "grant")] : [noGrants]),
    ...(notKnown.length > 0 ? ["", style("yellow", "Not known, so it may hold more, up to everything:")] : []),
    ...notKnown.map((one) => `  ${printable(one)}`),
    "",
  ].join("\n");
};

/** The path, or the name and uid where the caller cannot see all groups of the path. */
const placeNames = (groups: AccessGraph): ((group: NodeId) => string) => {
  const placeIn = placesIn(groups);
  const isNamed = (id: NodeId): boolean => groups.groups.get(id)?.name !== id;
  return (group) => {
    const [, ...above] = lineageOf(groups, group);
    // A path has no name for its organization.
    if (above.slice(0, -1).every(isNamed) && (isNamed(group) || above.length === 0)) return placeIn(group);
    return isNamed(group) ? `${groups.groups.get(group)?.name} (${group})` : group;
  };
};
