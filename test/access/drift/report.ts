// Reports of drift of runs on a copy that tests write by hand.
import { type Call, methodOf } from "../../../access/change/methods.ts";
import { writesFrom } from "../../../access/change/write.ts";
import type { Copy } from "../../../access/copy/copy.ts";
import type { DriftService } from "../../../access/drift/facts.ts";
import { type DriftInput, driftOf } from "../../../access/drift/index.ts";
import type { Drift, DriftReport, UndeclaredAccess } from "../../../access/format/drift.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import type { PullToken } from "../../../access/query/pull-tokens.ts";
import { bundlesIn } from "../../../access/roles/change.ts";
import { proposalFromRun } from "../../../access/run/proposal.ts";
import type { RunRecord } from "../../../access/run/record.ts";
import { managedIn } from "../../../access/run/stack.ts";
import type { StateResource } from "../../../pulumi/state.ts";
import { SECRET_SIGNATURE, SIGNATURE } from "../../../pulumi/value.ts";
import type { Json, OperationName } from "../../../schema/index.ts";
import { ROOT, uid } from "../graphs.ts";
import { CI, liveWith, NOW_MS, TEAM, urnOf, VIEWER } from "../team.ts";

export const NO_DRIFT: DriftReport = {
  ...{ drift: [], undeclared: [], roles: [], keys: [], pullTokens: [], pending: [], unknown: [], notVisible: [] },
};

export const DRIFT: Drift = {
  ...{ resource: "urn:pulumi:dev::access::irm:index:Group::team", kind: "group", uid: uid("team"), name: "team" },
  ...{ groupName: "platform/team", change: "changed" },
  differences: [{ path: "description", program: "a", live: "b", changedIn: "service" }],
};
export const UNDECLARED: UndeclaredAccess = {
  ...{ kind: "role binding", uid: uid("binding"), name: "ci", identity: uid("ci"), group: ROOT, groupName: "/" },
  role: "owner",
};
export const PULL_TOKEN: PullToken = {
  ...{ uid: uid("x"), name: "x", group: uid("team"), groupName: "team", role: "apk.pull", binding: uid("bound") },
  ...{ created: "2026-11-01T00:00:00Z", ageDays: 1, expires: "2026-12-01T00:00:00Z" },
  ...{ lastSeen: "2026-11-01T00:00:00Z", state: "ending", more: [], complete: true },
};

export const TEAM_INPUTS = { name: "team", parent: ROOT, __service: "https://irm.example.com" };

export const resource = (type: string, name: string, id: string, inputs: Json, outputs: Json = {}): StateResource => ({
  ...{ urn: urnOf(type, name), type: `irm:index:${type}`, id, inputs, outputs },
});

export const TEAM_RESOURCE = resource("Group", "team", TEAM, TEAM_INPUTS);

export const VIEWER_OUTPUTS = { identity: { uid: CI }, role: { uid: VIEWER } };

export const step = (op: string, type: string, name: string, error?: string): RunRecord["steps"][number] => ({
  ...{ urn: urnOf(type, name), op, ok: error === undefined },
  ...(error !== undefined && { error }),
});

export const create = (method: OperationName, parent: string, uid: string, own: Json): Call => ({
  ...{ method, request: { parent, [fieldOf(method)]: own }, response: { uid, ...own } },
});
export const update = (method: OperationName, uid: string, own: Json): Call => ({
  method,
  request: { [fieldOf(method)]: { uid, ...own }, updateMask: Object.keys(own).join() },
  response: { uid, ...own },
});
export const remove = (method: OperationName, uid: string): Call => ({ method, request: { uid }, response: {} });

const fieldOf = (method: OperationName): string => methodOf(method).field as string;

/** As `pulumi stack export --show-secrets` prints it. */
export const secret = (plaintext: string): Json => ({
  ...{ [SIGNATURE]: SECRET_SIGNATURE, plaintext: JSON.stringify(plaintext) },
});

interface Run extends Partial<Omit<RunRecord, "normal">> {
  calls?: Call[];
  secrets?: string[];
  doubts?: string[];
  /** what the graph does not have of records */
  records?: Record<string, Json>;
}

/** The stack is the same before the run and after it, where the test does not say more. */
export const report = (
  { calls = [], secrets = [], records = {}, doubts = [], stored = [TEAM_RESOURCE], left = stored, ...run }: Run = {},
  live: Live = liveWith(),
  own: Partial<DriftInput> & Partial<Pick<DriftService, "proposal">> = {},
): DriftReport => {
  const normal = writesFrom(calls, { secrets });
  const gone = new Set(calls.flatMap(({ method, request }) => (method === "DeleteRoleBinding" ? [request.uid] : [])));
  const after = newGraph(live.graph);
  for (const id of [...after.bindings.keys()]) if (gone.has(id)) after.bindings.delete(id);
  const proposal = proposalFromRun({
    ...{ before: live.graph, after, stored: managedIn(stored), left: managedIn(left), held: [], unknown: [] },
    ...{ ending: new Set(), isSecret: () => false },
  });
  return driftOf({
    run: { stored, left, begun: [], steps: [], errors: [], notRun: [], ...run, normal },
    preview: {
      steps: [{ op: "same", urn: urnOf("Group", "team") }],
      unreadable: [],
      doubts,
    },
    services: [
      {
        ...{ address: "https://irm.example.com", isFirst: true, copy: copyOf(live, records), live, proposal },
        ...{ isHere: () => true, recorded: { date: "", roles: bundlesIn(live.graph) }, ...own },
      } as DriftService,
    ],
    ...{ entries: [], callers: new Set<string>(), allowed: new Set<string>(), nowMs: NOW_MS },
    ...own,
  });
};

const copyOf = ({ graph }: Live, own: Record<string, Json>): Copy => {
  const listOf = <T extends { id: string }>(nodes: ReadonlyMap<string, T>, fieldsOf: (node: T) => Json) =>
    [...nodes.values()].map((node) => ({ uid: node.id, ...fieldsOf(node), ...own[node.id] }));
  return {
    records: {
      groups: listOf(graph.groups, ({ name }) => ({ name })),
      identities: listOf(graph.identities, ({ name, relationship }) => ({ name, ...(relationship as Json) })),
      roles: listOf(graph.roles, ({ name, capabilities }) => ({ name, capabilities })),
      roleBindings: listOf(graph.bindings, ({ identity, role }) => ({ identityUid: identity, roleUid: role })),
      identityProviders: listOf(graph.providers, ({ name }) => ({ name })),
      repos: Object.entries(own).flatMap(([uid, record]) => (record.bundles ? [{ uid, ...record }] : [])),
    },
    named: { groups: [], roles: [], identities: [] },
  } as unknown as Copy;
};
