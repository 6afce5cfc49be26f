// Flags of `npm run soak`: which parts, and what they are random by.
import { randomInt } from "node:crypto";
import { parseCount, parseFlags, UsageError } from "../cli/usage.ts";
import { type PartName, parts } from "../test/soak/parts.ts";

const names = Object.keys(parts) as PartName[];

export const list = names.map((name) => `${name.padEnd(13)} ${parts[name].goal}\n`).join("");

export const usage = `Usage: npm run soak -- [FLAGS]

Runs the long proofs and prints what they counted; exits with 1 when one of them failed.

  --only NAME   this part, and no other but those that are named so too: ${names.join(", ")}
  --seed N      what the parts are random by, from 1 to 999999; the same seed repeats a run (default: a random one,
                which is printed)
  --list        tell the parts
  --help        tell the flags
`;

export type SoakFlags = { show: "help" | "list" } | { show?: undefined; names: PartName[]; seed: number };

export const parseSoak = (args: string[], anySeed = () => randomInt(1, 1_000_000)): SoakFlags => {
  const flags = parseFlags(args, {
    only: { type: "string", multiple: true },
    seed: { type: "string" },
    list: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  if (flags.help) return { show: "help" };
  if (flags.list) return { show: "list" };
  const unknown = flags.only?.find((name) => !(names as string[]).includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only takes one of ${names.join(", ")}, not ${JSON.stringify(unknown)}`);
  const seed = flags.seed === undefined ? anySeed() : parseCount("--seed", flags.seed);
  return { names: names.filter((name) => flags.only?.includes(name) ?? true), seed };
};
