// Messages between their binary form and proto3 JSON, the form that both wires share from here on.
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../schema/index.ts";

export interface MessageJson {
  json: Json;
  /** numbers of the fields that the message does not have, of the message itself alone */
  unknown: number[];
  /** why the bytes are no message; `json` is then empty */
  broken?: string;
}

export const jsonFromBinary = (schema: DescMessage, bytes: Uint8Array): MessageJson => {
  try {
    const message = fromBinary(schema, bytes) as unknown as Json;
    const unknown = (message.$unknown as { no: number }[] | undefined) ?? [];
    // JSON has no words for every mask that a client may write; a mask is read as it was written, in either spelling.
    const mask = message.updateMask as { paths: string[] } | undefined;
    delete message.updateMask;
    const json = toJson(schema, message as never) as Json;
    return {
      json: mask ? { ...json, updateMask: mask.paths.join(",") } : json,
      unknown: [...new Set(unknown.map(({ no }) => no))],
    };
  } catch (error) {
    return { json: {}, unknown: [], broken: (error as Error).message.slice(0, 200) };
  }
};

/** Values that a newer version stored and this one does not know are left out. */
export const binaryFromJson = (schema: DescMessage, json: Json): Buffer =>
  Buffer.from(toBinary(schema, fromJson(schema, json as JsonValue, { ignoreUnknownFields: true })));
