// Existing access that no resource of the stack has: role bindings, and records that give access to people. This includes access that an
// exclusive set would remove, since someone has it now.

import { isRoot, isUidp, rootOf } from "../../schema/index.ts";
import { counts, type UndeclaredAccess } from "../format/drift.ts";
import { capabilitiesIn, worstFirst } from "../graph/danger.ts";
import { type AccessGraph, type NodeId, nameOf, pathOf } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { peopleGraph } from "../graph/people.ts";
import { undeclaredRows } from "../review/lists.ts";
import type { Proposal } from "../review/proposal.ts";
import type { RunRecord } from "../run/record.ts";

interface UndeclaredInput {
  run: Pick<RunRecord, "stored" | "left">;
  proposal: Pick<Proposal, "undeclared" | "organizations">;
  live: Live;
  /** of the sets that remove a role binding: URN by uid of the binding */
  removed: ReadonlyMap<string, string>;
  /** uids of the calling identities */
  callers: ReadonlySet<string>;
  /** uids of bindings, identities and other records whose access is declared elsewhere */
  allowed: ReadonlySet<string>;
  nowMs: number;
}

/** Differences come first. */
export const undeclaredIn = (input: UndeclaredInput): UndeclaredAccess[] =>
  worstFirst(
    [...bindingsOf(input), ...peopleOf(input)]
      .map((one) => ({
        ...one,
        ...(isOwn(input, one) && { own: true as const }),
        ...([one.uid, one.identity].some((uid) => uid !== null && input.allowed.has(uid)) && {
          allowed: true as const,
        }),
      }))
      .map((one) => ({ ...one, ...commandOf(one) })),
    (one) => ({
      standing: counts(one) ? "open" : undefined,
      capabilities: capabilitiesIn(input.live.graph.roles, roleOf(input.live.graph, one.uid)),
      place: one.groupName,
      texts: [one.name, one.role, one.uid],
    }),
  );

/** The role that a record gives. */
const roleOf = ({ bindings, providers, externalGroups, invites }: AccessGraph, id: NodeId) =>
  bindings.get(id)?.role ?? providers.get(id)?.defaultRole ?? externalGroups.get(id)?.role ?? invites.get(id)?.role;

/** Checks the uid: a service chooses the uids of its records, and a person pastes the command into a shell. */
const commandOf = (access: UndeclaredAccess): Pick<UndeclaredAccess, "command"> => {
  const flag = FLAGS[access.kind];
  if (flag === undefined || !counts(access) || !isUidp(access.uid)) return {};
  return { command: `npx pulumi-irm revoke ${flag} ${access.uid}` };
};

const FLAGS: Readonly<Record<string, string>> = {
  "role binding": "--binding",
  "external group role mapping": "--external-group",
};

const bindingsOf = ({ proposal, removed, live }: UndeclaredInput): UndeclaredAccess[] => {
  const ids = new Set([...proposal.undeclared, ...removed.keys()]);
  return undeclaredRows({ before: live.graph, undeclared: [...ids] }).map(
    ({ binding, group, groupName, identity, identityName, role }) => {
      const removedBy = removed.get(binding);
      const who = { name: identityName, identity, group, groupName, role };
      return { kind: "role binding", uid: binding, ...who, removedBy };
    },
  );
};

const peopleOf = ({ run, proposal: { organizations }, live, nowMs }: UndeclaredInput): UndeclaredAccess[] => {
  /** the records that a resource of the stack has or adopts */
  const declared = new Set([...run.stored, ...run.left].map((one) => one.id));
  const { identities, bindings } = peopleGraph(live.graph, nowMs);
  return [...bindings.values()]
    .filter(({ id, group }) => organizations?.has(rootOf(group)) && !declared.has(id))
    .map(({ id, identity, group, role }) => ({
      kind: kindOf(live.graph, id),
      uid: id,
      name: nameOf(identities, identity),
      identity: null,
      group,
      groupName: pathOf(live.graph, group),
      role: nameOf(live.graph.roles, role),
    }));
};

const kindOf = ({ providers, externalGroups }: AccessGraph, id: NodeId) =>
  providers.has(id) ? "identity provider" : externalGroups.has(id) ? "external group role mapping" : "group invite";

/** Someone granted it before the program ran. If there is a second binding, one of the two was added. */
const isOwn = ({ live, callers }: UndeclaredInput, { kind, identity, group }: UndeclaredAccess) => {
  if (kind !== "role binding" || identity === null || !callers.has(identity) || !isRoot(group)) return false;
  const here = [...live.graph.bindings.values()].filter((one) => one.identity === identity && one.group === group);
  return here.length === 1;
};
