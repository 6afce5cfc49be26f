// An organization with an owner and the identity ci, and what the rules find in a change of it.
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import type { Finding } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, bind, ROOT, uidIn } from "../graphs.ts";
import { proposalBetween } from "../proposals.ts";

export const TEAM = uidIn(ROOT, 1);
export const OWNER = uidIn(ROOT, 2);
export const CI = uidIn(ROOT, 3);
export const GITHUB = "https://token.actions.githubusercontent.com";
const ROLES = {
  owner: ["role_bindings.create", "repo.list"],
  viewer: ["repo.list", "apk.blobs.get"],
  publisher: ["repo.create"],
};
export const role = (name: keyof typeof ROLES) => name.length.toString(16).padStart(40, "f");
export const exactly = { issuer: GITHUB, subject: "repo:acme/images:ref:refs/heads/main" };

/** An organization with an owner, and ci as `claimMatch` has it. */
export const start = (claimMatch: Json | undefined = exactly): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ROOT, "dev", null);
  addGroup(graph, TEAM, "team", ROOT);
  for (const [name, capabilities] of Object.entries(ROLES)) {
    const id = role(name as keyof typeof ROLES);
    graph.roles.set(id, { id, uid: id, name, group: null, capabilities });
  }
  addIdentity(graph, OWNER, "boss", ROOT, exactly);
  if (claimMatch) addIdentity(graph, CI, "ci", ROOT, claimMatch);
  bind(graph, ROOT, OWNER, role("owner"));
  return graph;
};

export const proposal = (
  before: GraphBuilder,
  change: (graph: GraphBuilder) => void,
  own?: Partial<Proposal>,
): Proposal => {
  const after = newGraph(before);
  change(after);
  return proposalBetween(before, after, own);
};

export const OPTIONS = { notVisible: [], nowMs: 0, deny: [], allow: [] } as const;

export const findings = (
  before: GraphBuilder,
  change: (graph: GraphBuilder) => void,
  own?: Partial<Proposal>,
): Finding[] => reviewOf(proposal(before, change, own), OPTIONS).report.findings;

export const foundSubjects = (...given: Parameters<typeof findings>): string[] =>
  findings(...given).map(({ rule, subject }) => `${rule} ${subject}`);

export const NEW = "urn:pulumi:dev::p::t::x";
export const withClaimMatch = (claimMatch: Json) => (graph: GraphBuilder) =>
  void addIdentity(graph, CI, "ci", ROOT, claimMatch);
