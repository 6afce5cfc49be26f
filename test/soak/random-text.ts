// Random names and descriptions: what JavaScript, YAML or Python read as something else, and what is code somewhere.
import type { Random } from "../support/random.ts";

const NAMES = [
  ..."constructor __proto__ tostring hasownproperty prototype then name id urn uid".split(" "),
  ..."null true no yes on off y n .inf .nan 007 0x1f 0o17 1_000 1e3 2026-01-01 12".split(" "),
  ..."class new await import def self none lambda config policy pulumi irm organization".split(" "),
  ..."platform registry release viewer owner groups in can a1 a-1 a-b a.b a_b - -- --- ... . ..".split(" "),
  ...[" ", "  ", "a ", " a", "- a", "a - b", "a b", "x".repeat(255)],
];

const TEXTS = [
  ..."$\u007bx} $$\u007bx} $(x) fn::secret fn::toJSON # *a &a !a | > %a @a ' \" ` \\ \\n \\u0041 // /* */".split(" "),
  ..."<!-- ]]> {{x}} %s __proto__ null true ~ << 1 1.0 2026-01-01T00:00:00Z é 😀".split(" "),
  ...["# a", "a # b", "a: b", "- a", "? a", " ", " a ", "-*- coding: latin-1 -*-", "Builds what others stand on"],
  ...["\u202e", "\u2028", "\u0085", "\u00a0", "\ufeff", "\ufffe", "\u0001", "\u007f", "\v", "x".repeat(512)],
];

export const REPO_NAMES = "nginx Nginx NGINX_1 __proto__ $\u007bx} a'b\"c é😀 constructor \\ $".split(" ");

export const randomName = (random: Random): string => random.pick(NAMES);

export const randomWord = (random: Random): string => random.pick(TEXTS);

/** One line of at most `most` characters. */
export const randomText = (random: Random, most = 512): string => {
  const text = random.below(5) < 3 ? randomWord(random) : `${randomWord(random)} ${randomWord(random)}`;
  return text.slice(0, most);
};

/** A map with at most `most` entries. */
export const randomMap = (random: Random, most: number, value: () => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: random.below(most + 1) }, () => [randomWord(random), value()]));
