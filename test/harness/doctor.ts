// What the tests of `irm doctor` share: a reference server with the time of this machine, an identity, and an engine on the PATH.
import { chmodSync, mkdirSync } from "node:fs";
import { beforeEach, expect, vi } from "vitest";
import type { Check } from "../../cli/doctor/check.ts";
import { runIrm } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";
import { serve } from "./api-server.ts";
import { manualClock } from "./clock.ts";
import { createRecord } from "./records.ts";

export const MAIN = "repo:acme/images:ref:refs/heads/main";
export const PRODUCTION = { claims: { environment: "production" } };

export const failed = ({ checks }: { checks: Check[] }): string[] => checks.filter(({ ok }) => !ok).map(({ id }) => id);

/** id and message of each check that fails */
export const problems = async (...flags: string[]): Promise<[id: string, message: string][]> =>
  (await doctor(...flags)).checks.filter(({ ok }) => !ok).map(({ id, message }) => [id, message]);

export const messageOf = ({ checks }: { checks: Check[] }, id: string): string | undefined =>
  checks.find((one) => one.id === id)?.message;

export const doctor = async (...flags: string[]) => {
  const { code, stdout, stderr } = await runIrm("doctor", "--format", "json", ...flags);
  expect(stderr).toBe("");
  return { code, checks: JSON.parse(stdout).checks as Check[], text: stdout };
};

/** Sets the environment of each test of the file up, and removes everything after the last. */
export const startDoctor = async () => {
  const folder = testFolder();
  const api = await serve({ clock: manualClock(Date.now()) });
  const claimMatch = { issuer: api.issuer, subject: MAIN, ...PRODUCTION };
  const { uid } = await createRecord(api, "identities", api.organization, { name: "release", claimMatch });

  /** An engine on the PATH: the selected stack and its configuration. */
  const useEngine = (config: object = {}): void => {
    const script = `#!/bin/sh
args="$*"
case "\${args% --non-interactive --color never}" in
  version) echo v3.270.0 ;;
  "plugin ls --json") echo '[]' ;;
  "stack --show-name") echo dev ;;
  "config --json --stack dev") echo '${JSON.stringify(config)}' ;;
  *) echo "error: unexpected $*" >&2; exit 1 ;;
esac
`;
    chmodSync(folder.write("bin/pulumi", script), 0o755);
    vi.stubEnv("PATH", folder.path("bin"));
  };

  const useProject = (): void => {
    folder.write("project/Pulumi.yaml", "name: access\nruntime: nodejs\n");
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
  return { api, folder, release: uid as string, useEngine, useProject, workload };
};
