// A text of others inside a sentence of ours.
import { printable } from "../schema/index.ts";

/** As JSON, which tells a character that is written out from a backslash in the text. */
export const quoted = (value: unknown): string => printable(JSON.stringify(String(value)));
