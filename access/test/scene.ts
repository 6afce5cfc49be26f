// The graph that a test runs on, and its actors.

import { isUidp, type RoleBundles } from "../../schema/index.ts";
import type { Access } from "../graph/effective-access.ts";
import { type AccessGraph, type GroupNode, type NodeId, newGraph, organizationsIn } from "../graph/graph.ts";
import type { Live, NotVisible } from "../graph/live.ts";
import { everyoneIn } from "../graph/people.ts";
import type { Budget } from "../pattern/budget.ts";
import { policyGraph } from "../policy/graph.ts";
import { mappingsOf, type Policy } from "../policy/policy.ts";
import type { Mistake } from "../policy/source.ts";
import { type Names, namesIn } from "./names.ts";

export interface Scene {
  /** including people (access/graph/people.ts) */
  graph: AccessGraph;
  organization: NodeId;
  /** all organizations of the tests; default: only that one */
  organizations?: ReadonlySet<NodeId>;
  names: Names;
  notVisible: readonly NotVisible[];
  /** access that the change gives, and for which only the run knows the holder, the place or the capabilities */
  notKnown?: readonly string[];
}

export interface TestContext extends Scene {
  /** where access counts for a test without a place */
  organizations: ReadonlySet<NodeId>;
  access: Access;
  /** for the questions about patterns, in one test */
  budget: Budget;
}

export interface Actor {
  identity: NodeId;
  /** `platform/release`, `review, which … can assume,` */
  words: string;
  /** false: it is unknown whether the test covers it, which counts as yes if it must not do something */
  isCertain: boolean;
}

// The input of tests: a policy without the network, or the live organization.

export type Built = { scene: Scene } | { mistakes: Mistake[] };

/** `bundles`: the capabilities of the built-in roles. */
export const policyScene = (policy: Policy, bundles: RoleBundles): Scene => {
  const { graph, organization, ...keys } = policyGraph(policy, emptyService(policy, bundles));
  const all = everyoneIn(graph, 0);
  return {
    graph: all,
    organization,
    names: namesIn([all], organization, { keys: { graph, ...keys } }),
    notVisible: [],
  };
};

/** A service that contains only the organization and the roles that the policy names. */
const emptyService = (policy: Policy, bundles: RoleBundles): AccessGraph => {
  const graph = newGraph();
  const { uid } = policy.organization;
  if (uid !== undefined) graph.groups.set(uid, { id: uid, uid, name: uid, parent: null });
  const given = [...policy.bindings, ...mappingsOf(policy)].map(({ role }) => role);
  // Every service has the role of owners, which paths lead to.
  for (const role of new Set(["owner", ...given])) {
    if (policy.roles.has(role)) continue;
    const capabilities = Object.hasOwn(bundles, role) ? (bundles[role] as readonly string[]).toSorted() : [];
    graph.roles.set(`role ${role}`, { id: `role ${role}`, uid: null, name: role, group: null, capabilities });
  }
  return graph;
};

/** `organization`: its name or uid, if no policy names it. */
export const liveScene = (
  { graph, notVisible }: Live,
  { policy, organization: text }: { policy?: Policy; organization?: string },
  nowMs: number,
): Built => {
  const wanted = policy && policyGraph(policy, graph);
  if (wanted && wanted.mistakes.length > 0) return { mistakes: wanted.mistakes };
  const organization = wanted?.organization ?? organizationIn(graph, text);
  if (typeof organization !== "string") return { mistakes: [organization] };
  if (!graph.groups.has(organization)) {
    const seen = organizationsIn(graph).map(({ name }) => name);
    const name = policy?.organization.name ?? organization;
    return {
      mistakes: [
        { path: "organization", text: `the API shows no organization ${name}; it shows ${seen.join(", ") || "none"}` },
      ],
    };
  }
  const all = everyoneIn(graph, nowMs);
  return { scene: { graph: all, organization, names: namesIn([all], organization, { keys: wanted }), notVisible } };
};

/** By name or uid. */
export const organizationsNamed = (graph: AccessGraph, text: string): GroupNode[] =>
  organizationsIn(graph).filter(({ id, name }) => (isUidp(text) ? id : name) === text);

export const organizationIn = (graph: AccessGraph, text: string | undefined): NodeId | Mistake => {
  const all = organizationsIn(graph);
  const [one, another] = text === undefined ? all : organizationsNamed(graph, text);
  if (one !== undefined && another === undefined) return one.id;
  const seen = all.map(({ id, name }) => `${name} ${id}`).sort();
  const list = seen.join(", ") || "none";
  return one === undefined
    ? {
        path: "organization",
        text: `the API shows no organization${text === undefined ? "" : ` ${text}`}; it shows ${list}`,
      }
    : { path: "organization", text: `which one? Give organization: UID in the file of tests; the API shows ${list}` };
};
