// What the updates of a change replace, as digests: an edit by hand that the change would undo without a word is seen by them.
import { type Json, normalForm, valueAt } from "../../schema/index.ts";
import { canonical, digestOf } from "../canonical.ts";
import type { ChangeContent } from "./change.ts";
import { methodOf } from "./methods.ts";
import type { Text } from "./text.ts";
import { decidesNothing } from "./unknown.ts";
import { encodeFields } from "./value.ts";
import type { Write } from "./write.ts";

/** A record by the plural of its kind, its uid, and the service; undefined: it is not known. */
export type RecordOf = (plural: string, uid: string, service: string | undefined) => Json | undefined;

/** Of records that were there before the change. */
export const beforeOf = (
  writes: readonly Write[],
  { recordOf, textOf }: { recordOf: RecordOf; textOf(text: string): Text },
): ChangeContent["before"] =>
  writes.flatMap((write) => {
    const fields = recordFields(write, { recordOf, textOf });
    const paths =
      fields === undefined ? [] : (write.mask ?? []).filter((path) => !decidesNothing(methodOf(write.method), path));
    return paths.map((path) => ({ n: write.n, path, value: valueDigest(fields as Json, path) }));
  });

/** The fields of the record that an update changes, as a write has them. */
export const recordFields = (
  { service, method: name, uid, mask }: Write,
  { recordOf, textOf }: { recordOf: RecordOf; textOf(text: string): Text },
): Json | undefined => {
  const { resource, schema } = methodOf(name);
  const record =
    mask && typeof uid === "string" && schema === resource.schema ? recordOf(resource.plural, uid, service) : undefined;
  return record && encodeFields(schema, normalForm(schema, record), { textOf, orderOf: canonical });
};

/** A field that is not set has a digest too. */
export const valueDigest = (fields: Json, path: string): string => digestOf(valueAt(fields, path) ?? null);
