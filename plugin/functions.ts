// Functions: look-ups of one record and lists, for programs in any language. Results are the API's messages.
import { getRecord, listRecords } from "../provider/engine/look-up.ts";
import { reporterWith } from "../provider/engine/report.ts";
import { kindRecords } from "../provider/kind/index.ts";
import { type Kind, TOKEN_PREFIX } from "../provider/record/kind.ts";
import type { Session } from "../provider/run/session.ts";
import { containsUnknown } from "../pulumi/value.ts";
import type { Json } from "../schema/index.ts";
import type { Names } from "./names.ts";
import type { Request } from "./request-type.ts";
import { invokeResponse } from "./response.ts";
import { Refusal } from "./status.ts";
import { structFrom } from "./struct.ts";
import { containsSecret, plainFrom, Secret } from "./value.ts";

type PluginFunction = (connect: () => Promise<Session>, args: Json) => Promise<Json>;

/** By name, without the token's prefix. */
export const functions: Readonly<Record<string, PluginFunction>> = Object.fromEntries(
  Object.values<Kind>(kindRecords).flatMap((kind) => {
    const { operation, plural } = kind.list;
    const get: PluginFunction = (connect, args) => getRecord(connect, kind, args);
    const list: PluginFunction = async (connect, args) => ({
      [plural]: await Array.fromAsync(listRecords(connect, kind, args)),
    });
    return [...(kind.texts.lookUp ? [[`get${kind.type}`, get]] : []), [`l${operation.slice(1)}`, list]];
  }),
);

export const invoke = async (
  { tok, args: asked }: Request<"invoke">,
  connect: () => Promise<Session>,
  names: Names,
): Promise<Buffer> => {
  const name = tok.slice(TOKEN_PREFIX.length);
  if (!tok.startsWith(TOKEN_PREFIX) || !Object.hasOwn(functions, name))
    throw new Refusal(`unknown function ${tok}; available: ${Object.keys(functions).toSorted().join(", ")}`);
  const args = plainFrom(asked);
  if (containsUnknown(args)) throw new Refusal(`${name}: an argument is not known yet`);
  const result = await (functions[name] as PluginFunction)(connect, args).catch((error) => {
    throw reporterWith({})(error, [args]);
  });
  const isSecret = containsSecret(asked);
  // A record that is found only by its uid may have a name that is secret elsewhere.
  if (args.name !== undefined) names.note(result.uid, result.name, isSecret);
  const members = Object.entries(result).map(([key, value]) => [key, isSecret ? new Secret(value) : value]);
  return invokeResponse(structFrom(Object.fromEntries(members)));
};
