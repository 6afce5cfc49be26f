// Errors of a call as gRPC statuses.
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import statuses from "@pulumi/pulumi/proto/status_pb.js";
import any from "google-protobuf/google/protobuf/any_pb.js";
import type Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { LookUpArgumentError, LookUpError } from "../provider/engine/get.ts";
import { maskSecrets } from "./mask.ts";
import { messageWith } from "./response.ts";

/** The record exists, and the next update continues with it. */
export class InitFailed extends Error {
  override readonly name = "InitFailed";
  readonly id: string;
  readonly properties: Struct.Struct;
  readonly inputs: Struct.Struct;
  readonly reasons: readonly string[];

  constructor(id: string, properties: Struct.Struct, inputs: Struct.Struct, reasons: readonly string[]) {
    super(reasons[0] ?? "the resource is incomplete");
    this.id = id;
    this.properties = properties;
    this.inputs = inputs;
    this.reasons = reasons;
  }
}

/** The call was ended by the engine, or took longer than the resource's customTimeouts allow. */
export class Ended extends Error {
  override readonly name = "Ended";
  readonly code: status;

  constructor(code: status.CANCELLED | status.DEADLINE_EXCEEDED, message: string) {
    super(message);
    this.code = code;
  }
}

/** A message for the person who wrote the program: shown without a stack. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

const DETAILS = "grpc-status-details-bin";

export const serviceErrorFrom = (error: unknown): Partial<ServiceError> => {
  const message = maskSecrets((error as Error).message);
  const stack = maskSecrets((error as Error).stack ?? "");
  if (error instanceof Refusal || error instanceof LookUpError || error instanceof LookUpArgumentError)
    return { code: status.UNKNOWN, details: message };
  if (error instanceof Ended) return { code: error.code, details: message };
  if (error instanceof InitFailed) return { code: status.UNKNOWN, details: message, metadata: detailsOf(error) };
  // A defect has a stack; an error for a reader has none (provider/engine/report.ts).
  return { code: status.UNKNOWN, details: stack === "" ? message : stack };
};

const detailsOf = ({ message, id, properties, inputs, reasons }: InitFailed): Metadata => {
  const reasonsList = reasons.map(maskSecrets);
  const detail = messageWith(new provider.ErrorResourceInitFailed(), { id, properties, inputs, reasonsList });
  const packed = new any.Any();
  packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const text = maskSecrets(message);
  const own = messageWith(new statuses.Status(), { code: status.UNKNOWN, message: text, detailsList: [packed] });
  const metadata = new Metadata();
  metadata.add(DETAILS, Buffer.from(own.serializeBinary()));
  return metadata;
};
