// What a resource reports besides the errors of the API.
import { subjectText } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import { type Kind, title } from "../kind/kind.ts";
import { createTimeOf } from "../kind/record.ts";
import { argumentOf } from "../state/state.ts";

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

/** The service answered, and not with what was asked for. `outs` are the outputs that the state shall have, `paths` the API's. */
export const incomplete = (kind: Kind, outs: Record<string, unknown>, paths: readonly string[]): Incomplete => {
  const uid = outs.uid as string;
  const head = subjectText(kind, kind.operations.update ?? kind.operations.create, { uid, name: outs.name });
  const differing = paths.map((path) => argumentOf(kind, path)).join(", ");
  const text = `${head}: the service answered with another value of ${differing} than was asked for`;
  return new Incomplete(text, uid, outs);
};

/** Several records may be the one that a lost answer was about, or one that may be somebody else's: a person has to say. */
export const ambiguousCreate = (kind: Kind, key: string, found: readonly Json[]): Error => {
  const many = found.length === 1 ? "a record" : `${found.length} records`;
  const head = `${key}: an answer was lost, and ${many} may be the one that it was about:`;
  const lines = found.map((record) => `${kind.word} ${record.uid} ${title(record)}, made ${createTimeOf(record)}`);
  const advice =
    found.length === 1
      ? 'It was there at the same moment, and may be somebody else\'s: take it by adopt: "<uid>", or change it and run again.'
      : 'Keep one by adopt: "<uid>" and delete the others.';
  return new Error(`${[head, ...lines].join("\n  - ")}\n${advice}`);
};
