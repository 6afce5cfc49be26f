// What a policy declares of the access that nobody needs, and what of it has to stay.
import type { NodeId } from "../graph/graph.ts";
import { PolicyEditError } from "../policy/edit/document.ts";
import { type OpenPolicy, stackOf } from "../policy/edit/open.ts";
import type { Removal } from "../policy/edit/remove.ts";
import type { PolicyGraph } from "../policy/graph.ts";
import { mappingsOf, mistakeText, type Policy, policyGraph } from "../policy/index.ts";
import type { PolicyBinding } from "../policy/policy.ts";
import { coveredIn, type Unused } from "./unused.ts";

export interface UnusedEntries {
  removal: Required<Removal>;
  /** entries that stay although nobody needs them, and tests that name what goes: a sentence for each */
  notes: string[];
}

/** Throws a PolicyEditError where the policy may mean other records. */
export const unusedEntries = (opened: OpenPolicy, unused: Unused, isRead: (role: NodeId) => boolean): UnusedEntries => {
  const { policy } = opened;
  const wanted = policyGraph(policy, unused.graph, stackOf(opened));
  if (wanted.mistakes.length > 0) throw new PolicyEditError(wanted.mistakes.map(mistakeText).join("\n"));
  const keysOf = (ids: ReadonlyMap<string, NodeId>, gone: Iterable<NodeId>): string[] => {
    const asked = new Set(gone);
    return [...ids].flatMap(([key, id]) => (asked.has(id) ? key : []));
  };
  const identities = keysOf(
    wanted.identities,
    unused.identities.map(({ identity }) => identity.id),
  );
  const left = policy.bindings.filter(({ identity }) => !identities.includes(identity));
  const { bindings, notes } = coveredRows(left, wanted, unused, isRead);
  const nobodys = keysOf(
    wanted.roles,
    unused.roles.map(({ id }) => id),
  ).filter((key) => policy.roles.has(key));
  const given = rolesGiven(
    policy,
    left.filter((one) => !bindings.includes(one)),
  );
  return {
    removal: { identities, bindings, roles: nobodys.filter((key) => !given.has(key)) },
    notes: [
      ...notes,
      ...nobodys
        .filter((key) => given.has(key))
        .map((key) => `roles.${key} stays: the policy gives it, and no update has done so yet`),
      ...testsOf(policy, identities),
    ],
  };
};

/** A row stands for every binding of its identity, group and role. What covers it must be in the policy too. */
const coveredRows = (
  rows: readonly PolicyBinding[],
  wanted: PolicyGraph,
  unused: Unused,
  isRead: (role: NodeId) => boolean,
): { bindings: PolicyBinding[]; notes: string[] } => {
  const declared = coveredIn(wanted.graph, isRead);
  const byTriple = Map.groupBy(wanted.graph.bindings.values(), tripleOf);
  const isIn = (covered: ReadonlyMap<NodeId, unknown>) => (row: PolicyBinding) => {
    const nodes = byTriple.get(tripleOf(idsOf(row, wanted))) ?? [];
    return nodes.length > 0 && nodes.every(({ id }) => covered.has(id));
  };
  const covered = rows.filter(isIn(unused.covered));
  const isDeclared = isIn(declared);
  return {
    bindings: covered.filter(isDeclared),
    notes: covered
      .filter((row) => !isDeclared(row))
      .map(
        ({ group, role, identity }) =>
          `access.${group}.${role}: ${identity} stays: what covers it is not in the policy`,
      ),
  };
};

interface Triple {
  group: NodeId | undefined;
  identity: NodeId | undefined;
  role: NodeId | undefined;
}

const tripleOf = ({ group, identity, role }: Triple): string => JSON.stringify([group, identity, role]);

const idsOf = ({ group, identity, role }: PolicyBinding, { groups, identities, roles }: PolicyGraph): Triple => ({
  group: groups.get(group),
  identity: identities.get(identity),
  role: roles.get(role),
});

const rolesGiven = (policy: Policy, bindings: readonly PolicyBinding[]): ReadonlySet<string | undefined> =>
  new Set([...bindings.map(({ role }) => role), ...mappingsOf(policy).map(({ role }) => role)]);

const testsOf = ({ tests }: Policy, identities: readonly string[]): string[] =>
  tests.flatMap(({ name, subject }) => {
    const named = subject.kind === "identity" ? [subject.name] : subject.kind === "holders" ? subject.only : [];
    const gone = identities.find((key) => named.some((text) => text === key || text.endsWith(`/${key}`)));
    return gone === undefined ? [] : [`the test ${JSON.stringify(name)} names ${gone}: change it`];
  });
