// The writes that a run on a copy has sent, by the resource that sent them: the requested values, and the values that the record had
// before. Both use the names of arguments, and mark secrets and values that only the update knows.

import type { StateResource } from "../../pulumi/state.ts";
import { ourTypeOf } from "../../pulumi/urn.ts";
import { SECRET, UNKNOWN } from "../../pulumi/value.ts";
import {
  ancestorsOf,
  argumentsOf,
  fieldInfo,
  fieldPaths,
  inputFields,
  type Json,
  type Message,
  normalForm,
  outputsOf,
  parentOf,
  type Resource,
  resources,
  valueAt,
} from "../../schema/index.ts";
import { canonical } from "../canonical.ts";
import { methodOf, type WriteMethod } from "../change/methods.ts";
import type { Text } from "../change/text.ts";
import { encodeFields, resolveValue } from "../change/value.ts";
import { type Normal, partOf, type Write, withValue } from "../change/write.ts";
import { type Copy, recordsIn } from "../copy/copy.ts";
import type { AccessGraph } from "../graph/graph.ts";
import { bindingsOf, managedIn } from "../run/stack.ts";
import { mapTexts } from "./differences.ts";

export const SET = "RoleBindingSet";

export interface Sent {
  verb: WriteMethod["verb"];
  resource: Resource;
  uid: string;
  /** absent: the record is deleted */
  program?: Json;
  /** absent: the record is new. For an update, the fields of its mask */
  live?: Json;
}

/** Converts a text of the run to the form that a person may see. */
export const shownBy =
  ({ encodeText }: Pick<Normal, "encodeText">) =>
  (value: unknown): unknown =>
    mapTexts(value, (text) => resolved(encodeText(text)));

const resolved = (value: unknown) => resolveValue(value, { uidOf: () => UNKNOWN, hidden: SECRET });

/** The arguments of a record in the copy, by type and uid. */
type RecordOf = (type: string, uid: string) => Json | undefined;

export const recordsOf = (copy: Copy, { encodeText }: Pick<Normal, "encodeText">): RecordOf => {
  const byPlural = new Map(Object.values<Resource>(resources).map((one) => [one.plural, one]));
  const all = new Map(
    recordsIn(copy).map(([plural, record]) => {
      const resource = byPlural.get(plural) as Resource;
      return [`${resource.type} ${record.uid}`, { resource, record }];
    }),
  );
  return (type, uid) => {
    const found = all.get(`${type} ${uid}`);
    if (found === undefined) return undefined;
    const { schema } = found.resource;
    const fields = encodeFields(schema, normalForm(schema, found.record), { encodeText, orderOf: canonical });
    return withNames(schema, resolved(fields) as Json);
  };
};

const withNames = (schema: Message, fields: Json): Json => {
  const names = argumentsOf(schema);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));
};

/** The arguments of the last update, and the other values of the record at that time. A built-in role is its uid, as in a write. */
export const baseOf = (
  resource: Resource,
  { inputs, outputs }: Record<"inputs" | "outputs", Json>,
  builtIn: ReadonlyMap<string, string>,
): Json => {
  const { schema } = resource;
  const [names, outs] = [argumentsOf(schema), outputsOf(schema)];
  const fields = inputFields(schema).map((name): [string, unknown] => {
    const value = inputs[names[name] ?? name] ?? outputs[outs[name] ?? name];
    const isRole = fieldInfo(schema.shape[name] as Message["shape"][string]).references === "Role";
    return [name, isRole ? roleIn(value, builtIn) : value];
  });
  return withNames(schema, normalForm(schema, Object.fromEntries(fields), SECRET));
};

export const roleIn = (value: unknown, builtIn: ReadonlyMap<string, string>): unknown =>
  typeof value === "string" ? (builtIn.get(value) ?? value) : value;

/** uids of the built-in roles by name */
export const builtInRoles = ({ roles }: AccessGraph): Map<string, string> =>
  new Map([...roles.values()].filter(({ group }) => group === null).map(({ id, name }) => [name, id]));

interface SendingInput {
  normal: Normal;
  writes: readonly Write[];
  recordOf: RecordOf;
  stored: readonly StateResource[];
  left: readonly StateResource[];
}

export const sendingOf = ({ normal, writes, recordOf, stored, left }: SendingInput) => {
  const owners = ownersOf(stored, left);
  const going = new Set(stored.flatMap(({ id }) => (typeof id === "string" ? [id] : [])));
  const byUrn = new Map<string, Sent[]>();
  /** writes to records that no resource has, and that are not inside a deleted record */
  const others: Sent[] = [];
  for (const write of writes) {
    const sent = sentBy(write, normal, recordOf);
    const urn = owners.get(`${sent.resource.type} ${sent.uid}`) ?? owners.get(setKeyOf(sent));
    if (urn !== undefined) byUrn.set(urn, [...(byUrn.get(urn) ?? []), sent]);
    // A forced deletion includes the contents of the record.
    else if (sent.verb !== "delete" || !ancestorsOf(sent.uid).some((uid) => going.has(uid))) others.push(sent);
  }
  return { byUrn, others };
};

/** URN by record. A set owns the role bindings that it declares, and those of its group that no resource has. */
const ownersOf = (stored: readonly StateResource[], left: readonly StateResource[]): Map<string, string> => {
  // The resources of the stack after the run take precedence.
  const all = [...stored, ...left];
  const { type } = resources.roleBinding;
  const ofSets = managedIn(all)
    .filter(({ kind }) => kind === "roleBindingSet")
    .flatMap((one) => bindingsOf(one).map(({ id }) => [`${type} ${id}`, one.urn] as const));
  return new Map([...ofSets, ...all.map(({ urn, id }) => [`${ourTypeOf(urn)} ${String(id)}`, urn] as const)]);
};

const setKeyOf = ({ resource, uid }: Sent) =>
  resource.type === resources.roleBinding.type ? `${SET} ${parentOf(uid)}` : "";

const sentBy = ({ n, method, parent, uid: given, fields, mask }: Write, normal: Normal, recordOf: RecordOf): Sent => {
  const { verb, resource, schema } = methodOf(method);
  const made = (text: Text | undefined) =>
    String(resolveValue(text ?? "", { uidOf: (one) => normal.uids.get(one) ?? "", hidden: SECRET }));
  const uid = verb === "create" ? (normal.uids.get(n) ?? made(parent)) : made(given);
  const head = { verb, resource, uid };
  const record = verb === "create" ? undefined : (recordOf(resource.type, uid) ?? {});
  if (verb === "delete") return { ...head, live: record as Json };
  const program = resolved(fields) as Json;
  if (record === undefined) return { ...head, program: withNames(schema, program) };
  const names = argumentsOf(schema);
  const paths = (mask ?? []).map((path) => path.replace(/^\w+/, (field) => names[field] ?? field));
  // The API does not return these: the record may have equal values.
  const secrets = fieldPaths(schema, ({ secret }) => secret === true).filter(
    (path) => valueAt(program, path) !== undefined,
  );
  const live = secrets.reduce((all, path) => withValue(all, path.split("."), SECRET), partOf(record, paths));
  return { ...head, program: withNames(schema, program), live };
};
