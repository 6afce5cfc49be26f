// Who the caller is: in the parts that people read, and as JSON.

import { byEffect } from "../graph/danger.ts";
import { type AccessGraph, lineageOf, type NodeId, placesIn } from "../graph/graph.ts";
import type { CheckAnswer } from "../query/own-groups.ts";
import { throughText, type WhoAmI } from "../query/whoami.ts";
import { NOT_READABLE } from "./answer.ts";
import { type Document, line, quotedItems, say, section } from "./document/document.ts";
import { countText } from "./words.ts";

/** Groups by uid, roles by name. */
export const whoAmIJson = ({ identity, name, expires, grants, notKnown }: WhoAmI, checks: readonly CheckAnswer[]) => ({
  identity,
  name,
  expires,
  grants: grants.map(({ group, role, capabilities }) => ({ group, role, capabilities })),
  // Absent if all grants are known.
  notKnown: notKnown.length > 0 ? notKnown : undefined,
  // One for each --check; the group is null if the path cannot be resolved.
  ...(checks.length > 0 && {
    checks: checks.map(({ capability, group, isHeld, message }) => ({ capability, group, held: isHeld, message })),
  }),
});

/** `groups`: the groups of the grants, with their names; `reached`: how the identity was reached, as name and value. */
export const whoAmIDocument = (
  { name, identity, expires, grants, notKnown }: WhoAmI,
  groups: AccessGraph,
  reached: readonly (readonly [name: string, value: string])[],
): Document => {
  const rows = [["uid", identity ?? "the token does not show it"], ...reached, ["until", expires ?? "not known"]];
  const column = Math.max(...rows.map(([label = ""]) => label.length)) + 2;
  const placeIn = placeNames(groups);
  const none = notKnown.length > 0 ? NOT_READABLE : "nothing within the limits of this token";
  const noGrants =
    notKnown.length > 0 ? "No grant that you can see." : "No grant: it may do nothing but what needs no right.";
  const grantLines = grants.map(({ group, role, capabilities: held }) => ({
    parts: say`${placeIn(group)}  through ${role === null ? [throughText({ role })] : role}${held.length > 0 && { capabilities: held.toSorted(byEffect), role: role ?? "" }}`,
    lines: held.length === 0 ? [line`(${[none]})`] : [],
  }));
  return {
    title: [],
    facts: [],
    foot: grants.length > 0 ? countText(grants.length, "grant") : noGrants,
    sections: [
      section(
        "grants",
        "Grants",
        [
          {
            parts: [{ name: name ?? "an identity whose name you cannot read" }],
            lines: rows.map(([label = "", value = ""]) => line`${[label.padEnd(column)]}${value}`),
          },
          ...(grants.length > 0 ? [{ parts: [], lines: grantLines }] : []),
        ],
        { isBlocks: true, isMain: true },
      ),
      section("not-known", "Not known, so it may hold more, up to everything", quotedItems(notKnown)),
    ],
  };
};

/** The path, or the name and uid if the caller cannot see all groups of the path. */
const placeNames = (groups: AccessGraph): ((group: NodeId) => string) => {
  const placeIn = placesIn(groups);
  const isNamed = (id: NodeId) => groups.groups.get(id)?.name !== id;
  return (group) => {
    const [, ...above] = lineageOf(groups, group);
    // A path does not name its organization.
    if (above.slice(0, -1).every(isNamed) && (isNamed(group) || above.length === 0)) return placeIn(group);
    return isNamed(group) ? `${groups.groups.get(group)?.name} (${group})` : group;
  };
};
