// The facts that an unknown may hide, and the rules that could fire on it. An unknown counts as the worst that it can be: a rule that could
// fire has a finding.

import { compare } from "../canonical.ts";
import { isGrant, isWrite } from "../graph/danger.ts";
import { accessIn } from "../graph/effective-access.ts";
import { groupNameOf, isOrganization, type NodeId, nameOf } from "../graph/graph.ts";
import { pullRequestsIn } from "../workload/pull-request.ts";
import type { Hidden, UnknownPart } from "./proposal.ts";
import { RULES, type RuleName } from "./report.ts";
import { heldText, type RuleInput } from "./rule.ts";
import type { Required } from "./rules-file.ts";
import { grantKey } from "./transient.ts";

/** Rules about an identity that anyone may be able to assume. */
const OPENS_IDENTITY: readonly RuleName[] = ["matches-everyone", "matches-many", "new-issuer"];

/** Rules about files of rules, tests and branches, which an unknown never hides. */
const ASKED: readonly RuleName[] = ["rules-changed", "test-fails", "other-branch"];

/**
 * The rules that could fire on it. The rules about gains also find access that may be gained in between, and a test fails by itself
 * (access/test/breaches.ts).
 */
export const hiddenRules = ({ hides }: UnknownPart, input: RuleInput, required: Required): RuleName[] =>
  hides === undefined ? [] : rulesOn(hides, input, required).filter((rule) => rule !== false);

const rulesOn = (hidden: Hidden, input: RuleInput, { owners, mayOwn }: Required): readonly (RuleName | false)[] => {
  const { before, after, budget } = input;
  const hasOwners = owners !== undefined && "required-owners";
  const hasMayOwn = mayOwn !== undefined && "may-own";
  /** of a group: it may be an organization */
  const isAtTop = (group: NodeId | undefined) => group === undefined || isOrganization(after, group);
  switch (hidden.of) {
    case "binding": {
      const { identity = "", role, group } = hidden;
      const { relationship } = after.identities.get(identity) ?? {};
      const isClosed = relationship && pullRequestsIn(relationship, budget).is === "no";
      const mayBeOwner = role === undefined || after.roles.get(role)?.name === "owner";
      return [
        "opens-path",
        roleHas(role, input, isGrant) && "gains-owner",
        !isClosed && roleHas(role, input, changesRecords) && "pull-request-writes",
        isAtTop(group) && "root-binding",
        isAtTop(group) && mayBeOwner && hasMayOwn,
      ];
    }
    case "bindings": {
      // A binding that may end counts as ended, and last-owner-goes finds that. The bindings that a list keeps are unknown.
      const atTop = ["root-binding", "last-owner-goes", hasOwners, hasMayOwn] as const;
      return ["gains-owner", "opens-path", "pull-request-writes", ...(isAtTop(hidden.group) ? atTop : [])];
    }
    case "assumable":
      return [
        ...OPENS_IDENTITY,
        accessIn(after).topmostOf(hidden.identity).some(isWrite) && "pull-request-writes",
        // No workload could assume a new identity.
        before.identities.has(hidden.identity) && "assumed-by-others",
      ];
    case "takeover": {
      // A workload would get the access of any existing identity.
      if (hidden.kind === "identity")
        return ["gains-owner", "opens-path", "pull-request-writes", "assumed-by-others", ...OPENS_IDENTITY];
      // Everyone who has an existing role gains the capabilities that it gets.
      const { capabilities } = hidden.inputs;
      const mayGive = (isOne: (capability: string) => boolean) =>
        hidden.kind === "role" && (!Array.isArray(capabilities) || capabilities.some((one) => isOne(String(one))));
      return ["opens-path", mayGive(isGrant) && "gains-owner", mayGive(changesRecords) && "pull-request-writes"];
    }
    case "capabilities":
      return ["gains-owner", "opens-path", "pull-request-writes"];
    // These are reported only if they give capabilities that change records.
    case "workloads":
      return ["pull-request-writes"];
    case "people":
      return ["gains-owner", isAtTop(hidden.group) && "root-binding"];
    case "issuer":
      return ["new-issuer"];
    case "paths":
      return ["opens-path"];
    case "anything": {
      const notAsked = [...ASKED, ...(hasOwners ? [] : ["required-owners"]), ...(hasMayOwn ? [] : ["may-own"])];
      return RULES.filter((rule) => !notAsked.includes(rule));
    }
  }
};

const changesRecords = (capability: string) => isWrite({ capability });

/** A role that is unknown, or whose capabilities cannot be read, may have every capability. */
const roleHas = (role: NodeId | undefined, { after }: RuleInput, isOne: (capability: string) => boolean) => {
  const capabilities = role === undefined ? undefined : after.roles.get(role)?.capabilities;
  return capabilities === undefined || capabilities.length === 0 || capabilities.some(isOne);
};

// Facts about the records of a change that the API does not show: the capabilities of a role, and who can assume an identity.

/** Bindings that are added or removed with a role whose capabilities cannot be read: the rows lack their effect. */
export const unreadableRoles = ({ before, after }: RuleInput, word = ""): UnknownPart[] => {
  const texts = [
    { from: before, to: after, verb: "gains" },
    { from: after, to: before, verb: "loses" },
  ].flatMap(({ from, to, verb }) => {
    const known = new Set([...from.bindings.values()].map(grantKey));
    return [...to.bindings.values()]
      .filter((one) => !known.has(grantKey(one)) && !to.roles.get(one.role)?.capabilities.length)
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

/** Identities that gain capabilities to change records, and for which the API does not show who can assume them. */
export const unreadableWorkloads = ({ changes, after, unknown }: RuleInput): UnknownPart[] => {
  const isReported = new Set(unknown.flatMap(({ hides }) => (hides?.of === "assumable" ? [hides.identity] : [])));
  return changes
    .filter(({ identity, gains }) => !isReported.has(identity) && gains.some(isWrite))
    .filter(({ identity }) => !after.identities.get(identity)?.relationship)
    .map(({ identity, gains }): UnknownPart => {
      const name = nameOf(after.identities, identity);
      const { places } = heldText(after, gains.filter(isWrite));
      return {
        subject: name,
        about: identity,
        hides: { of: "workloads" },
        message: `who can assume identity ${name} is not visible, and it gains capabilities that change things at ${places}`,
      };
    });
};
