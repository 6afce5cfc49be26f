// What a resource reports besides the errors of the API.
import { subjectText } from "../../client/records.ts";
import type { Kind } from "../kind/kind.ts";
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
  const text = `${head}: the API returned a different value for ${differing} than requested`;
  return new Incomplete(text, uid, outs);
};
