// What the service shows once, in the answer of a create: the code of an invite. When that answer is lost the record is found
// again, and its code is not. The resource is kept with an error, so that nothing goes on without the code, and the next diff
// asks for a replacement, which a person sees in the preview.
import type { Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { Incomplete } from "../session/errors.ts";
import type { Desired } from "../state/desired.ts";
import { shownOncePaths } from "../state/write-only.ts";

/** The outputs that the state lacks and that cannot be read again. An adopted record never had them in a response. */
export const neverSeen = (kind: Kind, outputs: Json): string[] =>
  outputs.adopted === true ? [] : shownOncePaths(kind).filter((name) => outputs[name] === undefined);

/** The record as it was created; throws Incomplete where the answer was lost with what it alone shows. */
export const incompleteUnlessShown = <T extends { id: string; outs: Json }>(
  { kind, key, hidden }: Desired,
  created: T,
): T => {
  const { id, outs } = created;
  const names = neverSeen(kind, outs);
  if (names.length === 0) return created;
  const text =
    `${key}: ${kind.word} ${id} was created, but the response that shows its ${names.join(", ")} was lost. The service shows it once, ` +
    "so it cannot be recovered. The next pulumi up replaces the record: it creates one whose response it keeps, then deletes this one.";
  throw new Incomplete(text, id, { ...outs, ...hidden });
};
