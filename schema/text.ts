// Rules for the texts of records (docs/internals/contract.md#values), with the API's own error messages.
import { z } from "zod";

const NAME = /^[a-z0-9 ._-]{1,}$/;
const NAME_MAX = 255;
const NAME_TEXT = 'name must match "^[a-z0-9 ._-]{1,}$"';
// `[\S ]` as RE2 reads it: by characters, and refusing only this white space.
const DESCRIPTION = /^[^\t\n\f\r]{0,512}$/u;
const DESCRIPTION_TEXT = String.raw`description must match "^[\S ]{0,512}$"`;

// JavaScript's `$` without the m flag matches only at the end of the whole value (docs/internals/contract.md#d2).
export const name = z
  .string({ error: NAME_TEXT })
  // Checked first and alone: a name may be a megabyte.
  .max(NAME_MAX, { error: `name must be at most ${NAME_MAX} characters`, abort: true })
  .regex(NAME, NAME_TEXT)
  .meta({ example: "platform" });

/** A text of this pattern. */
export const matching = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, error);

export const description = matching(DESCRIPTION, DESCRIPTION_TEXT).meta({ example: "Builds what other teams run" });

/** Name of a tag (the OCI distribution specification). */
export const tagName = matching(
  /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/,
  'tag must match "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"',
);

/** Another name of an image. */
export const alias = matching(
  /^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.-]:[a-zA-Z0-9_.-]+$/,
  String.raw`each alias must match "^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.\-]:[a-zA-Z0-9_.\-]+$"`,
);

const BUNDLES = ["application", "base", "byol", "ai", "ai-gpu", "featured", "fips", "commercial", "emeritoss"];

/** Label of a group of images. */
export const bundle = z
  .string({ error: "must be a string" })
  .refine(
    (value) => BUNDLES.includes(value),
    `only the following keywords are valid "${BUNDLES.map((word) => `^${word}$`).join("|")}"`,
  );

export const awsAccount = matching(/^[0-9]{12}$/, 'AWS account ID must match "^[0-9]{12}$"');

/** A required reference or text: proto3 cannot distinguish "" from absent. */
export const nonEmpty = z.string({ error: "is required" }).min(1, "is required");
