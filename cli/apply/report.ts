// What `irm apply` says: what it is about to do, and what it has done.
import { countText } from "../../access/format/words.ts";
import type { TokenClass } from "../../gate/tokens.ts";
import { printable } from "../../schema/index.ts";

interface ApplyReport {
  /** writes that the service has carried out */
  applied: number;
  /** writes that the update asked for, and the gate did not pass */
  refused: readonly { method: string; message: string }[];
  /** writes of the change that the update did not ask for, or that failed */
  missing: number;
  tokens: readonly TokenClass[];
  /** every token for writes may do no more than its writes need */
  narrowed: boolean;
}

export const reportAsJson = ({ applied, refused, missing, tokens, narrowed }: ApplyReport): string =>
  `${JSON.stringify({ applied, refused, missing, tokens, narrowed }, undefined, 2)}\n`;

/** `missing` and `unknown` list writes in words; `reasons` say why the tokens may do more than their writes need. */
export const reportAsText = (
  { applied, refused, tokens }: ApplyReport,
  { missing, unknown, reasons }: Readonly<Record<"missing" | "unknown" | "reasons", readonly string[]>>,
): string =>
  [
    ...list(
      "Tokens for the writes",
      tokens.map(({ capabilities, scopes }) => `${capabilities.join(", ")} in ${scopes.join(", ") || "every group"}`),
    ),
    ...list("Not narrowed", reasons),
    `Applied: ${countText(applied, "write")} of the change`,
    ...list(
      "Refused, since the change does not have it",
      refused.map(({ method, message }) => `${method}: ${message}`),
    ),
    ...list("Missing: the update did not send it, or it failed", missing),
    ...list("Not known: the service gave no clear answer; run it again", unknown),
    "",
  ].join("\n");

const list = (title: string, items: readonly string[]) =>
  items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${printable(item)}`)];
