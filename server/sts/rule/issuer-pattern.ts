// Warns of issuer patterns: the operator of any host that one matches can sign tokens for the identity. Only a line of the log,
// since the published API accepts such patterns.
import { PATTERN_ATOM } from "../../../schema/index.ts";

// `https://issuer\.example` and then a port, a path or the end.
const FIXED_HOST =
  /^\^?https?:(?:\\?\/){2}(?:(?:[a-z0-9-]|\\-)+(?:\\\.(?:[a-z0-9-]|\\-)+)*|\\\[[0-9a-f:]+\\?\])(?::|\\?\/|\(\??:?\\?\/|\$?$)/;

/** Why an issuer pattern may match unintended hosts; undefined when it spells out every host. */
export const issuerPatternWarning = (pattern: string): string | undefined => {
  const alternatives = alternativesOf(pattern);
  if (alternatives.some((atoms) => atoms.some((atom, i) => atom === "." && !/^[*+?{]/.test(atoms[i + 1] ?? ""))))
    return "a dot without a backslash matches any character";
  if (alternatives.some((atoms) => !FIXED_HOST.test(atoms.join("")))) return "it does not spell out one host";
  return undefined;
};

// Splits the whole pattern, not a group in it.
const alternativesOf = (pattern: string): string[][] => {
  const alternatives: string[][] = [[]];
  let depth = 0;
  for (const [atom] of pattern.matchAll(PATTERN_ATOM)) {
    if (atom === "(") depth += 1;
    if (atom === ")") depth -= 1;
    if (atom === "|" && depth === 0) alternatives.push([]);
    else (alternatives.at(-1) as string[]).push(atom);
  }
  return alternatives;
};
