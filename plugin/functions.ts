// Functions: look-ups of one record and lists, for programs in any language. Results are the API's messages.
import provider, { type InvokeRequest, type InvokeResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import { listAll } from "../client/paginate.ts";
import { containsPlaceholder, placeholderUid } from "../client/placeholder-uid.ts";
import { getByUid, getIn, getNamed } from "../provider/engine/get.ts";
import { reporterWith } from "../provider/engine/report.ts";
import { builtInRoleUid, isRoleName } from "../provider/kind/built-in-role.ts";
import { kindRecords } from "../provider/kind/index.ts";
import { type Kind, TOKEN_PREFIX } from "../provider/record/kind.ts";
import { containsUnknown } from "../provider/record/normal-form.ts";
import type { Session } from "../provider/run/session.ts";
import { type Json, type LookUpMode, lookUpArguments } from "../schema/index.ts";
import type { Names } from "./names.ts";
import { Refusal } from "./status.ts";
import { containsSecret, markedFrom, plainFrom, Secret, structFrom } from "./value.ts";

type Invoke = (connect: () => Promise<Session>, args: Json) => Promise<Json>;

const kinds = Object.values<Kind>(kindRecords);

/** How the plugin answers a look-up, by its mode; `place` is the argument with the uid of the parent. */
const lookUps: Readonly<Record<LookUpMode, (kind: Kind, place: string) => Invoke>> = {
  name: (kind) => (connect, args) => getNamed(connect, kind, args as never),
  "uid or name": (kind, place) => (connect, args) => getIn(connect, kind, args, place),
  uid:
    (kind) =>
    (connect, { uid }) =>
      getByUid(connect, kind, uid),
  parent: (kind, place) => (connect, args) => getByUid(connect, kind, args[place]),
};

/** By name, without the token's prefix. */
const getters: Readonly<Record<string, Invoke>> = Object.fromEntries(
  kinds.flatMap((kind) => {
    const { lookUp } = kind.texts;
    const place = lookUpArguments(kind).at(-1)?.name ?? "uid";
    return lookUp ? [[`get${kind.type}`, lookUps[lookUp.by](kind, place)]] : [];
  }),
);

const lists: Readonly<Record<string, Invoke>> = Object.fromEntries(
  kinds.map((kind) => {
    const { operation, plural } = kind.list;
    const list: Invoke = async (connect, args) => {
      const session = await connect();
      const own = await withRole(session, kind.field, args);
      const records: Json[] = [];
      for await (const record of listAll(session, { operation, plural }, own)) records.push(record);
      return { [plural]: records };
    };
    return [`l${operation.slice(1)}`, list];
  }),
);

/** A list of role bindings takes the name of a built-in role. */
const withRole = async (session: Session, field: string, args: Json): Promise<Json> =>
  field === "roleBinding" && isRoleName(args.role) ? { ...args, role: await builtInRoleUid(session, args.role) } : args;

export const functions: Readonly<Record<string, Invoke>> = { ...getters, ...lists };

/**
 * In a preview, in a record that the update creates: there is nothing yet. The engine takes no unknown value from a function, so the
 * uid is one that nothing has.
 */
const planned = (name: string, { name: own }: Json): Json => {
  const list = kinds.find(({ list: { operation } }) => `l${operation.slice(1)}` === name);
  if (list) return { [list.list.plural]: [] };
  return { uid: placeholderUid(undefined), ...(own !== undefined && { name: own }) };
};

export const invoke = async (
  request: InvokeRequest,
  connect: () => Promise<Session>,
  names: Names,
): Promise<InvokeResponse> => {
  const name = request.getTok().slice(TOKEN_PREFIX.length);
  if (!request.getTok().startsWith(TOKEN_PREFIX) || !Object.hasOwn(functions, name))
    throw new Refusal(
      `there is no function ${request.getTok()}; there are ${Object.keys(functions).toSorted().join(", ")}`,
    );
  const asked = markedFrom(request.getArgs());
  const args = plainFrom(asked);
  const isPlanned = containsPlaceholder(args);
  if (!isPlanned && containsUnknown(args)) throw new Refusal(`${name}: an argument is not known yet`);
  const look = functions[name] as Invoke;
  const result = isPlanned
    ? planned(name, args)
    : await look(connect, args).catch((error) => {
        throw reporterWith({})(error, [args]);
      });
  const isSecret = containsSecret(asked);
  // Found by its uid alone, a record may have a name that is secret elsewhere.
  if (args.name !== undefined) names.note(result.uid, result.name, isSecret);
  const response = new provider.InvokeResponse();
  const members = Object.entries(result).map(([key, value]) => [key, isSecret ? new Secret(value) : value]);
  response.setReturn(structFrom(Object.fromEntries(members)));
  return response;
};
