// An organization with an owner and the identity ci, and what a review finds in a change of it.
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import type { Finding, Report, RuleName } from "../../../access/review/report.ts";
import { allowanceFrom } from "../../../access/review/rules-file.ts";
import type { Json } from "../../../schema/index.ts";
import { addIdentity, bind, changed, graphOf, proposalBetween, ROOT, roleUid, uid } from "../graphs.ts";

export const TEAM = uid("team");
export const OWNER = uid("boss");
export const CI = uid("ci");
export const NEW = "urn:pulumi:dev::p::t::x";
export const GITHUB = "https://token.actions.githubusercontent.com";
export const exactly = { issuer: GITHUB, subject: "repo:acme/images:ref:refs/heads/main" };

export const start = (claimMatch: Json = exactly): GraphBuilder =>
  graphOf({
    name: "dev",
    groups: ["team"],
    roles: {
      owner: ["role_bindings.create", "repo.list"],
      ...{ viewer: ["repo.list", "apk.blobs.get"], publisher: ["repo.create"] },
    },
    identities: { boss: exactly, ci: claimMatch },
    access: { "/": { owner: ["boss"] } },
  });

export type Change = (graph: GraphBuilder) => unknown;

export const give =
  (role: string, group = TEAM, identity = CI): Change =>
  (graph) =>
    bind(graph, group, identity, roleUid(role));

export const withClaimMatch =
  (claimMatch: Json): Change =>
  (graph) =>
    addIdentity(graph, CI, "ci", ROOT, claimMatch);

type Options = Parameters<typeof reviewOf>[1];
interface Further extends Partial<Omit<Options, "allow" | "notVisible">> {
  proposal?: Partial<Proposal>;
  /** RULE@SUBJECT */
  allow?: readonly string[];
  /** of which kind records of a group cannot be listed */
  hidden?: readonly [ListedKind, group: string][];
}

export const review = (before: GraphBuilder, change: Change, further: Further = {}) => {
  const { proposal, allow = [], hidden = [], ...options } = further;
  return reviewOf(proposalBetween(before, changed(before, change), proposal), {
    ...{ nowMs: 0, deny: [], ...options },
    notVisible: hidden.map(([kind, group]) => ({ kind, group, message: "hidden" })),
    allow: allow.map((one) => allowanceFrom(one) as never),
  });
};

export const findingsOf = (report: Report, ...rules: RuleName[]): Finding[] =>
  report.findings.filter(({ rule }) => rules.length === 0 || rules.includes(rule));

export const findings = (before: GraphBuilder, change: Change, proposal?: Partial<Proposal>): Finding[] =>
  review(before, change, proposal && { proposal }).report.findings;

export const foundSubjects = (...given: Parameters<typeof findings>): string[] =>
  findings(...given).map(({ rule, subject }) => `${rule} ${subject}`);
