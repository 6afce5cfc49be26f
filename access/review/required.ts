// required-owners and may-own: the requirements of a file of rules on an organization after the change, whether or not this change broke
// them.
import { type GroupNode, type NodeId, organizationsIn } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { existingIn, namedRecordsIn } from "./organizations.ts";
import type { Proposal } from "./proposal.ts";
import type { RuleName } from "./report.ts";
import { ownersIn } from "./rule.ts";
import type { Required } from "./rules-file.ts";

interface Broken {
  rule: RuleName;
  subject: NodeId;
  message: string;
}

export const findBroken = (
  proposal: Proposal,
  { owners: least, mayOwn }: Required,
  notVisible: readonly NotVisible[],
): Broken[] => {
  const { before, after } = proposal;
  const [was, owners] = [ownersIn(before), ownersIn(after)];
  const hidden = new Set(notVisible.filter(({ kind }) => kind === "roleBinding").map(({ group }) => group));
  const mayOwnIn = mayOwn && ownershipOf(proposal, mayOwn, notVisible);
  return organizationsToCheck(proposal).flatMap((organization): Broken[] => {
    const { id, name } = organization;
    const held = owners.get(id) ?? new Set();
    const unseen =
      hidden.has(id) || hidden.has("") ? "; you cannot list its role bindings, so there may be others" : "";
    const few =
      least !== undefined && held.size < least
        ? [`${identityCountText(held.size)} the role owner on ${name} itself after this change; ${least} must${unseen}`]
        : [];
    const others = mayOwnIn ? [...held].filter((identity) => !mayOwnIn(organization, identity)) : [];
    const unknown =
      mayOwn && unseen ? [`who has the role owner on ${name} is not visible: you cannot list its role bindings`] : [];
    return [
      ...few.map((message): Broken => ({ rule: "required-owners", subject: id, message })),
      ...unknown.map((message): Broken => ({ rule: "may-own", subject: id, message })),
      ...others.map((identity): Broken => {
        const verb = was.get(id)?.has(identity) ? "has" : "gets";
        const isNew = !before.identities.has(identity)
          ? "; this identity is new, so no path of may-own names it yet"
          : "";
        const message = `${verb} the role owner on ${name} itself, and may-own does not list it${isNew}`;
        return { rule: "may-own", subject: identity, message };
      }),
    ];
  });
};

const identityCountText = (count: number): string =>
  count === 1 ? "1 identity has" : `${count || "no"} identities have`;

/** The organizations of the change; all, if they are unknown. */
const organizationsToCheck = ({ before, after, organizations }: Proposal): GroupNode[] => {
  const all = organizationsIn(after);
  const relevant = all.filter(({ id }) => organizations?.has(id) || !before.groups.has(id));
  return relevant.length === 0 ? all : relevant;
};

/** A path means an existing identity. A new organization has none, so there a path means a new identity. */
const ownershipOf = (
  { before, after }: Proposal,
  mayOwn: readonly string[],
  notVisible: readonly NotVisible[],
): ((organization: GroupNode, identity: NodeId) => boolean) => {
  const find = existingIn(namedRecordsIn(before), notVisible, "identity");
  const known = new Set(mayOwn.map(find).flatMap((found) => ("id" in found ? [found.id] : [])));
  const written = new Set(namedRecordsIn(after).flatMap(({ id, path }) => (mayOwn.includes(path) ? [id] : [])));
  return ({ id }, identity) => known.has(identity) || (!before.groups.has(id) && written.has(identity));
};
