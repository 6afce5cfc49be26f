// `npm run soak:provider`: random runs of the provider.
import { randomInt } from "node:crypto";
import { parseCount, UsageError } from "../../../cli/irm-command.ts";
import { ADAPTERS } from "../../harness/small-engine/provider.ts";
import compileSmallEngine from "../../support/compile-small-engine.ts";
import { parseFlags, runScript } from "../../support/flags.ts";
import { log, resultText } from "./flags.ts";

const usage = `Usage: npm run soak:provider -- [FLAGS]

Runs \`up\` on programs that change at random, while one request in five fails and processes are killed. Prints the counts.
Exits with 1 when a record is leaked, duplicated or lost, or when the last preview of a stack is not empty.

  --adapter A  dynamic (dynamic resources), native (the plugin) or both, one after the other (default: both)
  --cycles N   number of runs, with each adapter (default: 500)
  --kills K    number of runs that are killed (default: 100)
  --checkpoints C  on, or off: the engine saves its state at the end of a run, and after a kill the program changes or is reverted,
                   or the stack is refreshed or destroyed (default: on)
  --empty-machine  each kill takes the engine, the plugin, the journal and the temporary files, and after a kill the program changes or is
                   reverted, or the stack is refreshed or destroyed
  --seed S     seed from 1 to 999999 (default: a random seed, which is printed)
  --lanes L    stacks that run at the same time (default: 8)
  --help       print this help
`;

const main = async (args: string[]): Promise<number> => {
  const flags = parseFlags(args, {
    adapter: { type: "string", default: "both" },
    cycles: { type: "string", default: "500" },
    kills: { type: "string", default: "100" },
    checkpoints: { type: "string", default: "on" },
    "empty-machine": { type: "boolean", default: false },
    seed: { type: "string", default: String(randomInt(1, 1_000_000)) },
    lanes: { type: "string", default: "8" },
    help: { type: "boolean", short: "h" },
  });
  if (flags.help) {
    process.stdout.write(usage);
    return 0;
  }
  const countOf = (name: "cycles" | "kills" | "seed" | "lanes") => parseCount(`--${name}`, flags[name]);
  const [seed, cycles, kills, lanes] = [countOf("seed"), countOf("cycles"), countOf("kills"), countOf("lanes")];
  if (kills > cycles) throw new UsageError(`--kills takes at most as many as --cycles, not ${kills} of ${cycles}`);
  const adapters = ADAPTERS.filter((one) => [one, "both"].includes(flags.adapter));
  if (adapters.length === 0)
    throw new UsageError(`--adapter takes ${ADAPTERS.join(", ")} or both, not ${JSON.stringify(flags.adapter)}`);
  const { checkpoints, "empty-machine": isEmptyMachine } = flags;
  if (checkpoints !== "on" && checkpoints !== "off")
    throw new UsageError(`--checkpoints takes on or off, not ${JSON.stringify(checkpoints)}`);
  if (isEmptyMachine && checkpoints === "off") throw new UsageError("--empty-machine needs --checkpoints on");
  const mode = isEmptyMachine ? "empty machine" : checkpoints === "off" ? "no checkpoints" : "checkpoints";
  await compileSmallEngine();
  const { providerSoak } = await import("../provider.ts");
  log(`seed ${seed}`);
  let hasFailed = false;
  for (const adapter of adapters) {
    const result = await providerSoak({ adapter, seed, cycles, kills, lanes, mode, log });
    process.stdout.write(`${resultText(adapter, result)}\nseed ${seed}\n`);
    hasFailed ||= result.failures.length > 0;
  }
  return hasFailed ? 1 : 0;
};

await runScript("soak:provider", usage, main);
