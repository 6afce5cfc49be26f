// A program that does less than its preview showed: some of it stays as it was, and some is left out.
import { type Program, refsIn } from "../../harness/small-engine/program.ts";
import type { Random } from "../../support/random.ts";

/** `old` is what was there before, and `next` what the review shows. */
export const lessOf = (random: Random, old: Program, next: Program): Program => {
  const before = new Map(old.map((one) => [one.name, one]));
  const after = new Map(next.map((one) => [one.name, one]));
  const mixed = [...old.filter(({ name }) => !after.has(name)), ...next].flatMap((one) => {
    const isNext = after.has(one.name) && random.below(3) > 0;
    const chosen = isNext ? one : before.get(one.name);
    return chosen ? [chosen] : [];
  });
  // What refers to something that is left out is left out, too. Each resource comes after those that it refers to.
  const program: Program = [];
  const names = new Set<string>();
  for (let added = -1; added !== program.length; ) {
    added = program.length;
    for (const one of mixed) {
      if (names.has(one.name) || !refsIn(one.inputs).every((name) => names.has(name))) continue;
      names.add(one.name);
      program.push(one);
    }
  }
  return program;
};
