// What tests run on: a policy alone, without the network, or the live organization.
import { isUidp, type RoleBundles } from "../../schema/index.ts";
import {
  type AccessGraph,
  type GraphBuilder,
  type GroupNode,
  type NodeId,
  newGraph,
  organizationsIn,
} from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { everyoneIn } from "../graph/people.ts";
import { policyGraph } from "../policy/graph.ts";
import type { Policy } from "../policy/policy.ts";
import type { Mistake } from "../policy/source.ts";
import { namesIn } from "./names.ts";
import type { Scene } from "./scene.ts";

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
