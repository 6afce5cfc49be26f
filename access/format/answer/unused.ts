// Access that nobody needs, for a terminal and as JSON.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import { type AccessGraph, type BindingNode, placesIn } from "../../graph/graph.ts";
import type { Covered, Unused } from "../../query/unused.ts";
import { countText } from "../words.ts";

export const unusedAsJson = ({ graph, identities, covered, roles }: Unused): string => {
  const value = {
    identities: identities.map(({ identity: { uid, name, group }, lastSeen, bindings }) => ({
      identity: uid,
      name,
      group,
      lastSeen,
      bindings,
    })),
    covered: Array.from(covered.values(), ({ binding, by }) => ({
      binding: binding.uid,
      identity: binding.identity,
      group: binding.group,
      role: roleNameOf(graph, binding),
      by: { binding: by.uid, group: by.group, role: roleNameOf(graph, by) },
    })),
    roles: roles.map(({ uid, name, group }) => ({ role: uid, name, group })),
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
};

const roleNameOf = ({ roles }: AccessGraph, { role }: BindingNode): string => roles.get(role)?.name ?? role;

/** `days`: how long nobody has used the identities. */
export const unusedAsText = (
  { graph, identities, covered, roles }: Unused,
  days: number,
  { color }: { color: boolean },
): string => {
  const bold = (text: string): string => (color ? styleText("bold", text, { validateStream: false }) : text);
  const placeOf = placesIn(graph);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [bold(title), ...lines.map((line) => `  ${printable(line)}`), ""];
  const coveredLine = ({ binding, by }: Covered): string => {
    const { name = binding.identity } = graph.identities.get(binding.identity) ?? {};
    const place = `${placeOf(binding.group)}  ${roleNameOf(graph, binding)}`;
    return `${name}  ${place}  covered by ${roleNameOf(graph, by)} in ${placeOf(by.group)}`;
  };
  return [
    ...section(
      `Identities that nobody has used for ${countText(days, "day")}`,
      identities.map(
        ({ identity: { name, group }, lastSeen, bindings }) =>
          `${name}  in ${placeOf(group)}  last seen ${lastSeen.slice(0, 10)}  ${countText(bindings, "role binding")}`,
      ),
    ),
    ...section("Role bindings that another one covers", Array.from(covered.values(), coveredLine)),
    ...section(
      "Roles that nobody has",
      roles.map(({ name, group }) => `${name}  in ${placeOf(group as string)}`),
    ),
    `${countText(identities.length, "identity", "identities")}, ${countText(covered.size, "role binding")}, ${countText(roles.length, "role")}\n`,
  ].join("\n");
};
