// Each `irm` command in README and docs is one that the command line has, with flags that its help names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandsOf, documents } from "../support/document.ts";
import { runIrm } from "../support/irm.ts";

const root = join(import.meta.dirname, "..", "..");
const COMMAND = /^npx pulumi-irm (access (?:whoami|paths)|recover (?:list|clean)|serve token|[a-z]+)(.*)$/;
const helps = new Map<string, Promise<string>>();
const helpOf = (command: string): Promise<string> => {
  const args = [...command.split(" "), command === "serve" ? "--help-all" : "--help"];
  const help = helps.get(command) ?? runIrm(...args).then(({ code, stdout }) => (code === 0 ? stdout : ""));
  helps.set(command, help);
  return help;
};

test("the help of irm access paths has its flags in the order of docs/paths.md", async () => {
  const document = readFileSync(join(root, "docs", "paths.md"), "utf8");
  const flags = (await helpOf("access paths")).match(/(?<=^ +)--[a-z]+/gm) ?? [];
  const places = flags.map((flag) => document.indexOf(`\`${flag}`));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test.each(documents(root))("the commands in %s exist, with their flags", async (document) => {
  const commands = commandsOf(readFileSync(join(root, document), "utf8")).flatMap((line) => {
    const [, command = "", rest = ""] = COMMAND.exec(line) ?? [];
    return command === "" ? [] : [{ line, command, flags: rest.match(/(?<= )--[a-z-]+/g) ?? [] }];
  });
  if (/start|take-over/.test(document)) expect(commands.length).toBeGreaterThan(0);
  for (const { line, command, flags } of commands) {
    const help = await helpOf(command);
    expect(help, line).toContain(`Usage: npx pulumi-irm ${command}`);
    for (const flag of flags) expect(help, line).toContain(flag);
  }
});
