// A check of `irm doctor`.

import type { Env } from "../../client/addresses.ts";
import { type Config, foundSettings, type GetConfig, type ParsedConfig } from "../../client/config.ts";
import { missingCredentials } from "../../client/credentials.ts";

export interface Check {
  /** stable, for scripts: `connection`, `claim.sub` */
  id: string;
  ok: boolean;
  message: string;
  /** the remedy of a failed check */
  fix?: string;
}

export const good = (id: string, message: string): Check => ({ id, ok: true, message });

export const bad = (id: string, message: string, fix: string): Check => ({ id, ok: false, message, fix });

// The configuration as the provider reads it, each value with its source. A wrong value is not printed: it may be a token in the wrong
// place.

const DOCS = "docs/reference/provider.md lists the settings";

export const checkSettings = (parsed: ParsedConfig, get: GetConfig | undefined, env: Env): Check[] => {
  const found = foundSettings(get, env);
  const problems = [...parsed.strictProblems];
  /** The problem of a place, for one report. */
  const takeProblem = (starts: string) => {
    const at = problems.findIndex((one) => one.startsWith(starts));
    return at === -1 ? undefined : problems.splice(at, 1)[0];
  };
  const checks = SETTINGS.flatMap(([name, id, defaultText]): Check[] => {
    const setting = found.find((one) => one.name === name);
    if (setting === undefined) {
      const problem = name === "baseUrl" ? takeProblem("no address of the API") : undefined;
      if (problem !== undefined) return [bad(id, problem, "export IRM_BASE_URL=… (docs/connect.md has the address)")];
      const text = defaultText(parsed.config);
      return text === undefined ? [] : [good(id, `${text} (default)`)];
    }
    const { value, place } = setting;
    const problem = takeProblem(`${place}: `);
    return [problem === undefined ? good(id, `${value} (${place})`) : bad(id, problem, DOCS)];
  });
  return [
    ...checks,
    ...problems.map((problem) => bad("settings", problem, DOCS)),
    ...parsed.warnings.map((text) => good("settings", text)),
  ];
};

/** Setting, id of its check, and its default in words; undefined: without a value, it has no check. */
const SETTINGS: readonly [name: string, id: string, defaultText: (config: Config | undefined) => string | undefined][] =
  [
    ["baseUrl", "address", () => undefined],
    ["authUrl", "exchange-address", (config) => config?.authUrl],
    ["identity", "identity", () => "the only identity with exactly the issuer and subject of the workload's token"],
    ["requestTimeout", "request-timeout", (config) => config && `${config.requestTimeoutMs / 1000}`],
    ["movedFrom", "moved-from", () => undefined],
  ];

/** Whether there are credentials at all. The sign-in shows which of them counts. */
export const checkCredentials = ({ credentials }: ParsedConfig, env: Env): Check | undefined => {
  const problem = missingCredentials(credentials);
  if (problem === undefined) return undefined;
  return bad(
    "credentials",
    problem,
    env.GITHUB_ACTIONS
      ? "give the job the permission id-token: write (docs/ci.md)"
      : "sign in (docs/connect.md#sign-in), or set one of these variables (docs/reference/provider.md#credentials)",
  );
};
