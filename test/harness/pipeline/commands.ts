// A folder for the PATH of a job, with an npm that writes down its calls, fetches nothing, and installs the irm of this clone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { COMPILED, irmModule } from "../../support/compiled.ts";

export const createCommands = (folder: string) => {
  const [bin, log, irm] = [join(folder, "bin"), join(folder, "npm.log"), join(folder, "irm")];
  mkdirSync(bin);
  const write = (file: string, ...lines: string[]): void =>
    writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
  write(irm, `exec node ${JSON.stringify(irmModule("cli/main.ts"))} "$@"`);
  write(
    join(bin, "npm"),
    `echo "$PWD: $*" >> ${JSON.stringify(log)}`,
    `[ -e node_modules ] || { mkdir -p node_modules/.bin && ln -s ${JSON.stringify(irm)} node_modules/.bin/irm; }`,
  );
  return {
    /** of a job */
    env: {
      PATH: [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      HOME: folder,
      NODE_COMPILE_CACHE: COMPILED,
    },
    /** Adds a program. */
    add: (name: string, ...lines: string[]): void => write(join(bin, name), ...lines),
    /** `FOLDER: ci --no-audit` */
    npm: (): string[] => (existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : []),
  };
};
