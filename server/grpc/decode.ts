// gRPC to the pipeline: messages between their binary form and proto3 JSON, the form that both wires share from here on.
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { type FieldViolation, isExchange, type Json, type Operation } from "../../schema/index.ts";
import { decodeRequest, relative } from "../pipeline/decode.ts";
import { tooManyValues } from "./count.ts";

const UNKNOWN_MAX = 10;

export const decodeGrpc = (row: Operation, schema: DescMessage, bytes: Uint8Array, strictBodies: boolean) => {
  const { json, unknown, violation } = jsonFromBinary(schema, bytes);
  // Over HTTP there always is a body.
  if (row.body && row.body !== "*") json[row.body] ??= {};
  const body = (row.body === "*" ? json : json[row.body ?? ""]) as Json | undefined;
  const decoded = decodeRequest(row, json, body, false);
  if (violation) decoded.violations.unshift(relative(violation, row.body));
  // As over REST: an unknown limit of an exchange is refused, since it would be dropped.
  if (isExchange(row) || strictBodies)
    for (const field of unknown().slice(0, UNKNOWN_MAX))
      decoded.violations.push({ field, description: "is not the number of a field of the request" });
  return decoded;
};

interface MessageJson {
  json: Json;
  /** numbers of the fields that a message does not have, after the path of that message */
  unknown: () => string[];
  /** why the bytes are not read as a message; `json` is then empty */
  violation?: FieldViolation;
}

const jsonFromBinary = (schema: DescMessage, bytes: Uint8Array): MessageJson => {
  const tooMany = tooManyValues(schema, bytes);
  if (tooMany) return { json: {}, unknown: () => [], violation: tooMany };
  try {
    const message = fromBinary(schema, bytes);
    const fields = message as unknown as Json;
    // JSON cannot express every mask, so a mask is read as it was written, in either spelling.
    const mask = fields.updateMask as { paths: string[] } | undefined;
    delete fields.updateMask;
    const json = toJson(schema, message) as Json;
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

/** Leaves out values that a newer version stored and this one does not know. */
export const binaryFromJson = (schema: DescMessage, json: Json): Buffer =>
  Buffer.from(toBinary(schema, fromJson(schema, json as JsonValue, { ignoreUnknownFields: true })));

const unknownIn = (value: unknown, path = ""): string[] => {
  if (Array.isArray(value)) return value.flatMap((item, i) => unknownIn(item, `${path}[${i}]`));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  const { $unknown = [], ...fields } = value as { $unknown?: { no: number }[] };
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  const numbers = $unknown.map(({ no }) => below(String(no)));
  return [...numbers, ...Object.entries(fields).flatMap(([name, field]) => unknownIn(field, below(name)))];
};
