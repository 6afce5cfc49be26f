// Results of a search: capabilities that someone can reach at a group, and the requests for it.

import {
  capabilityFrom,
  getOrInsert,
  type Json,
  type OperationName,
  operations,
  unservedMethods,
  VERSION,
} from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import type { World } from "./world.ts";

/** `who` holds the capabilities at the group and below. */
export interface Held {
  who: NodeId;
  group: NodeId;
  capabilities: ReadonlySet<string>;
  role: NodeId;
  binding: Subject;
  /** all requests that lead here, in order */
  requests: readonly Request[];
  /** conditions besides the requests */
  assumptions: readonly string[];
  assumes: Assumes;
}

export type Way = Pick<Held, "requests" | "assumptions">;

export const NO_REQUESTS: Way = { requests: [], assumptions: [] };

/** The way with one more request, which may need an assumption. */
export const send = (way: Way, request: Omit<Request, "after">, assumption = ""): Way => ({
  requests: [...way.requests, { ...request, after: way.requests }],
  assumptions: assumption === "" ? way.assumptions : [...new Set([...way.assumptions, assumption])],
});

/** `strict`: by the rules of the reference server. `cautious`: only if the service or people allow what it assumes. */
export type Assumes = "strict" | "cautious";

export type Covered = ReturnType<typeof coveredIn>;

/** Capabilities by the groups where they are held. */
export const coveredIn = ({ lineage }: World) => {
  const known = new Map<NodeId, ReadonlySet<string>>();
  return {
    add: ({ group, capabilities }: Pick<Held, "group" | "capabilities">) => {
      const here = known.get(group);
      if (here === undefined) known.set(group, capabilities);
      else if (!capabilities.isSubsetOf(here)) known.set(group, here.union(capabilities));
    },
    hasAll: (group: NodeId, capabilities: Iterable<string>) => {
      const here = lineage(group).flatMap((one) => known.get(one) ?? []);
      for (const capability of capabilities) if (!here.some((held) => held.has(capability))) return false;
      return true;
    },
  };
};

export type Holdings = ReturnType<typeof holdingsIn>;

/** The access that identities hold so far, and the shortest ways to it. */
export const holdingsIn = (world: World) => {
  const known = new Map<NodeId, { all: Held[]; covered: Covered }>();
  const of = (who: NodeId) => known.get(who)?.all ?? [];
  const hasAll = (who: NodeId, capabilities: Iterable<string>, group: NodeId): boolean =>
    (known.get(who)?.covered ?? coveredIn(world)).hasAll(group, capabilities);
  return {
    of,
    hasAll,
    identities: () => [...known.keys()],
    add: (held: Held): void => {
      const { all, covered } = getOrInsert(known, held.who, () => ({ all: [], covered: coveredIn(world) }));
      all.push(held);
      covered.add(held);
    },
    /** The access by which `who` holds the capability at the group: if there are several, the one with the fewest requests. */
    find: (who: NodeId, capability: string, group: NodeId): Held | undefined => {
      if (!hasAll(who, [capability], group)) return undefined;
      const lineage = world.lineage(group);
      let best: Held | undefined;
      for (const held of of(who))
        if (held.capabilities.has(capability) && lineage.includes(held.group))
          if (best === undefined || held.requests.length < best.requests.length) best = held;
      return best;
    },
  };
};

/** The requests of several ways, each once. */
export const join = (...ways: readonly (Way | undefined)[]) => {
  const known = ways.filter((way) => way !== undefined);
  return {
    requests: inOrder(known.flatMap(({ requests }) => requests)),
    assumptions: [...new Set(known.flatMap(({ assumptions }) => assumptions))],
  };
};

// The requests of a path during a search: each refers to the requests before it, so that a path is a request and all its prerequisites, in
// order.

/** A record: one of the graph, or the one that a request creates. */
type Subject = NodeId | Request;

export interface Request {
  /** an identity, or the workload that starts the path, with its own token */
  as: Subject | "workload";
  /** by its name; for a method that the reference server does not serve, with its service */
  operation: OperationName | `${string}/${string}`;
  /** the record or the group in the path; absent: the path has none */
  at?: Subject;
  /** the query string */
  query?: (uidOf: UidOf) => string;
  body: ((uidOf: UidOf) => Json) | null;
  /** one sentence */
  why: string;
  /** the requests that must precede it */
  after: readonly Request[];
}

/** The uid of a subject in a path: `${N.uid}` for a record that step N creates. */
type UidOf = (subject: Subject) => string;

/** A step of a path, as it is printed. */
export interface Step {
  /** uid of an identity, or `workload` */
  as: string;
  method: string;
  path: string;
  body: Json | null;
  why: string;
}

/** A person who gets access by the record without being an identity of the graph. */
export const personBy = (record: NodeId): NodeId => `person ${record}`;
export const isPerson = (who: NodeId): boolean => who.startsWith("person ");
export const senderOf = (who: NodeId): NodeId | "workload" => (isPerson(who) ? "workload" : who);

/** Capabilities in the form of a request. */
export const wireNames = (capabilities: readonly string[]): string[] =>
  capabilities.map((one) => capabilityFrom(one) ?? one);

/** The requests and all their prerequisites, each once, in an order in which they can be sent. */
const inOrder = (requests: Iterable<Request>): Request[] => {
  const ordered = new Set<Request>();
  const add = (request: Request): void => {
    if (ordered.has(request)) return;
    request.after.forEach(add);
    ordered.add(request);
  };
  for (const request of requests) add(request);
  return [...ordered];
};

/** `uidOf`: the uid of a record of the graph. */
export const stepsOf = (requests: readonly Request[], uidOf: (node: NodeId) => string): Step[] => {
  const uidIn: UidOf = (subject) =>
    typeof subject === "string" ? uidOf(subject) : `\${${requests.indexOf(subject) + 1}.uid}`;
  return requests.map(({ as, operation, at, query, body, why }) => {
    const { method, path: template } = methodNamed(operation);
    const place = template.replace("{version}", VERSION);
    const filled = at === undefined ? place : place.replace(/\{[^}]*\}/, () => uidIn(at));
    return {
      as: as === "workload" ? as : uidIn(as),
      method,
      path: query === undefined ? filled : `${filled}?${query(uidIn)}`,
      body: body === null ? null : body(uidIn),
      why,
    };
  });
};

const methodNamed = (operation: Request["operation"]): { method: string; path: string } => {
  if (operation in operations) return operations[operation as keyof typeof operations];
  const found = unservedMethods.find(({ service, name }) => `${service}/${name}` === operation);
  if (found === undefined) throw new TypeError(`there is no method ${operation}`);
  return found;
};
