// The messages that the plugin answers with.
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import type Struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { CheckFailure as Failure } from "../provider/reconcile/check.ts";
import { type Change, type DetailedDiff, memberIn } from "./detailed-diff.ts";

const { CheckFailure, CheckResponse, DiffResponse, PropertyDiff } = provider;

/** By the names of its setters: `id` of `setId`. */
type FieldsOf<Message> = {
  [Name in keyof Message as Name extends `set${infer Field}` ? Uncapitalize<Field> : never]?: Message[Name] extends (
    value: infer Value,
  ) => unknown
    ? Value
    : never;
};

/** The message with these fields: the code that google-protobuf generates has a setter for each. */
export const messageWith = <Message extends object>(message: Message, fields: FieldsOf<Message>): Message => {
  const setters = message as Record<string, (value: unknown) => void>;
  for (const [name, value] of Object.entries(fields))
    setters[`set${name.charAt(0).toUpperCase()}${name.slice(1)}`]?.call(message, value);
  return message;
};

export const checkResponse = (inputs: Struct.Struct, failures: readonly Failure[]) =>
  messageWith(new CheckResponse(), {
    inputs,
    failuresList: failures.map(({ property, reason }) => messageWith(new CheckFailure(), { property, reason })),
  });

const { Kind: K } = PropertyDiff;

/** Without and with a replacement. */
const KINDS: Readonly<Record<Change, readonly [number, number]>> = {
  add: [K.ADD, K.ADD_REPLACE],
  delete: [K.DELETE, K.DELETE_REPLACE],
  update: [K.UPDATE, K.UPDATE_REPLACE],
} as never;

export const diffResponse = (
  hasChanges: boolean,
  detailed: DetailedDiff,
  others: Pick<FieldsOf<InstanceType<typeof DiffResponse>>, "replacesList" | "deletebeforereplace"> = {},
) => {
  const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
  const response = messageWith(new DiffResponse(), {
    changes: hasChanges ? DIFF_SOME : DIFF_NONE,
    diffsList: [...new Set([...detailed.keys()].map(memberIn))],
    hasdetaileddiff: true,
    ...others,
  });
  for (const [path, { change, isReplacement, isInput }] of detailed) {
    const kind = KINDS[change][isReplacement ? 1 : 0] as never;
    response.getDetaileddiffMap().set(path, messageWith(new PropertyDiff(), { kind, inputdiff: isInput }));
  }
  return response;
};
