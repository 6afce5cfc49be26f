// Records that exist, but differ from the request. The error carries the uid and the outputs, so the state keeps the record and the next
// run continues from there.

import { withSection } from "../../client/errors.ts";
import { subjectText } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import type { Desired } from "../record/desired.ts";
import type { Kind } from "../record/kind.ts";
import { shownOncePaths } from "../record/normal-form.ts";
import { argumentOf, originIn } from "../record/state.ts";

/** The SDK's dynamic provider recognises it by its members. */
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

/** The response differs from the request at `paths`; `outs` are the outputs for the state. */
export const differentResponse = (kind: Kind, outs: Json, paths: readonly string[]): Incomplete => {
  const uid = outs.uid as string;
  const head = subjectText(kind, kind.operations.update ?? kind.operations.create, { uid, name: outs.name });
  const differing = paths.map((path) => argumentOf(kind, path)).join(", ");
  const text = `${head}: the API returned a different value for ${differing} than requested`;
  return new Incomplete(withSection(text, "refused"), uid, outs);
};

/** Outputs that the state lacks and that no read returns. An adopted or imported record never had them in a response. */
export const lostOutputs = (kind: Kind, outputs: Json): string[] =>
  Object.keys(originIn(outputs)).length > 0 ? [] : shownOncePaths(kind).filter((name) => outputs[name] === undefined);

/**
 * The created record; throws Incomplete if the lost response contained an output that the service shows once. Resources that need that
 * output do not run, and the next preview shows a replacement.
 */
export const requireShownOnce = <T extends { id: string; outs: Json }>(
  { kind, key, hidden }: Desired,
  created: T,
): T => {
  const { id, outs } = created;
  const names = lostOutputs(kind, outs);
  if (names.length === 0) return created;
  const text =
    `${key}: ${kind.word} ${id} was created, but the response that shows its ${names.join(", ")} was lost. The service shows it once, ` +
    "so it cannot be recovered. The next pulumi up replaces the record: it creates one whose response it keeps, then deletes this one.";
  throw new Incomplete(withSection(text, "lost-code"), id, { ...outs, ...hidden });
};
