// Wrong flags: usage on stderr, nothing on stdout, exit 2 (issue 3, "Bad input gets").
import { describe, expect, test, vi } from "vitest";
import { serve } from "../../cli/serve.ts";
import { token } from "../../cli/token.ts";
import { UsageError } from "../../cli/usage.ts";
import { runCommand } from "../support/command.ts";

// Each starts a process: a second on an idle machine, many on a busy one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const COMMANDS = /Usage: irm COMMAND \[FLAGS\]\n\n {2}serve .*\n {2}token .*\n/;

describe("irm", () => {
  test("without a command tells the commands, as an error", async () => {
    expect(await runCommand()).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(COMMANDS) });
  });

  test("--help tells the commands, as an answer", async () => {
    expect(await runCommand("--help")).toEqual({ code: 0, stdout: expect.stringMatching(COMMANDS), stderr: "" });
  });

  // `toString` is a name of every object's.
  test("has no command toString", async () => {
    const { code, stdout, stderr } = await runCommand("toString");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.split("\n")[0]).toBe('irm: there is no command "toString"');
    expect(stderr).toMatch(COMMANDS);
  });

  test("serve --help tells every flag, as an answer", async () => {
    const { code, stdout, stderr } = await runCommand("serve", "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(serve.usage);
    for (const flag of ["port", "host", "auth-port", "db", "seed", "dev", "json", "log-level"])
      expect(stdout).toContain(`  --${flag} `);
  });

  test("serve with a wrong flag tells which, then the usage, and exits with 2", async () => {
    const { code, stdout, stderr } = await runCommand("serve", "--dev", "--host", "0.0.0.0");
    const text =
      "the development issuer mints tokens for anyone who reaches it, so --dev is refused on 0.0.0.0; leave out --host";
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: `irm serve: ${text}\n\n${serve.usage}`,
    });
  });
});

describe("a wrong flag is told", () => {
  test.each<[string[], string]>([
    [["--colour"], "Unknown option '--colour'"],
    [["extra"], "Unexpected argument 'extra'"],
    [["--port"], "Option '--port <value>' argument missing"],
    [["--port", "http"], '--port takes a port from 0 (any free one) to 65535, not "http"'],
    [["--port", "65536"], '--port takes a port from 0 (any free one) to 65535, not "65536"'],
    [["--port=-1"], '--port takes a port from 0 (any free one) to 65535, not "-1"'],
    [["--auth-port", "1e3"], '--auth-port takes a port from 0 (any free one) to 65535, not "1e3"'],
    [["--rate-limit", "0"], '--rate-limit takes a whole number from 1 to 999999, not "0"'],
    [["--rate-limit", "1.5"], '--rate-limit takes a whole number from 1 to 999999, not "1.5"'],
    [["--log-level", "loud"], '--log-level takes one of debug, info, warn, error, not "loud"'],
    [["--dev=yes"], "Option '--dev' does not take an argument"],
    [
      ["--dev", "--host", "localhost.example"],
      "the development issuer mints tokens for anyone who reaches it, so --dev is refused on localhost.example; leave out --host",
    ],
  ])("serve %j", async (args, text) => {
    const error = await serve.run(args).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message.split(". ")[0]).toBe(text);
  });

  test.each<[string[], string]>([
    [[], "--issuer and --subject must be given"],
    [["--issuer", "http://127.0.0.1:1/dev-issuer"], "--subject must be given"],
    [["--subject", "", "--issuer", "http://127.0.0.1:1"], "--subject must be given"],
    [["--issuer", "dev-issuer", "--subject", "s"], '--issuer takes a URL, not "dev-issuer"'],
    [["--issuer", "http://127.0.0.1:1", "--subject", "s", "--claim", "ref"], '--claim takes name=value, not "ref"'],
    [["--issuer", "http://127.0.0.1:1", "--subject", "s", "--claim", "=x"], '--claim takes name=value, not "=x"'],
  ])("token %j", async (args, text) => {
    const error = await token.run(args).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toBe(text);
  });
});
