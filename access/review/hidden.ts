// What may stand behind something that a review does not know, and which rules could fire on it. What cannot be known counts as the worst
// that it can be: a rule that could fire has a finding.

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

type Could = (hidden: Hidden, input: RuleInput, required: Required) => boolean;

/**
 * Whether a rule could fire on what is hidden. The rules about what is gained have a finding for transient access, and a test fails by itself
 * (access/test/breaches.ts).
 */
const COULD_FIRE: Readonly<Partial<Record<RuleName, Could>>> = {
  "gains-owner": (hidden, input) => {
    if (hidden.of === "binding") return roleHas(hidden.role, input, isGrant);
    // A workload would get the access of any identity that exists.
    if (hidden.of === "takeover") return hidden.kind === "identity" || capabilitiesOf(hidden, isGrant);
    return hidden.of === "bindings" || hidden.of === "capabilities" || hidden.of === "people";
  },
  // Whatever somebody gets that is not known may lead on.
  "opens-path": (hidden) => !["issuer", "assumable", "workloads", "people"].includes(hidden.of),
  "root-binding": (hidden, { after }) =>
    (hidden.of === "binding" || hidden.of === "bindings" || hidden.of === "people") &&
    (hidden.group === undefined || isOrganization(after, hidden.group)),
  "pull-request-writes": (hidden, input) => {
    const { after, budget } = input;
    const writes = (capability: string): boolean => isWrite({ capability });
    if (hidden.of === "takeover") return hidden.kind === "identity" || capabilitiesOf(hidden, writes);
    if (hidden.of === "assumable") return accessIn(after).topmostOf(hidden.identity).some(isWrite);
    if (hidden.of === "people" || hidden.of === "issuer") return false;
    // Also "workloads", which are reported only where they change things.
    if (hidden.of !== "binding") return true;
    const { relationship } = after.identities.get(hidden.identity ?? "") ?? {};
    const isClosed = relationship && pullRequestsIn(relationship, budget).is === "no";
    return !isClosed && roleHas(hidden.role, input, writes);
  },
  // No workload could assume an identity that is new.
  "assumed-by-others": (hidden, { before }) =>
    hidden.of === "assumable" ? before.identities.has(hidden.identity) : opensAnIdentity(hidden),
  "matches-everyone": opensAnIdentity,
  "matches-many": opensAnIdentity,
  "new-issuer": (hidden) => hidden.of === "issuer" || opensAnIdentity(hidden),
  // A binding that may end counts as ended, and the rule finds that. What a list keeps is not known.
  "last-owner-goes": (hidden, { after }) =>
    hidden.of === "bindings" && (hidden.group === undefined || isOrganization(after, hidden.group)),
  "required-owners": (hidden, { after }, { owners }) =>
    owners !== undefined &&
    hidden.of === "bindings" &&
    (hidden.group === undefined || isOrganization(after, hidden.group)),
  "may-own": (hidden, input, { mayOwn }) =>
    mayOwn !== undefined &&
    (hidden.of === "binding" || hidden.of === "bindings") &&
    (hidden.group === undefined || isOrganization(input.after, hidden.group)) &&
    (hidden.of === "bindings" || hidden.role === undefined || input.after.roles.get(hidden.role)?.name === "owner"),
};

function opensAnIdentity(hidden: Hidden): boolean {
  return hidden.of === "assumable" || (hidden.of === "takeover" && hidden.kind === "identity");
}

/** A role that is not known, or whose capabilities cannot be read, may have every capability. */
const roleHas = (role: NodeId | undefined, { after }: RuleInput, isOne: (capability: string) => boolean): boolean => {
  const capabilities = role === undefined ? undefined : after.roles.get(role)?.capabilities;
  return capabilities === undefined || capabilities.length === 0 || capabilities.some(isOne);
};

/** A role that exists may get capabilities: everyone who has the role gains them. */
const capabilitiesOf = (
  { kind, inputs: { capabilities } }: Hidden & { of: "takeover" },
  isOne: (capability: string) => boolean,
): boolean => kind === "role" && (!Array.isArray(capabilities) || capabilities.some((one) => isOne(String(one))));

/** Anything may stand behind what cannot be read, but for these. */
const ASKED: readonly RuleName[] = ["rules-changed", "test-fails", "other-branch"];

/** The rules that could fire on it. */
export const hiddenRules = ({ hides }: UnknownPart, input: RuleInput, required: Required): RuleName[] => {
  if (hides === undefined) return [];
  if (hides.of === "paths") return ["opens-path"];
  if (hides.of !== "anything") return RULES.filter((rule) => COULD_FIRE[rule]?.(hides, input, required));
  const isRequired = { "required-owners": required.owners !== undefined, "may-own": required.mayOwn !== undefined };
  return RULES.filter((rule) => !ASKED.includes(rule) && (!(rule in isRequired) || isRequired[rule as "may-own"]));
};

// What the API does not show of records that a change is about: what a role grants, and who can assume an identity.

/** Bindings that come or go with a role whose capabilities cannot be read: what they change is not in the rows. */
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

/** Identities that gain what changes things, and of which the API does not show who can assume them. */
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
