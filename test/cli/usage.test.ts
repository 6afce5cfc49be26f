// Help, wrong command lines, the commands in README and docs, and `irm completion SHELL`.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { MAIN, runCommand } from "../support/command.ts";
import { GROUPS, COMMANDS as ORDER } from "../support/commands.ts";
import { COMPILED } from "../support/compiled.ts";
import { commandsOf, documents } from "../support/document.ts";
import { runIrm as run, success, usageError } from "../support/irm.ts";
import { rowsOf } from "../support/rows.ts";
import { testFolder } from "../support/test-folder.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const LIST = Object.entries(GROUPS).map(([name, own]) => `\n${name}:\n${own.map((one) => ` {2}${one} .*\n`).join("")}`);
const COMMANDS = new RegExp(`^Usage: npx pulumi-irm COMMAND \\[FLAGS\\]\n[\\s\\S]*${LIST.join("")}$`);
const CALLED = [
  ...ORDER.map((name) => [name]),
  ...["access whoami", "access paths", "serve token", "recover list", "recover clean"].map((words) => words.split(" ")),
];

test("irm prints the commands on stderr when it is called without one", async () => {
  expect(await runCommand()).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(COMMANDS) });
});

test.each([[["--help"]], [["-h"]], [["help"]]])("irm %j prints the commands on stdout", async (args) => {
  expect(await run(...args)).toEqual(success(expect.stringMatching(COMMANDS)));
});

test.each([["--version"], ["-V"]])("irm %s prints the version of the package", async (flag) => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await run(flag)).toEqual(success(`${version}\n`));
});

test("irm serve --help-all prints every flag on stdout, even with other mistakes", async () => {
  const { code, stdout, stderr } = await run("serve", "--port", "http", "--help-all");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Usage: npx pulumi-irm serve \[COMMAND\] \[FLAGS\]\n/);
  for (const flag of [
    ...["port N", "host ADDRESS", "auth-port N", "db FILE", "seed FILE.yaml", "dev", "tls-cert FILE", "tls-key FILE"],
    ...["refresh-tokens", "rate-limit N", "unique-role-bindings", "faults FILE.yaml", "json", "log-level L"],
  ])
    expect(stdout).toContain(`\n  --${flag} `);
  const { stdout: usual } = await run("serve", "--help");
  expect(usual).toContain("\n  --help-all ");
  expect(usual).not.toContain("--rate-limit");
});

test("irm each command has a description of at most 25 words, and an example", async () => {
  for (const words of CALLED) {
    const { stdout } = await run(...words, "--help");
    const [, description = ""] = stdout.split(/\n\n/);
    expect(description.trim().split(/\s+/).length, words.join(" ")).toBeLessThanOrEqual(25);
    expect(stdout).toContain(`\n\nExample:\n  npx pulumi-irm ${words.join(" ")}`);
  }
});

test.each([[["serve"]], [["recover"]], [["init"]], [["check"]], [["test"]], [["completion"]]])(
  "help %j is as --help",
  async (command) => {
    const help = await run("help", ...command);
    expect(help).toEqual(await run(...command, "--help"));
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Usage: npx pulumi-irm ${command.join(" ")} `),
    });
  },
);

test("help says once where a command that calls the API takes address and credentials from", async () => {
  const footer =
    "\n\nAddress and credentials come from the environment: IRM_BASE_URL, and IRM_TOKEN or another (docs/reference/provider.md).\n";
  const helps: { name: string[]; help: string }[] = [];
  for (const name of CALLED) helps.push({ name, help: (await run(...name, "--help")).stdout });
  const withFooter = helps.filter(({ help }) => help.endsWith(footer)).map(({ name }) => name.join(" "));
  expect(withFooter).toEqual([
    ...["test", "review", "apply", "access", "drift", "revoke", "export", "roles", "recover", "doctor"],
    ...["access whoami", "access paths"],
  ]);
  for (const { help } of helps)
    expect(help.split("IRM_TOKEN").length).toBeLessThanOrEqual(help.endsWith(footer) ? 3 : 1);
});

test("irm colours help and errors on a terminal, but not in a file or with NO_COLOR", async () => {
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

test.each<[string[], string, string]>([
  [["srve"], "irm", "unknown command 'srve'\n(Did you mean serve?)"],
  [["reviw"], "irm", "unknown command 'reviw'\n(Did you mean review?)"],
  [["journal"], "irm", "unknown command 'journal'"],
  // Every object has `toString`.
  [["toString"], "irm", "unknown command 'toString'"],
  [["serve", "--prot", "1"], "irm serve", "unknown option '--prot'\n(Did you mean --port?)"],
  [["recover", "list", "--flder"], "irm recover list", "unknown option '--flder'\n(Did you mean --folder?)"],
  [["init", "--organizaton", "acme"], "irm init", "unknown option '--organizaton'\n(Did you mean --organization?)"],
])("a wrong command line is refused with the nearest name: %j", async (args, command, sentence) => {
  expect(await run(...args)).toEqual(usageError(command, sentence));
});

const PORT = "takes a port from 0 (any free one) to 65535, not";
const CHECK = "--check takes CAPABILITY@GROUP, such as groups.list@/, not";
const COUNT = "takes a whole number from 1 to 999999, not";
const DEV_ISSUER = "the development issuer mints tokens for anyone who reaches it, so --dev is refused on";
const WHAT_TO_REVOKE =
  "give one of --identity, --binding and --external-group, or --undo with the file of an earlier revocation";
const ENGINE_FLAGS = "only --target, --target-dependents, --replace, --exclude are";

const WRONG = `
serve --colour | unknown option '--colour'
serve extra | too many arguments for 'serve'. Expected 0 arguments but got 1: extra.
serve --port | option '--port <N>' argument missing
serve --port http | --port ${PORT} "http"
serve --port 65536 | --port ${PORT} "65536"
serve --port=-1 | --port ${PORT} "-1"
serve --auth-port 1e3 | --auth-port ${PORT} "1e3"
serve --rate-limit 0 | --rate-limit ${COUNT} "0"
serve --rate-limit 1.5 | --rate-limit ${COUNT} "1.5"
serve --max-connections 0 | --max-connections ${COUNT} "0"
serve --idle-timeout 1m | --idle-timeout ${COUNT} "1m"
serve --max-body-memory - | --max-body-memory ${COUNT} "-"
serve --max-answer-memory x | --max-answer-memory ${COUNT} "x"
serve --log-level loud | option '--log-level <L>' argument 'loud' is invalid. Allowed choices are debug, info, warn, error.
serve --dev=yes | unknown option '--dev=yes'
serve --public-url irm.example.com:8443 | --public-url has no scheme; write https://irm.example.com:8443
serve --copy-of 127.0.0.1:8080 | --copy-of: has no scheme; write http://127.0.0.1:8080
serve --copy-to x.yaml | --copy-to writes what --copy-of reads: give both, or neither
serve --copy-of https://irm.example --seed x.yaml | --copy-of and --seed both give the records: leave one of them out
serve --copy-of http://irm.example | --copy-of: must be an https URL; http is for loopback only, since tokens would travel in the clear
serve --copy-of https://irm.example --dev --host 0.0.0.0 | ${DEV_ISSUER} 0.0.0.0; leave out --host
serve --dev --host localhost.example | ${DEV_ISSUER} localhost.example; leave out --host
serve --tls-cert cert.pem | --tls-cert and --tls-key belong together: give both or neither
serve --tls-key key.pem | --tls-cert and --tls-key belong together: give both or neither
serve token | --issuer and --subject must be given
serve token --issuer http://127.0.0.1:1/dev-issuer | --subject must be given
serve token --issuer dev-issuer --subject s | --issuer takes a URL, not "dev-issuer"
serve token --issuer [::1]:1/dev --subject s | --issuer has no scheme; write http://[::1]:1/…
serve token --issuer http://127.0.0.1:1 --subject s --claim ref | --claim takes name=value, not "ref"
serve token --issuer http://127.0.0.1:1 --subject s --claim =x | --claim takes name=value, not "=x"
completion ksh | command-argument value 'ksh' is invalid for argument 'SHELL'. Allowed choices are bash, zsh, fish.
test --format html | option '--format <FORMAT>' argument 'html' is invalid. Allowed choices are terminal, json.
access --format htm | option '--format <FORMAT>' argument 'htm' is invalid. Allowed choices are terminal, markdown, json, html.
access --capability tag.craete | --capability: there is no capability "tag.craete"; did you mean tag.create or tag.delete?
access --pull-tokens --identity ci | --pull-tokens and --identity cannot be combined
access --pull-tokens --unused 90d | --unused and --pull-tokens cannot be combined
access --unused 90 | --unused takes a number of days such as 90d, not "90"
access --unused 90d --identity a | --unused and --identity cannot be combined
access --unused 90d --format html | --unused prints terminal or json, not html
access --write access.yaml | --write is for --unused
access paths --to ownr | --to: there is no capability "ownr"; did you mean owner?
access whoami --check groups.list | ${CHECK} "groups.list"
access whoami --check @platform | ${CHECK} "@platform"
access whoami --check groups.lsit@/ | --check: there is no capability "groups.lsit"; did you mean groups.list?
drift --format html | option '--format <FORMAT>' argument 'html' is invalid. Allowed choices are terminal, markdown, json.
drift --service x | --service: "x" is not URL=VARIABLE, such as https://irm.example.com=OTHER_IRM_TOKEN
drift --service localhost:80=HOME | --service: the address before =HOME has no scheme; write http://localhost:80
export --into a.yaml --out x | --into and --out cannot be combined
export --into a.yaml --group / | --into and --group cannot be combined
export --into a.yaml --from-tfstate x | --into and --from-tfstate cannot be combined
export --into a.yaml --format python | --into adds to a policy, and --format python writes none
export --from-tfstate x.json --group platform | give --group or --from-tfstate: the state says which records are exported
export --from-tfstate x.json --no-adopt | --from-tfstate takes records over, so --no-adopt is not for it
revoke | ${WHAT_TO_REVOKE}
revoke --binding a --external-group b | ${WHAT_TO_REVOKE}
revoke --identity a --undo b | ${WHAT_TO_REVOKE}
revoke --undo b --out c | --out is not for --undo, which writes no file
revoke --undo b --undo-file c | --undo-file is not for --undo, which writes no file
revoke --identity a --out b --undo-file c | --undo-file is not for --out, which removes nothing
revoke --identity a | there is no terminal to ask whether to go on; give --yes
recover list --key k | unknown option '--key'
recover clean --key k --all | --key and --all cannot be combined
review --deny gains-ownr | --deny: there is no rule "gains-ownr"; did you mean gains-owner?
review --allow gains-owner | --allow: "gains-owner" is not RULE@SUBJECT, such as gains-owner@platform/release
review --format jsn | option '--format <FORMAT>' argument 'jsn' is invalid. Allowed choices are terminal, markdown, json, html.
review --rules /nowhere/rules.yaml | --rules: there is no file /nowhere/rules.yaml
review --as ci | --as: "ci" is not a uid
review c.json --destroy | --destroy is for a program, and c.json is a change
review c.json --stack dev | --stack is for a program, and c.json is a change
review c.json --as x | --as is for a program, and c.json is a change
review c.json --rights own | --rights is for a program, and c.json is a change
review c.json --out x | --out is for a program, and c.json is a change
review c.json -- --target urn:x | --target urn:x: c.json is a change, and no engine runs
`;
const COMMAND = /^(?:access (?:whoami|paths)|recover (?:list|clean)|serve token|\S+)/;

test.each(WRONG.trim().split("\n"))("a wrong flag is refused before any request: %s", async (line) => {
  const [written = "", problem = ""] = line.split(" | ");
  expect(await run(...written.split(" "))).toEqual(usageError(`irm ${COMMAND.exec(written)}`, problem));
});

test.each<[command: string, args: string[], problem: string]>([
  ["serve token", ["--subject", "", "--issuer", "http://127.0.0.1:1"], "--subject must be given"],
  ["access paths", ["--from", "{ githb: {} }"], "--from:1:3: githb: there is no such workload; did you mean github?"],
  [
    "access paths",
    ["--from", "{ github: { repo: a/b, branch: m } }"],
    "--from:1:3: github: repository is required\n--from:1:19: github.repo: unknown argument; did you mean repository?",
  ],
  [
    "drift",
    ["--allow", "ci", "--allow", ""],
    '--allow: "ci" is neither a uid nor pull-tokens\n--allow: "" is neither a uid nor pull-tokens',
  ],
  ["export", ["--out", ""], "--out: the name of the folder is empty; . is this folder"],
  ["export", ["--out", " "], "--out: the name of the folder is empty; . is this folder"],
  ["review", ["--out", ""], "--out takes the name of a file"],
  [
    "review",
    ["--", "--yes", "--debug"],
    `"--yes" is not passed on to the engine; ${ENGINE_FLAGS}\n"--debug" is not passed on to the engine; ${ENGINE_FLAGS}`,
  ],
])("a wrong flag is refused before any request: %s %j", async (command, args, problem) => {
  expect(await run(...command.split(" "), ...args)).toEqual(usageError(`irm ${command}`, problem));
});

const root = join(import.meta.dirname, "..", "..");
const CALL = /^npx pulumi-irm (access (?:whoami|paths)|recover (?:list|clean)|serve token|[a-z]+)(.*)$/;
const helps = new Map<string, Promise<string>>();
const helpOf = (command: string): Promise<string> => {
  const args = [...command.split(" "), command === "serve" ? "--help-all" : "--help"];
  const help = helps.get(command) ?? run(...args).then(({ code, stdout }) => (code === 0 ? stdout : ""));
  helps.set(command, help);
  return help;
};

test("the help of irm access paths has its flags in the order of docs/access.md#paths", async () => {
  const [, document = ""] = readFileSync(join(root, "docs", "access.md"), "utf8").split('<a id="paths"></a>');
  const flags = (await helpOf("access paths")).match(/(?<=^ +)--[a-z]+/gm) ?? [];
  const places = flags.map((flag) => document.indexOf(`\`${flag}`));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test.each(documents(root))("the commands in %s exist, with their flags", async (document) => {
  const commands = commandsOf(readFileSync(join(root, document), "utf8")).flatMap((line) => {
    const [, command = "", rest = ""] = CALL.exec(line) ?? [];
    return command === "" ? [] : [{ line, command, flags: rest.match(/(?<= )--[a-z-]+/g) ?? [] }];
  });
  if (/connect|take-over/.test(document)) expect(commands.length).toBeGreaterThan(0);
  for (const { line, command, flags } of commands) {
    const help = await helpOf(command);
    expect(help, line).toContain(`Usage: npx pulumi-irm ${command}`);
    for (const flag of flags) expect(help, line).toContain(flag);
  }
});

const folder = testFolder();

const complete = async (...words: string[]) => {
  const { code, stdout, stderr } = await run("complete", "--", ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [kind, ...lines] = stdout.trimEnd().split("\n");
  return { kind, values: lines.map((line) => line.split("\t")[0]) };
};

test.each(
  rowsOf(`
      rec_ | recover
      recover _ | list clean
      serve --tls_ | --tls-cert --tls-key
      serve --tls-cert --tls --tls_ | --tls-key
      serve --dev --de_ | nothing
      serve token --claim a=b --cl_ | --claim
      serve --log-level _ | debug info warn error
      serve --log-level=w_ | --log-level=warn
      completion z_ | zsh
      serve --port _ | nothing
      _ | ${ORDER.join(" ")}
      nothing _ | ${ORDER.join(" ")}
    `),
)("irm complete answers to %s with: %s", async (typed = "", values = "") => {
  // The cursor stands at `_`.
  const words = typed.replace("_", "").split(" ");
  expect(await complete(...words)).toEqual({ kind: "values", values: values === "nothing" ? [] : values.split(" ") });
});

test.each<[string[], string]>([
  [["serve", "--db", ""], "files"],
  [["serve", "--seed=a"], "files"],
  [["check", ""], "files"],
  [["init", "a"], "folders"],
  [["recover", "list", "--folder", ""], "folders"],
])("irm complete answers %j lets the shell list its %s", async (words, kind) => {
  expect(await complete(...words)).toEqual({ kind, values: [] });
});

test("the script for bash completes commands, flags, values and files, and evaluates no typed text", async () => {
  const bin = folder.path("bin");
  mkdirSync(bin);
  writeFileSync(`${bin}/irm`, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(`${bin}/irm`, 0o755);
  writeFileSync(folder.path("a seed.yaml"), "");
  const script = `
    source <(irm completion bash)
    source <(irm completion bash)
    complete -p irm
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _irm irm; (IFS="|"; echo "\${COMPREPLY[*]}"); }
    try irm rec
    try irm recover ""
    try irm serve --log-level = w
    try irm serve --seed "a"
    try irm serve --host '$(touch evaluated)' --no-such
    echo *`;
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, NODE_COMPILE_CACHE: COMPILED };
  const output = execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8", cwd: folder.path(""), env });
  expect(output.split("\n")).toEqual([
    ...["complete -F _irm irm", "recover", "list|clean", "warn", "a seed.yaml", ""],
    ...["a seed.yaml bin", ""],
  ]);
});

test.each(["bash", "zsh", "fish"])("irm completion %s prints the script alone", async (shell) => {
  const { code, stdout, stderr } = await run("completion", shell);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`Completion of irm for ${shell}: `));
});
