// Messages between their binary form and proto3 JSON, the form that both wires share from here on.
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import type { FieldViolation, Json } from "../../schema/index.ts";
import { tooManyValues } from "./count.ts";

export interface MessageJson {
  json: Json;
  /** numbers of the fields that the message does not have, with the path of the message in it that they stand in */
  unknown: () => string[];
  /** why the bytes are not read as a message; `json` is then empty */
  violation?: FieldViolation;
}

export const jsonFromBinary = (schema: DescMessage, bytes: Uint8Array): MessageJson => {
  const tooMany = tooManyValues(schema, bytes);
  if (tooMany) return { json: {}, unknown: () => [], violation: tooMany };
  try {
    const message = fromBinary(schema, bytes) as unknown as Json;
    // JSON has no words for every mask that a client may write; a mask is read as it was written, in either spelling.
    const mask = message.updateMask as { paths: string[] } | undefined;
    delete message.updateMask;
    const json = toJson(schema, message as never) as Json;
    return {
      json: mask ? { ...json, updateMask: mask.paths.join(",") } : json,
      unknown: () => [...new Set(unknownIn(message))],
    };
  } catch (error) {
    const reason = (error as Error).message.slice(0, 200);
    const violation = { field: "", description: `the message is not of its type: ${reason}` };
    return { json: {}, unknown: () => [], violation };
  }
};

/** Values that a newer version stored and this one does not know are left out. */
export const binaryFromJson = (schema: DescMessage, json: Json): Buffer =>
  Buffer.from(toBinary(schema, fromJson(schema, json as JsonValue, { ignoreUnknownFields: true })));

// Numbers of fields that the message, or one in it, does not have, with the path of that message.
const unknownIn = (value: unknown, path = ""): string[] => {
  if (Array.isArray(value)) return value.flatMap((item, i) => unknownIn(item, `${path}[${i}]`));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  const { $unknown = [], ...fields } = value as { $unknown?: { no: number }[] };
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  const own = $unknown.map(({ no }) => below(String(no)));
  return [...own, ...Object.entries(fields).flatMap(([name, field]) => unknownIn(field, below(name)))];
};
