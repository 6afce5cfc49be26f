// The start of a path: an identity that someone controls today, or a workload with its token. A path that changes who may assume an
// identity gives it to the workload that starts the path.
import type { Json } from "../../schema/index.ts";
import type { IdentityNode, NodeId } from "../graph/graph.ts";
import type { Budget } from "../pattern/budget.ts";
import { text } from "../pattern/language.ts";
import type { TokenWorkload } from "../workload/token.ts";
import { canBeAssumedBy, workloadsOf } from "../workload/workload.ts";
import { NO_REQUESTS, type Request, send, senderOf, type Way } from "./reached.ts";
import type { World } from "./world.ts";

export type From = { identity: NodeId } | { workload: WorkloadClaims };

export interface WorkloadClaims {
  issuer: string;
  subject: string;
  /** further claims that it needs to assume the first identity */
  claims?: Readonly<Record<string, string>>;
}

/** The workload that starts a path. */
interface Starter {
  /** the relationship by which an identity trusts this workload */
  relationship: Json;
  /** of a workload with a token */
  claims?: WorkloadClaims;
  /** why a path that gives an identity to it cannot be carried out on a reference server */
  assumption?: string;
}

export interface Start {
  from: From;
  starter: Starter;
  /** identities under its control, and the ways to them; with an assumption if their patterns cannot be decided */
  controlled: ReadonlyMap<NodeId, Way>;
}

interface StartOptions {
  /** audience of the API: its address */
  audience: string;
  /** also includes the other identities that the workload may assume */
  others: boolean;
  budget: Budget;
}

export const startOfIdentity = (world: World, identity: IdentityNode, options: StartOptions): Start => {
  const { id, relationship } = identity;
  const starter = starterOf(relationship, options.budget);
  const start: Start = { from: { identity: id }, starter, controlled: new Map([[id, NO_REQUESTS]]) };
  return options.others ? withOthers(world, start, options) : start;
};

/** One start for each choice among the workloads that `relationship` describes; usually one. */
export const startsOfWorkload = (world: World, relationship: Json, options: StartOptions): Start[] => {
  const { budget } = options;
  const workloads = workloadsOf(relationship);
  const starts: Start[] = [];
  const add = (starter: Starter) => {
    const from: From = { workload: starter.claims ?? { issuer: "", subject: "" } };
    starts.push(withOthers(world, { from, starter, controlled: new Map() }, options));
  };
  add(starterOf(relationship, budget));
  for (const { id, relationship: trusted } of world.graph.identities.values()) {
    if (starts.some(({ controlled }) => controlled.has(id))) continue;
    if (trusted === null || world.bindingsOf(id).length === 0) continue;
    const answer = canBeAssumedBy(trusted, workloads, budget);
    if (answer.is === "yes" && answer.example.iss !== undefined) add(starterFrom(answer.example));
  }
  return starts;
};

const starterOf = (relationship: Json | null, budget: Budget): Starter => {
  const { claimMatch, staticKeys, awsIdentity } = (relationship ?? {}) as Record<string, Json | undefined>;
  if (claimMatch) {
    const answer = canBeAssumedBy({ claimMatch }, workloadsOf({ claimMatch }), budget);
    return answer.is === "yes" ? starterFrom(answer.example) : UNKNOWN_STARTER("its patterns cannot be decided");
  }
  if (staticKeys) {
    const { issuer, subject, issuerKeys } = staticKeys;
    return {
      relationship: { staticKeys: { issuer, subject, issuerKeys } },
      claims: { issuer: String(issuer), subject: String(subject) },
      assumption: "the identity that it takes was created less than 365 days ago, so that it may get keys",
    };
  }
  if (awsIdentity)
    return {
      relationship: { awsIdentity },
      assumption: "the service proves principals of AWS, as a reference server does not",
    };
  return UNKNOWN_STARTER("it is not visible which workload it is, or it is a person");
};

const UNKNOWN_STARTER = (why: string): Starter => ({
  relationship: { claimMatch: { issuer: "<issuer of its own workload>", subject: "<subject of its own workload>" } },
  assumption: `the caller has its own workload: ${why}`,
});

const starterFrom = ({ iss = "", sub = "", ...claims }: Readonly<Record<string, string>>): Starter => ({
  relationship: { claimMatch: { issuer: iss, subject: sub } },
  claims: { issuer: iss, subject: sub, ...(Object.keys(claims).length > 0 && { claims }) },
});

const withOthers = (world: World, start: Start, { audience, budget }: StartOptions): Start => {
  const { claims, assumption } = start.starter;
  if (claims === undefined || assumption !== undefined) return start;
  const workload: TokenWorkload = {
    kind: "token",
    issuer: text(claims.issuer),
    subject: text(claims.subject),
    claims: new Map(Object.entries(claims.claims ?? {}).map(([name, value]) => [name, text(value)])),
  };
  const controlled = new Map(start.controlled);
  for (const identity of world.graph.identities.values()) {
    const { id, relationship } = identity;
    if (controlled.has(id) || relationship === null || world.bindingsOf(id).length === 0) continue;
    if (isOtherText(relationship, claims)) continue;
    const answer = canBeAssumedBy(relationship, [workload], budget);
    if (answer.is === "no") continue;
    const {
      audience: own,
      audiencePattern,
      claims: exact = {},
      claimPatterns = {},
    } = (relationship.claimMatch ?? {}) as Json;
    const wanted = [...Object.keys(exact as Json), ...Object.keys(claimPatterns as Json)];
    const isCertain = answer.is === "yes" && wanted.every((name) => claims.claims?.[name] !== undefined);
    const isPlain = own === undefined && audiencePattern === undefined;
    const assume = exchange(id, audience, `the workload assumes identity ${identity.name}, which trusts it`);
    controlled.set(id, send(NO_REQUESTS, assume, isCertain && isPlain ? "" : PERHAPS));
  }
  return { ...start, controlled };
};

const PERHAPS = "the workload may assume the identity, which its patterns or further claims leave open";

/** Most identities trust one exact subject: no automaton is needed for them. */
const isOtherText = ({ claimMatch }: Json, { issuer, subject }: WorkloadClaims) => {
  const { issuer: iss, subject: sub } = (claimMatch ?? {}) as { issuer?: string; subject?: string };
  return (iss !== undefined && iss !== "" && iss !== issuer) || (sub !== undefined && sub !== "" && sub !== subject);
};

/** The workload exchanges its token for one of the identity. */
const exchange = (identity: NodeId, audience: string, why: string): Omit<Request, "after"> => ({
  as: "workload",
  operation: "ExchangeGet",
  query: (uidOf) => `${new URLSearchParams({ aud: audience })}&identity=${uidOf(identity)}`,
  body: null,
  why,
});

/** `who` lets the starting workload assume the identity, and the workload does so. */
export const takeOver = (
  { nameOf }: World,
  { relationship, assumption = "" }: Starter,
  audience: string,
  { who, identity }: { who: NodeId; identity: NodeId },
  way: Way,
  obstacle = "",
): Way => {
  const name = nameOf(identity);
  const change: Omit<Request, "after"> = {
    as: senderOf(who),
    operation: "UpdateIdentity",
    at: identity,
    query: () => `updateMask=${Object.keys(relationship)[0]}`,
    body: () => relationship,
    why: `${nameOf(who)} may change identity ${name}, and lets the workload assume it`,
  };
  const assume = exchange(identity, audience, `the workload assumes identity ${name}`);
  return send(send(way, change, obstacle), assume, assumption);
};
