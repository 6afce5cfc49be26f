// What the tests of `irm doctor` share: a reference server with the time of this machine, an identity, and an engine on the PATH.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, expect, vi } from "vitest";
import type { Check } from "../../cli/doctor/check.ts";
import { temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";
import { startServer } from "./api-server.ts";
import { manualClock } from "./clock.ts";
import { createRecord } from "./records.ts";

export const MAIN = "repo:acme/images:ref:refs/heads/main";
export const PRODUCTION = { claims: { environment: "production" } };

export interface Found {
  code: number | null;
  checks: Check[];
  /** all that was printed */
  text: string;
}

export const failed = ({ checks }: Pick<Found, "checks">): string[] =>
  checks.filter(({ ok }) => !ok).map(({ id }) => id);

export const messageOf = ({ checks }: Found, id: string): string | undefined =>
  checks.find((one) => one.id === id)?.message;

export const doctor = async (...flags: string[]): Promise<Found> => {
  const { code, stdout, stderr } = await runIrm("doctor", "--format", "json", ...flags);
  expect(stderr).toBe("");
  return { code, checks: JSON.parse(stdout).checks, text: stdout };
};

/** Sets the environment of each test of the file up, and removes everything after the last. */
export const startDoctor = async () => {
  const folder = temporaryFolder();
  const api = await startServer({ clock: manualClock(Date.now()) });
  const claimMatch = { issuer: api.issuer, subject: MAIN, ...PRODUCTION };
  const { uid } = await createRecord(api, "identities", api.organization, { name: "release", claimMatch });

  /** An engine on the PATH: the selected stack and its configuration. */
  const useEngine = (config: object = {}): void => {
    const bin = folder.path("bin");
    mkdirSync(bin, { recursive: true });
    const script = `#!/bin/sh
case "$*" in
  version) echo v3.270.0 ;;
  "plugin ls --json") echo '[]' ;;
  "stack --show-name --non-interactive") echo dev ;;
  "config --json --stack dev --non-interactive") echo '${JSON.stringify(config)}' ;;
  *) echo "error: unexpected $*" >&2; exit 1 ;;
esac
`;
    // Without a host of the language, a clone takes its own engine.
    for (const name of ["pulumi", "pulumi-language-nodejs"]) {
      writeFileSync(`${bin}/${name}`, script);
      chmodSync(`${bin}/${name}`, 0o755);
    }
    vi.stubEnv("PATH", bin);
  };

  const useProject = (): void => {
    mkdirSync(folder.path("project"), { recursive: true });
    writeFileSync(folder.path("project/Pulumi.yaml"), "name: access\nruntime: nodejs\n");
    vi.spyOn(process, "cwd").mockReturnValue(folder.path("project"));
  };

  const workload = async (subject: string, further: object = {}): Promise<string> => {
    const token = await api.identityToken(subject, { ...further });
    vi.stubEnv("IRM_IDENTITY_TOKEN", token);
    return token;
  };

  beforeEach(() => {
    mkdirSync(folder.path("empty"), { recursive: true });
    vi.spyOn(process, "cwd").mockReturnValue(folder.path("empty"));
    vi.stubEnv("XDG_STATE_HOME", folder.path("state"));
    vi.stubEnv("IRM_BASE_URL", api.baseUrl);
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NODE_EXTRA_CA_CERTS"])
      vi.stubEnv(name, undefined);
    useEngine();
    return () => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    };
  });
  afterAll(async () => {
    folder.remove();
    await api.close();
  });
  return { api, folder, release: uid as string, useEngine, useProject, workload };
};
