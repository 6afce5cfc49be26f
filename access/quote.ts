// A text of others inside a sentence of ours.
import { printable } from "../schema/index.ts";

/** Writes JSON, which distinguishes an escaped character from a backslash in the text. */
export const quote = (value: unknown): string => printable(JSON.stringify(String(value)));
