// The command line of a benchmark: counts in a fixed order.

/** The given counts, or their defaults. Prints the usage and exits if an argument is not a count. */
export const countsFrom = <const D extends readonly number[]>(
  usage: string,
  defaults: D,
  args: readonly string[] = process.argv.slice(2),
): { [I in keyof D]: number } => {
  if (args.length <= defaults.length && args.every((text) => /^[1-9]\d*$/.test(text)))
    return defaults.map((count, i) => Number(args[i] ?? count)) as { [I in keyof D]: number };
  const isHelp = args.includes("--help");
  process[isHelp ? "stdout" : "stderr"].write(`Usage: npm run -s ${usage}\n`);
  process.exit(isHelp ? 0 : 2);
};
