// The HTTP side of the table of methods: path templates of google.api.http to routes, for every version that is served.
// Verb suffixes and sub-paths win over the bare wildcard (docs/internals/contract.md#paths).
import {
  type HttpMethod,
  type Operation,
  type OperationName,
  operations,
  unservedMethods,
  VERSIONS,
} from "../../schema/index.ts";
import { type Side, sideOf } from "../connection/bounds.ts";

interface Route {
  method: HttpMethod;
  /** the first segments, the key of the look-up */
  bucket: string;
  pattern: RegExp;
  /** characters of the template outside wildcards: more is more specific */
  literal: number;
  /** fields of the request in the path, in order */
  fields: string[];
  /** undefined: published, not served (docs/internals/contract.md#d31) */
  operation?: OperationName;
  name: string;
  service: string;
}

export type Match =
  | { kind: "route"; route: Route; path: Record<string, string> }
  | { kind: "unserved"; route: Route }
  | { kind: "method"; allow: readonly HttpMethod[]; service: string }
  | { kind: "path" };

export const createRouter = (side: Side): ((method: string, path: string) => Match) => {
  const served = Object.entries(operations as Record<string, Operation>)
    .filter(([, { service }]) => side === "both" || sideOf(service) === side)
    .flatMap(([name, row]) =>
      versionPaths(row.path).map((path) => ({ ...routeOf(row, path, name), operation: name as OperationName })),
    );
  // Refused on either port.
  const unserved = unservedMethods.flatMap((row) => versionPaths(row.path).map((path) => routeOf(row, path, row.name)));
  const buckets = Map.groupBy<string, Route>([...served, ...unserved], ({ bucket }) => bucket);
  for (const bucket of buckets.values()) bucket.sort((a, b) => b.literal - a.literal);

  return (method, path) => {
    const matching = (buckets.get(bucketOf(path)) ?? []).filter(({ pattern }) => pattern.test(path));
    const [first] = matching;
    if (!first) return { kind: "path" };
    // The most specific path decides; a bare wildcard never serves another method's verb.
    const level = matching.filter(({ literal }) => literal === first.literal);
    const route = level.find((candidate) => candidate.method === method);
    if (!route) return { kind: "method", allow: level.map((candidate) => candidate.method), service: first.service };
    if (!route.operation) return { kind: "unserved", route };
    const values = route.pattern.exec(path)?.slice(1) ?? [];
    const fields = route.fields.map((field, i) => [field, decodeSegment(values[i] ?? "")]);
    return { kind: "route", route, path: Object.fromEntries(fields) };
  };
};

const versionPaths = (path: string) =>
  path.includes("{version}") ? VERSIONS.map((version) => path.replace("{version}", version)) : [path];

const routeOf = (row: { method: HttpMethod; service: string }, path: string, name: string): Route => {
  const fields: string[] = [];
  // Only the parent of a create may be empty, with or without the slash before it (docs/internals/contract.md#paths).
  const source = path
    .split(/(\/?\{[^}]+\})/)
    .map((part) => {
      const [, slash, field, wildcard] = /^(\/?)\{([^=}]+)(=\*\*)?\}$/.exec(part) ?? [];
      if (!field) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      fields.push(field);
      if (row.method === "POST" && wildcard && path.endsWith(part)) return `(?:${slash}(.*))?`;
      return `${slash}(${wildcard ? ".+" : "[^/]+"})`;
    })
    .join("");
  const literal = path.replace(/\/?\{[^}]+\}/g, "").length;
  const pattern = new RegExp(`^${source}$`, "s");
  return { method: row.method, bucket: bucketOf(path), pattern, literal, fields, name, service: row.service };
};

// `/iam/v2beta1/groups:lookupGroup` and `/iam/v2beta1/groups/…` share a bucket.
const bucketOf = (path: string) => (path.split("/", 4).join("/").split(/[:{]/, 1)[0] as string).replace(/\/$/, "");

const decodeSegment = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoding: the decoder refuses the value as a uid, with its path.
    return text;
  }
};
