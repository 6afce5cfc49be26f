// What a test runs on, and whom it is about.

import { isUidp, type RoleBundles } from "../../schema/index.ts";
import type { Access } from "../graph/effective-access.ts";
import {
  type AccessGraph,
  type GraphBuilder,
  type GroupNode,
  type NodeId,
  newGraph,
  organizationsIn,
} from "../graph/graph.ts";
import type { Live, NotVisible } from "../graph/live.ts";
import { everyoneIn } from "../graph/people.ts";
import type { Budget } from "../pattern/budget.ts";
import { policyGraph } from "../policy/graph.ts";
import type { Policy } from "../policy/policy.ts";
import type { Mistake } from "../policy/source.ts";
import { type Names, namesIn } from "./names.ts";

export interface Scene {
  /** with people (access/graph/people.ts) */
  graph: AccessGraph;
  organization: NodeId;
  /** all that the tests are about; default: that one */
  organizations?: ReadonlySet<NodeId>;
  names: Names;
  notVisible: readonly NotVisible[];
  /** access that the change brings, and of which only the run knows to whom, where or what */
  notKnown?: readonly string[];
}

export interface TestContext extends Scene {
  /** where access counts for a test without a place */
  organizations: ReadonlySet<NodeId>;
  access: Access;
  /** for the questions about patterns, of one test */
  budget: Budget;
}

export interface Actor {
  identity: NodeId;
  /** `platform/release`, `review, which … can assume,` */
  words: string;
  /** false: it is not known whether the test is about it, which counts as yes where it must not do something */
  isCertain: boolean;
}

// What tests run on: a policy alone, without the network, or the live organization.

export type Built = { scene: Scene } | { mistakes: Mistake[] };

/** `bundles`: what the built-in roles grant. */
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

/** A service that has the organization and the roles that the policy names, and nothing else. */
const emptyService = (
  { organization: { uid }, bindings, people, roles }: Policy,
  bundles: RoleBundles,
): AccessGraph => {
  const graph: GraphBuilder = newGraph();
  if (uid !== undefined) graph.groups.set(uid, { id: uid, uid, name: uid, parent: null });
  const given = [...people.values()].flatMap(({ externalGroups }) => [...externalGroups.values()].flat());
  // Every service has the role of owners, which paths lead to.
  for (const role of new Set(["owner", ...bindings.map((one) => one.role), ...given])) {
    if (roles.has(role)) continue;
    const capabilities = Object.hasOwn(bundles, role) ? (bundles[role] as readonly string[]).toSorted() : [];
    graph.roles.set(`role ${role}`, { id: `role ${role}`, uid: null, name: role, group: null, capabilities });
  }
  return graph;
};

/** `organization`: its name or uid, where there is no policy that says it. */
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
