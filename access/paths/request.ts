// The requests of a path, while it is searched: each knows the requests that come before it, so that a path is a request and all that it
// needs, in order.
import { capabilityFrom, type Json, operations, unservedMethods, VERSION } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import type { StepMethod } from "./methods.ts";

/** A record: one of the graph, or the one that a request creates. */
export type Subject = NodeId | Request;

/** Who sends a request: an identity, or the workload that starts the path, with its own token. */
export type Sender = Subject | "workload";

export interface Request {
  as: Sender;
  operation: StepMethod;
  /** of the record or the group in the path; absent: the path has none */
  at?: Subject;
  /** what follows the question mark */
  query?: (uidOf: UidOf) => string;
  body: ((uidOf: UidOf) => Json) | null;
  /** one sentence */
  why: string;
  /** what must have happened before */
  after: readonly Request[];
}

/** The uid of a subject as a path writes it: `${N.uid}` of what step N creates. */
export type UidOf = (subject: Subject) => string;

/** A step of a path, as it is printed. */
export interface Step {
  /** uid of an identity, or `workload` */
  as: string;
  method: string;
  path: string;
  body: Json | null;
  why: string;
}

/** Capabilities as a request has them. */
export const wireNames = (capabilities: readonly string[]): string[] =>
  capabilities.map((one) => capabilityFrom(one) ?? one);

/** The requests and all that they need, each once, in the order in which they can be sent. */
export const inOrder = (requests: Iterable<Request>): Request[] => {
  const ordered = new Set<Request>();
  const add = (request: Request): void => {
    if (ordered.has(request)) return;
    request.after.forEach(add);
    ordered.add(request);
  };
  for (const request of requests) add(request);
  return [...ordered];
};

/** `uidOf`: of a record of the graph. */
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

const methodNamed = (operation: StepMethod): { method: string; path: string } => {
  if (operation in operations) return operations[operation as keyof typeof operations];
  const found = unservedMethods.find(({ service, name }) => `${service}/${name}` === operation);
  if (found === undefined) throw new TypeError(`there is no method ${operation}`);
  return found;
};
