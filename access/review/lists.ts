// The lists of a report that no rule decides: deletions and their contents, undeclared access, keys that end.
import type { Json } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { capabilitiesIn, rowsInOrder, worstFirst } from "../graph/danger.ts";
import { type AccessRow, capabilitiesHeldIn } from "../graph/effective-access.ts";
import {
  type AccessGraph,
  type BindingNode,
  groupNameOf,
  isInside,
  type NodeId,
  nameOf,
  pathOf,
} from "../graph/graph.ts";
import { targetsIn } from "../paths/find.ts";
import type { Path } from "../paths/path.ts";
import type { Proposal } from "./proposal.ts";
import type { PathReview, Report, Row } from "./report.ts";
import type { RuleInput } from "./rule.ts";

// The contents of a group and of the groups below, in words: they disappear with the group.

type Content = Report["deletedGroups"][number]["contents"][number];

/** Groups, identities, roles, identity providers, invites and bindings below `group`, without the group; in stable order. */
const contentsOf = (graph: AccessGraph, group: NodeId): Content[] => {
  const isBelow = (id: NodeId) => isInside(graph, id, group);
  const groups = [...graph.groups.values()]
    .filter(({ id }) => id !== group && isBelow(id))
    .map(({ id, uid }) => ({ kind: "group", uid, name: groupNameOf(graph, id) }));
  const held = (kind: string, nodes: AccessGraph["identities" | "roles" | "providers" | "invites"]): Content[] =>
    [...nodes.values()]
      .filter(({ group: place }) => place !== null && isBelow(place))
      .map(({ uid, name }) => ({ kind, uid, name }));
  const contents = [
    ...groups,
    ...held("identity", graph.identities),
    ...held("role", graph.roles),
    ...held("identity provider", graph.providers),
    ...held("group invite", graph.invites),
    ...[...graph.bindings.values()].filter((one) => isBelow(one.group)).map((one) => bindingIn(graph, one)),
  ];
  return contents.sort((a, b) => compare(contentKey(a), contentKey(b)));
};

/** The external groups of an identity provider, which are deleted with it. */
const externalGroupsOf = (graph: AccessGraph, provider: NodeId): Content[] =>
  [...graph.externalGroups.values()]
    .filter((one) => one.provider === provider)
    .map(({ uid, externalGroupId: name }) => ({ kind: "external group", uid, name }));

/** The bindings of an identity, which are deleted with it. */
const bindingsOf = (graph: AccessGraph, identity: NodeId): Content[] =>
  [...graph.bindings.values()].filter((one) => one.identity === identity).map((one) => bindingIn(graph, one));

const bindingIn = (graph: AccessGraph, { uid, identity, role, group }: BindingNode): Content => {
  const name = `${nameOf(graph.identities, identity)} as ${nameOf(graph.roles, role)} at ${groupNameOf(graph, group)}`;
  return { kind: "role binding", uid, name };
};

const contentKey = ({ kind, uid, name }: Content) => `${kind} ${name} ${uid}`;

export const deletedGroupsOf = ({ before, after }: RuleInput): Report["deletedGroups"] =>
  worstFirst(
    [...before.groups.values()]
      .filter(({ id, parent }) => !after.groups.has(id) && (parent === null || after.groups.has(parent)))
      .map(({ id }) => ({ group: id, groupName: pathOf(before, id), contents: contentsOf(before, id) })),
    ({ groupName: place, group }) => ({ place, texts: [group] }),
  );

export const forcedRows = ({ forced, before, deleted }: Proposal): Report["forceDestroy"] =>
  worstFirst(
    forced.map(({ node, held = [], ...one }) => {
      const listed = before.groups.has(node)
        ? contentsOf(before, node)
        : [...bindingsOf(before, node), ...externalGroupsOf(before, node)];
      const name = nameIn(before, node);
      const contents = [...listed, ...held.map(({ kind, uid, name: its }) => ({ kind, uid, name: its }))];
      const unmanaged = contents.filter(({ uid }) => uid === null || !deleted.has(uid));
      return { ...one, name: name === node ? one.resource : name, contents: one.deletes ? unmanaged : [] };
    }),
    ({ deletes, resource, uid }) => ({ standing: deletes ? "open" : undefined, texts: [resource, uid] }),
  );

export const undeclaredRows = ({ undeclared, before }: Pick<Proposal, "undeclared" | "before">): Report["undeclared"] =>
  worstFirst(
    undeclared.flatMap((id) => {
      const binding = before.bindings.get(id);
      if (!binding) return [];
      const { identity, role, group } = binding;
      return [
        {
          binding: id,
          group,
          groupName: pathOf(before, group),
          identity,
          identityName: nameOf(before.identities, identity),
          role: nameOf(before.roles, role),
        },
      ];
    }),
    ({ binding, groupName: place, identityName, role }) => ({
      capabilities: capabilitiesIn(before.roles, before.bindings.get(binding)?.role),
      place,
      texts: [identityName, role, binding],
    }),
  );

export const nameIn = ({ groups, identities, roles, providers }: AccessGraph, id: NodeId): string =>
  (groups.get(id) ?? identities.get(id) ?? roles.get(id) ?? providers.get(id))?.name ?? id;

const SOON_MS = 30 * 24 * 60 * 60 * 1000;

export const expiringKeysOf = (after: AccessGraph, nowMs: number): Report["expiringKeys"] => {
  const keys = [...after.identities.values()].flatMap(({ id, uid, name, group, relationship }) => {
    const { expirationTime } = ((relationship as Json | null)?.staticKeys ?? {}) as { expirationTime?: string };
    if (!expirationTime || !(Date.parse(expirationTime) <= nowMs + SOON_MS)) return [];
    return [{ id, key: { uid, name, groupName: groupNameOf(after, group), expirationTime } }];
  });
  const held = capabilitiesHeldIn(after);
  return worstFirst(keys, ({ id, key: { groupName: place, expirationTime, name, uid } }) => ({
    capabilities: held(id),
    place,
    texts: [expirationTime, name, uid],
  })).map(({ key }) => key);
};

// Paths to more access that a change opens and closes, as a report shows them.

export const pathRows = (graph: AccessGraph, paths: readonly Path[]): PathReview[] => {
  const aboutOf = targetsIn(graph);
  return paths.map(({ from, gains, assumes, steps, assumptions }) => {
    const id = "identity" in from ? from.identity : "";
    const { uid = id, name = id } = graph.identities.get(id) ?? {};
    return {
      from: { identity: uid, name },
      gains: gains.map(({ capability, group }) => {
        const node = graph.groups.get(group);
        return { capability, group: node ? node.uid : group, groupName: groupNameOf(graph, group) };
      }),
      assumes,
      steps: steps.map((step) => ({
        ...step,
        name: nameOf(graph.identities, step.as),
        about: aboutOf(step.path, step.method),
      })),
      assumptions: [...assumptions],
    };
  });
};

/** A group that still exists has its name from `after`. */
export const rowsOf = (graph: AccessGraph, rows: readonly AccessRow[], after = graph): Row[] =>
  rowsInOrder(
    rows.map(({ group, capability, role }) => {
      const node = graph.groups.get(group);
      const place = groupNameOf(after.groups.has(group) ? after : graph, group);
      return { group: node ? node.uid : group, groupName: place, capability, role: nameOf(graph.roles, role) };
    }),
  );
