// `irm doctor`: checks of this machine and of the service as a run would find them, each with a remedy where it fails. It only reads.

import { styleText } from "node:util";
import { jsonText } from "../../access/format/document/document.ts";
import { foundSettings, type ParsedConfig, parseConfig } from "../../client/config.ts";
import { systemTransport } from "../../client/transport.ts";
import { printableLines } from "../../schema/index.ts";
import { type Check, checkCredentials, checkSettings, good } from "../doctor/check.ts";
import { checkConnection, checkProxy } from "../doctor/connection.ts";
import { checkEngine, checkJournal, checkPlugin, findProject, readStackConfig } from "../doctor/machine.ts";
import { checkSignIn } from "../doctor/sign-in.ts";
import { askEngine } from "../engine-command.ts";
import type { IrmCommand } from "../irm-command.ts";
import { type Format, print, printStyled, stdoutStyle } from "../terminal.ts";

interface DoctorFlags {
  stack?: string;
  format: Format;
}

const FAILED = 3;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Checks this machine, the configuration with its sources, the connection and the sign-in. Prints no secret. Exits with 3 if a check fails.",
    )
    .option(
      "--stack <NAME>",
      "the stack whose configuration counts (default: the selected one of this folder's project)",
    )
    .formats("terminal", "json")
    .example("doctor --stack production")
    .runs(doctor);
};

const doctor = async ({ stack, format }: DoctorFlags) => {
  const checks = await findAll(stack);
  if (format === "json") print(jsonText({ checks }));
  else printStyled(checksText(checks, stdoutStyle().color));
  return checks.every(({ ok }) => ok) ? 0 : FAILED;
};

const findAll = async (stack: string | undefined): Promise<Check[]> => {
  const { env } = process;
  const cwd = process.cwd();
  const project = findProject(cwd);
  const folder = project?.folder ?? cwd;
  const run = askEngine(folder);
  const [engine, plugin, { check, get, given }] = await Promise.all([
    checkEngine(run),
    checkPlugin(run, project, env),
    readStackConfig(run, project, stack),
  ]);
  const parsed = parseConfig(get, env, given);
  const journal = foundSettings(get, env).find(({ name }) => name === "journal");
  const isWrong = journal !== undefined && parsed.problems.some((one) => one.startsWith(`${journal.place}: `));
  return [
    // A version that is too old runs no command.
    good("node", process.versions.node),
    engine,
    plugin,
    check,
    ...checkSettings(parsed, get, env),
    ...(isWrong ? [] : [await checkJournal(journal, env, cwd)]),
    ...(await checkService(parsed)),
  ];
};

const checkService = async (parsed: ParsedConfig): Promise<Check[]> => {
  const { env } = process;
  const { config } = parsed;
  const credentials = checkCredentials(parsed, env);
  const missing = credentials ? [credentials] : [];
  if (!config) return missing;
  const proxy = checkProxy(config.baseUrl, env);
  // undici accepts no other proxy, and no request would be sent.
  if (!proxy.ok) return [proxy, ...missing];
  const transport = systemTransport();
  const { checks, isReached, serviceNowMs = Date.now() } = await checkConnection(config, transport, env);
  const signIn = isReached && !credentials ? await checkSignIn(config, env, transport, serviceNowMs) : [];
  return [proxy, ...checks, ...missing, ...signIn];
};

const STATUS = "FAILED  ".length;

const checksText = (checks: readonly Check[], color: boolean): string => {
  const style = (format: "green" | "red" | "bold", text: string) =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const column = Math.max(...checks.map(({ id }) => id.length)) + 2;
  const indent = " ".repeat(STATUS + column);
  const lines = checks.map(({ id, ok, message, fix }) => {
    const status = ok ? style("green", "ok".padEnd(STATUS)) : style("red", "FAILED".padEnd(STATUS));
    const text = printableLines(message).replaceAll("\n", `\n${indent}`);
    const advice = fix === undefined ? "" : `${indent}${style("bold", "fix:")} ${printableLines(fix)}\n`;
    return `${status}${printableLines(id).padEnd(column)}${text}\n${advice}`;
  });
  const failed = checks.filter(({ ok }) => !ok).length;
  const end = failed === 0 ? `all ${checks.length} checks passed` : `${failed} of ${checks.length} checks failed`;
  return `${lines.join("")}\n${end}\n`;
};
