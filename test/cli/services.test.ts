// The services of a program: whose token a command sends to them, which is that of the flag that gives the address, and an address that is none.
import { afterEach, expect, test, vi } from "vitest";
import { clientsOf, servicesFrom } from "../../cli/services.ts";
import { failure, runIrm } from "../support/irm.ts";

const [HERE, THERE] = ["https://here.example.com", "https://there.example.com"];

afterEach(() => vi.unstubAllEnvs());

const stub = (env: Record<string, string>): void => {
  for (const name of ["IRM_BASE_URL", "IRM_AUTH_URL", "IRM_TOKEN", "IRM_IDENTITY_TOKEN", "IRM_ALLOW_TOKEN_SOURCES"])
    vi.stubEnv(name, env[name] ?? "");
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
};

const HOME = { baseUrl: HERE, authUrl: HERE, requestTimeoutMs: 1_000 };

test("--service names a token, whatever the job lists", async () => {
  stub({ IRM_BASE_URL: HERE, IRM_TOKEN: "secret", OTHER: "other" });
  const clients = clientsOf(HOME, servicesFrom([`${THERE}=OTHER`], process.env));
  expect([...clients.keys()]).toEqual([HERE, THERE]);
  expect(await clients.get(THERE)?.caller()).toMatchObject({ source: `OTHER (--service ${THERE})` });
});

test("drift with a wrong address ends before it runs the engine", async () => {
  vi.stubEnv("IRM_BASE_URL", "ftp://irm.example.com");
  const finished = await runIrm("drift");
  expect(finished).toEqual(failure(1, "environment IRM_BASE_URL: must be an https URL"));
  expect(finished.stderr).toContain("irm drift: ");
});
