// Errors of a call as gRPC statuses.

import { AsyncLocalStorage } from "node:async_hooks";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { LookUpArgumentError, LookUpError } from "../provider/engine/look-up.ts";
import { SECRET_NAME } from "../provider/record/state.ts";
import { printableLines } from "../schema/index.ts";
import { containsSecret, secretTexts } from "./value.ts";
import { type Fields, messageOf } from "./wire-format.ts";

interface FailedInit {
  id: string;
  properties: Fields;
  inputs: Fields;
  reasons: readonly string[];
}

/** The record exists, and the next update continues with it. */
export class InitFailed extends Error {
  override readonly name = "InitFailed";
  readonly failed: FailedInit;

  constructor(failed: FailedInit) {
    super(failed.reasons[0] ?? "the resource is incomplete");
    this.failed = failed;
  }
}

/** The engine ended the call, or it took longer than the resource's customTimeouts allow. */
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
  if (error instanceof Ended) return { code: error.code, details: message };
  if (error instanceof InitFailed) return { code: status.UNKNOWN, details: message, metadata: detailsOf(error) };
  // A defect has a stack; an error for a reader has none (provider/engine/report.ts).
  const isForReader = FOR_READERS.some((type) => error instanceof type);
  const stack = isForReader ? "" : maskSecrets((error as Error).stack ?? "");
  return { code: status.UNKNOWN, details: stack || message };
};

const FOR_READERS = [Refusal, LookUpError, LookUpArgumentError];

/** A google.rpc.Status that holds a pulumirpc.ErrorResourceInitFailed. */
const detailsOf = ({ message, failed: { id, properties, inputs, reasons } }: InitFailed) => {
  const failed = { 1: id, 2: properties, 3: reasons.map(maskSecrets), 4: inputs };
  const detail = { 1: "type.googleapis.com/pulumirpc.ErrorResourceInitFailed", 2: failed };
  const metadata = new Metadata();
  metadata.add(DETAILS, messageOf({ 1: BigInt(status.UNKNOWN), 2: maskSecrets(message), 3: [detail] }));
  return metadata;
};

// Errors, check failures and log lines quote the program's values. The engine prints them in clear text, so the secrets of their call are
// masked.

const current = new AsyncLocalStorage<readonly string[]>();

// To mask shorter secrets would make texts unreadable, and would reveal their length.
const SHORTEST = 3;

/** Runs a call of these values; `masked` knows their secrets within. */
export const masking = <T>(request: unknown, call: () => T): T => {
  if (!containsSecret(request)) return call();
  const texts = secretTexts(request).filter((text) => text.length >= SHORTEST);
  const spellings = texts.flatMap((text) => [text, printableLines(text), JSON.stringify(text).slice(1, -1)]);
  return current.run(
    [...new Set(spellings)].toSorted((a, b) => b.length - a.length),
    call,
  );
};

export const maskSecrets = (text: string): string =>
  (current.getStore() ?? []).reduce((result, secret) => result.replaceAll(secret, SECRET_NAME), text);
