// Access that no one needs, in the parts that people read and as JSON.
import { type AccessGraph, type BindingNode, nameOf, placesIn } from "../graph/graph.ts";
import type { Unused } from "../query/unused.ts";
import { type Document, line, section } from "./document/document.ts";
import { countText } from "./words.ts";

export const unusedJson = ({ graph, identities, covered, roles }: Unused): object => ({
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
});

const roleNameOf = ({ roles }: AccessGraph, { role }: BindingNode) => nameOf(roles, role);

/** `days`: how long no one has used the identities. */
export const unusedDocument = ({ graph, identities, covered, roles }: Unused, days: number): Document => {
  const placeName = placesIn(graph);
  return {
    title: [],
    facts: [],
    sections: [
      section(
        "identities",
        `Identities that nobody has used for ${countText(days, "day")}`,
        identities.map(
          ({ identity: { name, group }, lastSeen, bindings }) =>
            line`${name}  in ${placeName(group)}  last seen ${lastSeen.slice(0, 10)}  ${[countText(bindings, "role binding")]}`,
        ),
      ),
      section(
        "covered",
        "Role bindings that another one covers",
        Array.from(
          covered.values(),
          ({ binding, by }) =>
            line`${nameOf(graph.identities, binding.identity)}  ${placeName(binding.group)}  ${roleNameOf(graph, binding)}  covered by ${roleNameOf(graph, by)} in ${placeName(by.group)}`,
        ),
      ),
      section(
        "roles",
        "Roles that nobody has",
        roles.map(({ name, group }) => line`${name}  in ${placeName(group as string)}`),
      ),
    ],
    foot: `${countText(identities.length, "identity")}, ${countText(covered.size, "role binding")}, ${countText(roles.length, "role")}`,
  };
};
