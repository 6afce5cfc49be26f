// The rules: the findings of each in a change.

import type { Json } from "../../schema/index.ts";
import { isGrant, isWrite } from "../graph/danger.ts";
import { type AccessRow, accessIn } from "../graph/effective-access.ts";
import {
  type AccessGraph,
  groupNameOf,
  type IdentityNode,
  isOrganization,
  type NodeId,
  nameOf,
} from "../graph/graph.ts";
import { findText } from "../pattern/decide.ts";
import { every, type Language, not, some, text } from "../pattern/language.ts";
import { shortList } from "../text.ts";
import { breadthOf, othersIn } from "../workload/breadth.ts";
import { everyoneIn } from "../workload/open-pattern.ts";
import { pullRequestsIn } from "../workload/pull-request.ts";
import { tokensOf } from "../workload/token.ts";
import { assumptionOf, fingerprint } from "./assume.ts";
import { keysIn } from "./people.ts";
import type { RuleName } from "./report.ts";
import { type Found, heldText, ownersIn, type RuleInput, textOfList } from "./rule.ts";
import { grantKey } from "./transient.ts";

type Find = (input: RuleInput) => Found[];

// assumed-by-others: another owner, issuer, organization or project can assume an identity than before.

const assumedByOthers: Find = ({ reassumed, replacements, before, budget }) => {
  const updated = reassumed.map((now) => ({ old: before.identities.get(now.id), now }));
  const replaced = replacements.map(({ old, new: now }) => ({ old, now }));
  return [...updated, ...replaced].flatMap(({ old, now }) => {
    if (!old?.relationship || !now.relationship) return [];
    const others = othersIn(old.relationship, now.relationship, budget);
    if (others.is === "none") return [];
    const message =
      others.is === "found"
        ? `others can assume it now: ${others.text}`
        : "perhaps others can assume it now: its patterns cannot be decided";
    return [{ subject: now.id, message }];
  });
};

// gains-owner: an identity gains a capability that lets it give access to itself or to others.

const gainsOwner: Find = ({ changes, after, most, transient }) => {
  const gained = ownersAmong(after, changes, (capabilities) => `: it gains ${capabilities}`);
  const known = new Set(gained.map(({ subject }) => subject));
  const passing = ownersAmong(
    most,
    transient.map(({ identity, rows: gains }) => ({ identity, gains })),
    (capabilities) => ` while the update runs, or after one that ends early: it may hold ${capabilities}`,
  );
  return [...gained, ...passing.filter(({ subject }) => !known.has(subject))];
};

const ownersAmong = (
  graph: AccessGraph,
  changes: readonly { identity: NodeId; gains: readonly AccessRow[] }[],
  why: (capabilities: string) => string,
): Found[] =>
  changes.flatMap(({ identity, gains }) => {
    const rows = gains.filter(({ capability }) => isGrant(capability));
    if (rows.length === 0) return [];
    const { capabilities, places } = heldText(graph, rows);
    const message = `can give access to itself and others at ${places}${why(capabilities.join(", "))}`;
    return [{ subject: identity, message }];
  });

// identity-replaced: an identity is deleted, and one with its name, or that the same workloads can assume, gets another uid.

const identityReplaced: Find = ({ replacements, before, after }) =>
  replacements.map(({ old, new: next }) => {
    const [from, to] = [groupNameOf(before, old.group), groupNameOf(after, next.group)];
    const place = from === to ? "" : `, in ${to} instead of ${from}`;
    const name = old.name === next.name ? "" : ` and the name ${next.name}`;
    const who = assumptionOf(old.relationship)?.text;
    const lost = "workflows that name its uid stop working";
    return {
      subject: old.id,
      message: `is replaced by one with another uid${name}${place}; ${lost}${who === undefined ? "" : `: ${who}`}`,
    };
  });

// last-owner-goes: an organization is left without an identity that has the role owner.

const lastOwnerGoes: Find = ({ before, after }) => {
  const left = ownersIn(after);
  return [...ownersIn(before).keys()]
    .filter((group) => after.groups.has(group) && !left.has(group))
    .map((subject) => ({ subject, message: "no identity is left with the role owner on the organization itself" }));
};

// matches-everyone: every customer of a service that many share can assume an identity.

const matchesEveryone: Find = ({ reassumed, budget }) =>
  reassumed.flatMap(({ id, relationship }) => {
    const everyone = everyoneIn(relationship, budget);
    if (everyone.is === "none") return [];
    const who = everyone.is === "found" ? everyone.text : "perhaps everyone: its patterns cannot be decided";
    return [{ subject: id, message: `can be assumed by ${who}` }];
  });

// matches-many: more than one repository or branch can assume an identity.

const matchesMany: Find = ({ reassumed, budget }) =>
  reassumed.flatMap(({ id, relationship }) => {
    const breadth = breadthOf(relationship, budget);
    if (breadth === undefined) return [];
    return [{ subject: id, message: `more than one repository or branch can assume it: ${breadth}` }];
  });

// new-issuer: an identity trusts an issuer of tokens that no identity trusts now, or people sign in at one that no identity provider has. A
// key is an issuer: its holder signs tokens, whatever issuer they name.

const newIssuer: Find = ({ reassumed, before, budget }) => {
  // The operator of an issuer that only signs for an identity's own key could not sign in until now.
  const trusted = Map.groupBy([...before.identities.values()].flatMap(issuersOf), ({ kind }) => kind);
  return reassumed.flatMap((identity) => {
    const [issuer] = issuersOf(identity).filter(({ kind, language }) => {
      const known = trusted.get(kind)?.map((one) => one.language) ?? [];
      return findText(every(language, not(some(...known))), budget).is !== "none";
    });
    return issuer ? [{ subject: identity.id, message: `${WORDS[issuer.kind]}: ${issuer.shown}` }] : [];
  });
};

type Kind = "claimMatch" | "staticKeys" | "signIn";

const WORDS: Readonly<Record<Kind, string>> = {
  claimMatch: "trusts an issuer that no identity trusts now",
  staticKeys: "trusts a key that no identity trusts now",
  signIn: "sign in at an issuer that no identity provider has now",
};

interface Issuer {
  kind: Kind;
  shown: string;
  language: Language;
}

/** At most one: a relationship is of one kind. */
const issuersOf = ({ relationship }: IdentityNode): Issuer[] => {
  const { claimMatch, staticKeys, signIn } = (relationship ?? {}) as Partial<Record<Kind, Json>>;
  if (claimMatch) {
    const { issuer, issuerPattern } = claimMatch;
    const shown = issuer ? String(issuer) : `any that matches ${issuerPattern}`;
    return [{ kind: "claimMatch", shown, language: tokensOf(claimMatch).issuer }];
  }
  if (staticKeys) {
    const { issuer, issuerKeys } = staticKeys;
    const shown = `issuer ${issuer}, key set with SHA-256 ${fingerprint(String(issuerKeys))}…`;
    const keys = keysIn(String(issuerKeys)).map((key) => text(JSON.stringify([issuer, key])));
    return [{ kind: "staticKeys", shown, language: some(...keys) }];
  }
  if (!signIn?.issuer) return [];
  return [{ kind: "signIn", shown: String(signIn.issuer), language: text(String(signIn.issuer)) }];
};

// opens-path: an identity could reach access that it does not hold, by requests that were not possible before.

const opensPath: Find = ({ opened, after }) =>
  [...Map.groupBy(opened, ({ from }) => ("identity" in from ? from.identity : ""))].map(([subject, paths]) => {
    const shown = paths.find(({ assumes }) => assumes === "strict") ?? paths[0];
    const { gains = [], steps = [], assumes = "cautious" } = shown ?? {};
    const { capabilities, places } = heldText(after, gains);
    const list = shortList(capabilities, CAPABILITIES_SHOWN);
    const others = paths.length > 1 ? [`${paths.length - 1} more of its paths open`] : [];
    const items = [...steps.map(({ why }) => why), ...others];
    return { subject, ...textOfList(`could come to hold ${list} at ${places} (${assumes}):`, items) };
  });

const CAPABILITIES_SHOWN = 5;

// pull-request-writes: a pull request, whose author may be anyone, can assume an identity that changes records.

const pullRequestWrites: Find = ({ changes, reassumed, before, after, budget }) => {
  const access = accessIn(after);
  const gained = new Map(changes.map(({ identity, gains }) => [identity, gains]));
  const isOpened = new Set(
    reassumed
      .filter(({ id }) => pullRequestsIn(before.identities.get(id)?.relationship ?? null, budget).is !== "yes")
      .map(({ id }) => id),
  );
  return [...after.identities.values()].flatMap(({ id, relationship }) => {
    const rows = (isOpened.has(id) ? access.topmostOf(id) : (gained.get(id) ?? [])).filter(isWrite);
    if (rows.length === 0) return [];
    const answer = pullRequestsIn(relationship, budget);
    if (answer.is === "no") return [];
    const { capabilities, places } = heldText(after, rows);
    const shown = shortList(capabilities, CAPABILITIES_SHOWN);
    const who =
      answer.is === "yes"
        ? `a pull request can assume it, as ${answer.example.sub},`
        : "a pull request can perhaps assume it, since its patterns cannot be decided,";
    return [{ subject: id, message: `${who} and it can write at ${places}: ${shown}` }];
  });
};

// regrants-removed: the run would create again access that someone removed by hand.

const regrantsRemoved: Find = ({ restored, after }) => {
  const found = restored.flatMap((id): Found[] => {
    const binding = after.bindings.get(id);
    if (binding) {
      const [role, place] = [nameOf(after.roles, binding.role), groupNameOf(after, binding.group)];
      return [{ subject: binding.identity, message: `gets ${role} at ${place} again, which was removed by hand` }];
    }
    const identity = after.identities.get(id);
    if (identity && "who" in identity)
      return [{ subject: id, message: "gains by a record that was removed by hand, and would be created again" }];
    // The people of these records are subjects themselves.
    if (after.providers.has(id) || after.invites.has(id)) return [];
    const kind = identity ? "identity" : after.roles.has(id) ? "role" : "group";
    return [{ subject: id, message: `this ${kind} was removed by hand, and would be created again` }];
  });
  return [...Map.groupBy(found, ({ subject }) => subject)].map(([subject, own]) => ({
    subject,
    ...textOfList("", [...new Set(own.map(({ message }) => message))].sort()),
  }));
};

// root-binding: an identity gets a role on a whole organization.

const rootBinding: Find = ({ before, after }) => {
  const held = new Set([...before.bindings.values()].map(grantKey));
  const gained = [...after.bindings.values()].filter(
    (one) => isOrganization(after, one.group) && !held.has(grantKey(one)),
  );
  return [...Map.groupBy(gained, ({ identity }) => identity)].map(([subject, bindings]) => {
    const roles = [...new Set(bindings.map(({ role }) => nameOf(after.roles, role)))].sort().join(", ");
    const groups = [...new Set(bindings.map(({ group }) => nameOf(after.groups, group)))];
    return { subject, message: `gets ${roles} on the whole organization ${groups.sort().join(", ")}` };
  });
};

// transient-access: while the update runs, an identity may hold access that it holds neither before nor after it. Or a workload may hold
// access through an identity that the update does not give it. An update that ends early leaves this access, and the order of the steps
// decides.

const transientAccess: Find = ({ most, transient }) =>
  transient.map(({ identity, rows, isFormer }) => {
    const { capabilities, places } = heldText(most, rows);
    return {
      subject: identity,
      message: `${isFormer ? "who can assume it before the change " : ""}may hold ${capabilities.join(", ")} at ${places} while the update runs, or after one that ends early`,
    };
  });

/** In the order of RULES. The others are about files, tests and requirements. */
export const rules: Readonly<Partial<Record<RuleName, Find>>> = {
  "gains-owner": gainsOwner,
  "transient-access": transientAccess,
  "opens-path": opensPath,
  "assumed-by-others": assumedByOthers,
  "matches-everyone": matchesEveryone,
  "matches-many": matchesMany,
  "new-issuer": newIssuer,
  "pull-request-writes": pullRequestWrites,
  "root-binding": rootBinding,
  "last-owner-goes": lastOwnerGoes,
  "identity-replaced": identityReplaced,
  "regrants-removed": regrantsRemoved,
};

/** They also find gains of people, who have no identity: their input has people in place of identities. */
export const RULES_OF_PEOPLE: readonly RuleName[] = [
  "gains-owner",
  "transient-access",
  "new-issuer",
  "root-binding",
  "regrants-removed",
];
