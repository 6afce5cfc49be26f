// A recorded write with the uids that the service assigned, and how a request compares with it. Both are in the normal form of their
// schema, so that a spelling, the order of a set or a default makes no difference.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Call, methodOf, type WriteMethod } from "../access/change/methods.ts";
import { requestOf } from "../access/change/request.ts";
import { partOf, topmost, type Write } from "../access/change/write.ts";
import {
  fieldPaths,
  isObject,
  isUidp,
  isWithin,
  type Json,
  type Message,
  normalForm,
  parseMask,
  valueAt,
} from "../schema/index.ts";

/** Marks a hidden value. No program can guess it. */
const MARK = randomUUID();

export interface Resolved {
  method: WriteMethod;
  /** of a create; "": a new organization */
  parent?: string;
  /** of an update and a delete */
  uid?: string;
  /** in normal form; a hidden text is MARK */
  fields: Json;
  /** of an update: sorted, no path below another one */
  mask: readonly string[];
}

/** `uidOf`: the uid that the service assigned for a write */
export const resolvedWrite = (write: Write, uidOf: (n: number) => string): Resolved => {
  const { request } = requestOf(write, { uidOf, hidden: MARK });
  return resolvedRequest({ method: write.method as Call["method"], request });
};

/** The write that a request for one record asks for. `*` is a mask that no write of a change has. */
export const resolvedRequest = ({ method: name, request }: Pick<Call, "method" | "request">): Resolved => {
  const method = methodOf(name);
  const { verb, field, schema } = method;
  if (field === undefined) return { method, uid: request.uid as string, fields: {}, mask: [] };
  const own = (request[field] ?? {}) as Json;
  const fields = normalForm(schema, own);
  if (verb === "create") return { method, parent: (request.parent as string | undefined) ?? "", fields, mask: [] };
  const { paths, unknown } = parseMask(schema, (request.updateMask as string | undefined) ?? "");
  const mask = topmost([...paths, ...unknown]);
  return { method, uid: own.uid as string, fields: partOf(fields, mask), mask };
};

/**
 * The request that carries the write out; its hidden values come from the request that asks for it. For an update: only the paths that are
 * asked for. Or the paths in which the two differ.
 */
export const requestIfSame = (recorded: Resolved, asked: Resolved): { request: Json } | { differs: string[] } => {
  const { method, uid, fields, mask } = recorded;
  const { verb, field, schema } = method;
  if (field === undefined) return { request: { uid } };
  if (verb === "create") {
    // The service reads the path of a group as its uid. The gate sends the recorded uid.
    const isOtherSpelling = asked.parent !== "" && !isUidp(asked.parent);
    const isThere = asked.parent === recorded.parent || isOtherSpelling;
    const filled = fill(schema, fields, asked.fields);
    const differs = [...(isThere ? [] : ["parent"]), ...filled.differs];
    return differs.length > 0
      ? { differs }
      : { request: { ...(recorded.parent !== "" && { parent: recorded.parent }), [field]: filled.value } };
  }
  const beyond = asked.mask.filter((path) => !mask.some((own) => isWithin(path, own)));
  if (beyond.length > 0 || asked.mask.length === 0) return { differs: beyond.length > 0 ? beyond : ["updateMask"] };
  const { value, differs } = fill(schema, partOf(fields, asked.mask), asked.fields);
  if (differs.length > 0) return { differs };
  return { request: { [field]: { ...(value as Json), uid }, updateMask: asked.mask.join(",") } };
};

interface Filled {
  value: unknown;
  /** paths */
  differs: string[];
}

const fill = (schema: Message, recorded: Json, asked: Json): Filled => {
  const { value, differs } = fillValue(recorded, asked, "");
  // The service reads another text as the recorded uid, which the gate sends.
  const respelled = fieldPaths(schema, (info) => info.respelled === true).filter((path) => {
    const [own, other] = [valueAt(recorded, path), valueAt(asked, path)];
    return own !== undefined && typeof other === "string" && !isUidp(other);
  });
  return { value, differs: differs.filter((path) => !respelled.includes(path)) };
};

const fillValue = (recorded: unknown, asked: unknown, path: string): Filled => {
  if (recorded === MARK && asked !== undefined) return { value: asked, differs: [] };
  if (Array.isArray(recorded) && Array.isArray(asked)) return fillList(recorded, asked, path);
  if (!isObject(recorded) || !isObject(asked))
    return { value: recorded, differs: isDeepStrictEqual(recorded, asked) ? [] : [path] };
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(asked)])];
  const parts = names.map((name): [string, Filled] => [
    name,
    fillValue(recorded[name], asked[name], path === "" ? name : `${path}.${name}`),
  ]);
  const held = parts.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]]));
  return { value: Object.fromEntries(held), differs: parts.flatMap(([, { differs }]) => differs) };
};

const fillList = (recorded: readonly unknown[], asked: readonly unknown[], path: string): Filled => {
  const other = { value: recorded, differs: [path] };
  if (recorded.length !== asked.length) return other;
  const items = recorded.map((item, i) => fillValue(item, asked[i], path));
  if (items.every(({ differs }) => differs.length === 0))
    return { value: items.map(({ value }) => value), differs: [] };
  // The place of a hidden text in a set depends on the text.
  const known = recorded.filter((item) => item !== MARK);
  const isSet = known.length < recorded.length && known.every((item) => typeof item === "string");
  return isSet && known.every((item) => asked.includes(item)) ? { value: asked, differs: [] } : other;
};
