// Help, and wrong command lines: one error on stderr, last, nothing on stdout, exit 2.
import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { runCommand } from "../support/command.ts";
import { runIrm as run } from "../support/irm.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const refusal = (command: string, sentence: string) => ({
  code: 2,
  stdout: "",
  stderr: `${command}: ${sentence}\nRun \`npx pulumi-${command} --help\`.\n`,
});

const ORDER = [
  ...["init", "check", "test", "review", "apply", "serve", "token", "drift", "roles", "access", "paths"],
  ...["export", "revoke", "whoami", "doctor", "journal", "recover", "completion", "help"],
];
const COMMANDS = new RegExp(
  `^Usage: npx pulumi-irm COMMAND \\[FLAGS\\]\n[\\s\\S]*\nCommands:\n${ORDER.map((name) => ` {2}${name} .*\n`).join("")}$`,
);

describe("irm", () => {
  test("prints the commands on stderr when it is called without one", async () => {
    expect(await runCommand()).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(COMMANDS) });
  });

  test.each([[["--help"]], [["-h"]], [["help"]]])("%j prints the commands on stdout", async (args) => {
    expect(await run(...args)).toEqual({ code: 0, stdout: expect.stringMatching(COMMANDS), stderr: "" });
  });

  test.each([["--version"], ["-V"]])("%s prints the version of the package", async (flag) => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await run(flag)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("serve --help prints every flag on stdout, even with other mistakes", async () => {
    const { code, stdout, stderr } = await run("serve", "--port", "http", "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: npx pulumi-irm serve \[FLAGS\]\n/);
    for (const flag of [
      ...["port N", "host ADDRESS", "auth-port N", "db FILE", "seed FILE.yaml", "dev", "tls-cert FILE", "tls-key FILE"],
      ...["refresh-tokens", "rate-limit N", "unique-role-bindings", "faults FILE.yaml", "json", "log-level L"],
    ])
      expect(stdout).toContain(`\n  --${flag} `);
  });

  test.each([[["serve"]], [["token"]], [["journal"]], [["init"]], [["check"]], [["test"]], [["completion"]]])(
    "help %j prints what --help prints",
    async (command) => {
      const help = await run("help", ...command);
      expect(help).toEqual(await run(...command, "--help"));
      expect(help).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Usage: npx pulumi-irm ${command.join(" ")} `),
      });
    },
  );

  test("says once, below the flags, where a command that calls the API takes address and credentials from", async () => {
    const footer =
      "\n\nAddress and credentials come from the environment: IRM_BASE_URL, and IRM_TOKEN or another (docs/configuration.md).\n";
    const names = [...ORDER.map((name) => [name]), ["journal", "list"], ["journal", "clean"]];
    const helps = await Promise.all(names.map(async (name) => ({ name, help: (await run(...name, "--help")).stdout })));
    const withFooter = helps.filter(({ help }) => help.endsWith(footer)).map(({ name }) => name.join(" "));
    expect(withFooter).toEqual([
      ...["test", "review", "apply", "drift", "roles", "access", "paths", "export", "revoke"],
      ...["whoami", "doctor", "recover"],
    ]);
    for (const { help } of helps)
      expect(help.split("IRM_TOKEN").length).toBeLessThanOrEqual(help.endsWith(footer) ? 3 : 1);
  });

  test("colours help and errors on a terminal, but not in a file or with NO_COLOR", async () => {
    const isColoured = async (env: Record<string, string | undefined>) => {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      const texts = [(await run("--help")).stdout, (await run("srve")).stderr];
      vi.unstubAllEnvs();
      return texts.map((text) => text.includes("\x1b["));
    };
    expect(await isColoured({ FORCE_COLOR: "1" })).toEqual([true, true]);
    expect(await isColoured({ FORCE_COLOR: "0" })).toEqual([false, false]);
    expect(await isColoured({ FORCE_COLOR: undefined, NO_COLOR: "1" })).toEqual([false, false]);
    expect((await runCommand("srve")).stderr).not.toContain("\x1b[");
  });
});

const IS_NOW_REVIEW = "is now npx pulumi-irm review: each review runs the update on a copy";

describe("a wrong command line is refused with the nearest name:", () => {
  test.each<[string[], string, string]>([
    [["srve"], "irm", "unknown command 'srve'\n(Did you mean serve?)"],
    [["journal", "lst"], "irm journal", "unknown command 'lst'\n(Did you mean list?)"],
    // Every object has `toString`.
    [["toString"], "irm", "unknown command 'toString'"],
    [["serve", "--prot", "1"], "irm serve", "unknown option '--prot'\n(Did you mean --port?)"],
    [["journal", "list", "--flder"], "irm journal list", "unknown option '--flder'\n(Did you mean --folder?)"],
    [["--colour"], "irm", "unknown option '--colour'"],
    [["init", "--organizaton", "acme"], "irm init", "unknown option '--organizaton'\n(Did you mean --organization?)"],
    [["rehearse", "--as", "x"], "irm rehearse", `npx pulumi-irm rehearse ${IS_NOW_REVIEW}`],
    [["review", "--rehearse"], "irm review", `--rehearse ${IS_NOW_REVIEW}`],
    [
      ["completion", "ksh"],
      "irm completion",
      "command-argument value 'ksh' is invalid for argument 'SHELL'. Allowed choices are bash, zsh, fish.",
    ],
  ])("%j", async (args, command, sentence) => {
    expect(await run(...args)).toEqual(refusal(command, sentence));
  });

  test("fails in a separate process too", async () => {
    const text =
      "the development issuer mints tokens for anyone who reaches it, so --dev is refused on 0.0.0.0; leave out --host";
    expect(await runCommand("serve", "--dev", "--host", "0.0.0.0")).toEqual(refusal("irm serve", text));
  });
});

describe("a wrong flag is refused:", () => {
  test.each<[string[], string]>([
    [["--colour"], "unknown option '--colour'"],
    [["extra"], "too many arguments for 'serve'. Expected 0 arguments but got 1: extra."],
    [["--port"], "option '--port <N>' argument missing"],
    [["--port", "http"], '--port takes a port from 0 (any free one) to 65535, not "http"'],
    [["--port", "65536"], '--port takes a port from 0 (any free one) to 65535, not "65536"'],
    [["--port=-1"], '--port takes a port from 0 (any free one) to 65535, not "-1"'],
    [["--auth-port", "1e3"], '--auth-port takes a port from 0 (any free one) to 65535, not "1e3"'],
    [["--rate-limit", "0"], '--rate-limit takes a whole number from 1 to 999999, not "0"'],
    [["--rate-limit", "1.5"], '--rate-limit takes a whole number from 1 to 999999, not "1.5"'],
    [["--max-connections", "0"], '--max-connections takes a whole number from 1 to 999999, not "0"'],
    [["--idle-timeout", "1m"], '--idle-timeout takes a whole number from 1 to 999999, not "1m"'],
    [["--max-body-memory", "-"], '--max-body-memory takes a whole number from 1 to 999999, not "-"'],
    [["--max-answer-memory", "x"], '--max-answer-memory takes a whole number from 1 to 999999, not "x"'],
    [
      ["--log-level", "loud"],
      "option '--log-level <L>' argument 'loud' is invalid. Allowed choices are debug, info, warn, error.",
    ],
    [["--dev=yes"], "unknown option '--dev=yes'"],
    [["--public-url", "irm.example.com:8443"], "--public-url has no scheme; write https://irm.example.com:8443"],
    [["--copy-of", "127.0.0.1:8080"], "--copy-of: has no scheme; write http://127.0.0.1:8080"],
    [
      ["--dev", "--host", "localhost.example"],
      "the development issuer mints tokens for anyone who reaches it, so --dev is refused on localhost.example; leave out --host",
    ],
  ])("serve %j", async (args, text) => {
    expect(await run("serve", ...args)).toEqual(refusal("irm serve", text));
  });

  test.each<[string[], string]>([
    [[], "--issuer and --subject must be given"],
    [["--issuer", "http://127.0.0.1:1/dev-issuer"], "--subject must be given"],
    [["--subject", "", "--issuer", "http://127.0.0.1:1"], "--subject must be given"],
    [["--issuer", "dev-issuer", "--subject", "s"], '--issuer takes a URL, not "dev-issuer"'],
    [["--issuer", "[::1]:1/dev", "--subject", "s"], "--issuer has no scheme; write http://[::1]:1/…"],
    [["--issuer", "http://127.0.0.1:1", "--subject", "s", "--claim", "ref"], '--claim takes name=value, not "ref"'],
    [["--issuer", "http://127.0.0.1:1", "--subject", "s", "--claim", "=x"], '--claim takes name=value, not "=x"'],
  ])("token %j", async (args, text) => {
    expect(await run("token", ...args)).toEqual(refusal("irm token", text));
  });
});
