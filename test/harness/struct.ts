// The engine's values as the generated code of @pulumi/pulumi has them: it reads and writes what the plugin does.
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { STRUCT, structFrom as structBytes } from "../../plugin/struct.ts";
import type { Marked } from "../../plugin/value.ts";
import { readMessage } from "../../plugin/wire-format.ts";

export const structFrom = (values: Marked): Struct.Struct => Struct.Struct.deserializeBinary(structBytes(values));

export const markedFrom = (struct: Struct.Struct | undefined): Marked =>
  readMessage(STRUCT, struct?.serializeBinary() ?? new Uint8Array());
