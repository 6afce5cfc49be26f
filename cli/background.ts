// `irm serve --background`: the server in a process that outlives this command, and the variables for programs, for the shell's eval.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { RunningServer } from "../server/index.ts";
import { ownCommand } from "./own-command.ts";
import { SIGNALS } from "./terminal.ts";

/** The line that `--json` prints once the server is ready. */
export const readyLine = (
  { baseUrl, authUrl, issuer, organization, identity, localUrl, localAuthUrl }: RunningServer,
  token: string | undefined,
) => ({
  ...{ baseUrl, authUrl, issuer: issuer ?? null },
  ...{ organization: organization ?? null, identity: identity ?? null, token: token ?? null },
  ...{ localUrl, localAuthUrl },
});

export const variables = (
  { baseUrl, authUrl }: Pick<RunningServer, "baseUrl" | "authUrl">,
  token: string | null | undefined,
): string =>
  `IRM_BASE_URL=${baseUrl}${authUrl === baseUrl ? "" : ` IRM_AUTH_URL=${authUrl}`}${token ? ` IRM_TOKEN=${token}` : ""}`;

/**
 * Waits until the server is ready. If it does not start, prints its errors and returns its exit code. The shell then unsets the variables: they
 * may be those of another service.
 */
export const startInBackground = async (json: boolean): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "irm-serve-"));
  const log = join(folder, "serve.log");
  const args = process.argv.slice(2).filter((word) => word !== "--background" && word !== "--json");
  const [file, ...main] = ownCommand("main");
  const child = spawn(file, [...process.execArgv, ...main, ...args, "--json"], {
    detached: true,
    stdio: ["ignore", "pipe", openSync(log, "wx", 0o600)],
  });
  for (const signal of SIGNALS) process.once(signal, () => child.kill(signal));
  const stdout = child.stdout as Readable;
  const exited = once(child, "close");
  const [line] = await Promise.race([once(createInterface(stdout), "line"), exited]);
  if (typeof line !== "string") {
    process.stderr.write(readFileSync(log, "utf8"));
    rmSync(folder, { recursive: true });
    if (!json) process.stdout.write("unset IRM_BASE_URL IRM_AUTH_URL IRM_TOKEN; false\n");
    return (await exited)[0] ?? 1;
  }
  const ready: ReturnType<typeof readyLine> = JSON.parse(line);
  process.stdout.write(json ? `${line}\n` : `unset IRM_AUTH_URL; export ${variables(ready, ready.token)}\n`);
  process.stderr.write(
    `${[
      `serving ${ready.localUrl}`,
      ...(ready.organization === null ? [] : [`organization: ${ready.organization}`]),
      `log: ${log}`,
      `to stop it: kill ${child.pid}`,
    ].join("; ")}\n`,
  );
  stdout.destroy();
  child.unref();
  return 0;
};
