// Errors as people read them: the operation, the resource, the API's own code, message and violations, in one text.

import { RefusedToken } from "../../client/refused-token.ts";
import { type ApiError, isApiError, type Json } from "../../schema/index.ts";
import { type Kind, title } from "../kind/kind.ts";
import { argumentOf } from "../state/state.ts";
import { isNoConnection } from "./session-error.ts";

/** The record exists, and something about it is not as asked: the engine stores it with its id and goes on next time. */
export class Incomplete extends Error {
  override readonly name = "Incomplete";
  readonly id: string;
  readonly properties: Record<string, unknown>;
  readonly reasons: string[];

  constructor(reason: string, id: string, properties: Record<string, unknown>) {
    super(reason);
    this.id = id;
    this.properties = properties;
    this.reasons = [reason];
  }
}

export interface Subject {
  uid?: unknown;
  name?: unknown;
  /** group that it was to be made in; "" at the root */
  parent?: string;
}

/** An error of the API with operation and resource; any other error (configuration, a defect) as it is. */
export const failure = (error: unknown, kind: Kind, action: keyof Kind["operations"], subject: Subject): Error => {
  if (!isApiError(error)) return error as Error;
  const text = [`${headOf(kind, action, subject)}: ${apiText(error)}`, ...hints(error, action)].join("\n");
  return new Error(text, { cause: error });
};

/** The service answered, and not with what was asked for. `outs` are the outputs that the state shall have, `paths` the API's. */
export const incomplete = (kind: Kind, outs: Record<string, unknown>, paths: readonly string[]): Incomplete => {
  const head = headOf(kind, "update", { uid: outs.uid, name: outs.name });
  const differing = paths.map((path) => argumentOf(kind, path)).join(", ");
  const text = `${head}: the service answered with another value of ${differing} than was asked for`;
  return new Incomplete(text, outs.uid as string, outs);
};

/** Several records may be the one that a lost answer was about, or one that may be somebody else's: a person has to say. */
export const ambiguousCreate = (kind: Kind, key: string, found: readonly Json[]): Error => {
  const many = found.length === 1 ? "a record" : `${found.length} records`;
  const head = `${key}: an answer was lost, and ${many} may be the one that it was about:`;
  const lines = found.map((record) => `${kind.word} ${record.uid} ${title(record)}, made ${record.createTime}`);
  const advice =
    found.length === 1
      ? 'It was there at the same moment, and may be somebody else\'s: take it by adopt: "<uid>", or change it and run again.'
      : 'Keep one by adopt: "<uid>" and delete the others.';
  return new Error(`${[head, ...lines].join("\n  - ")}\n${advice}`);
};

/** For functions, which have no resource. */
export const callFailure = (error: unknown, operation: string): unknown =>
  isApiError(error)
    ? new Error([`${operation}: ${apiText(error)}`, ...tokenHints(error)].join("\n"), { cause: error })
    : error;

/** For the errors that all operations of a process would end with: without the operation that met it first. */
export const sessionText = (error: Error): string =>
  isApiError(error) ? [apiText(error), ...tokenHints(error)].join("\n") : error.message;

const headOf = (kind: Kind, action: keyof Kind["operations"], { uid, name, parent }: Subject): string => {
  const where = parent === undefined ? "" : parent === "" ? "at the root" : `in ${parent}`;
  const title = name === undefined ? "" : `"${name}"`;
  return [kind.operations[action], kind.word, uid, title, where].filter(Boolean).join(" ");
};

/** Code, message, and the violations that the message does not tell: it is made from the first. */
export const apiText = (error: ApiError): string => {
  const fields = error.fieldViolations.map(({ field, description }) => `${field}: ${description}`);
  const conditions = error.preconditionViolations.map(({ type, description }) => `${type}: ${description}`);
  const violations = [...fields, ...conditions].filter((text) => !error.message.includes(text));
  return [`${error.code}: ${error.message}`, ...violations].join("\n  - ");
};

const tokenHints = (error: ApiError): string[] => {
  if (error instanceof RefusedToken)
    return [
      "The API token was refused: it may have expired, or be for another audience than irm:baseUrl. " +
        `It is ${error.origin}.`,
    ];
  return isNoConnection(error) ? ["Is the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?"] : [];
};

const hints = (error: ApiError, action: keyof Kind["operations"]): string[] => {
  if (error.code === "ALREADY_EXISTS" && action === "create")
    return [
      'If that record is meant, take it over with adopt: "match" (or its uid); ' +
        "if this resource had another name before, say so with aliases.",
    ];
  if (error.code === "PERMISSION_DENIED" && action === "get")
    return ["A record that may not be read is not taken for deleted."];
  return tokenHints(error);
};
