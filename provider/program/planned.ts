// Look-ups of a preview in records that the update creates. Their uids are placeholders (client/placeholder-uid.ts), which the API does
// not know, so nothing is looked up.
import * as pulumi from "@pulumi/pulumi";
import { containsPlaceholder } from "../../client/placeholder-uid.ts";
import type { Resource } from "../../schema/index.ts";

/** Whether only the update can look these arguments up. */
export const isPlanned = (args: object): boolean => pulumi.runtime.isDryRun() && containsPlaceholder(args);

/** A record of which a preview knows nothing. */
export const unknownRecord = <T>({ schema }: Resource): T =>
  Object.fromEntries(Object.keys(schema.shape).map((field) => [field, pulumi.unknown])) as T;
