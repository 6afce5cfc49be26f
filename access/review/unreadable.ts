// What the API does not show of records that a change is about: what a role grants, and who can assume an identity.
import { compare } from "../canonical.ts";
import { isWrite } from "../graph/danger.ts";
import type { NodeId } from "../graph/graph.ts";
import { groupNameOf, nameOf } from "../graph/graph.ts";
import type { UnknownPart } from "./proposal.ts";
import { placesOf, type RuleInput } from "./rule.ts";

/** Bindings that come or go with a role whose capabilities cannot be read: what they change is not in the rows. */
export const unreadableRoles = ({ before, after }: RuleInput, word = ""): UnknownPart[] => {
  const texts = [
    { from: before, to: after, verb: "gains" },
    { from: after, to: before, verb: "loses" },
  ].flatMap(({ from, to, verb }) => {
    const key = ({ identity, role, group }: { identity: NodeId; role: NodeId; group: NodeId }) =>
      `${identity} ${role} ${group}`;
    const known = new Set([...from.bindings.values()].map(key));
    return [...to.bindings.values()]
      .filter((one) => !known.has(key(one)) && !to.roles.get(one.role)?.capabilities.length)
      .map(
        ({ identity, role, group }): UnknownPart => ({
          subject: nameOf(to.identities, identity),
          ...(to === after && { about: identity, hides: { of: "binding", identity, role, group } }),
          message: `the capabilities of role ${nameOf(to.roles, role)} cannot be read, so what ${word}${nameOf(to.identities, identity)} ${verb} with it at ${groupNameOf(to, group)} is not known`,
        }),
      );
  });
  return texts.sort((a, b) => compare(a.message, b.message));
};

/** Identities that gain what changes things, and of which the API does not show who can assume them. */
export const unreadableWorkloads = ({ changes, after, unknown }: RuleInput): UnknownPart[] => {
  const isReported = new Set(unknown.flatMap(({ hides }) => (hides?.of === "assumable" ? [hides.identity] : [])));
  return changes
    .filter(({ identity, gains }) => !isReported.has(identity) && gains.some(isWrite))
    .filter(({ identity }) => !after.identities.get(identity)?.relationship)
    .map(({ identity, gains }): UnknownPart => {
      const name = nameOf(after.identities, identity);
      const places = placesOf(
        after,
        gains.filter(isWrite).map(({ group }) => group),
      );
      return {
        subject: name,
        about: identity,
        hides: { of: "workloads" },
        message: `who can assume identity ${name} is not visible, and it gains capabilities that change things at ${places}`,
      };
    });
};
