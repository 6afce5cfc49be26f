// Whose token a command sends to the services of a program: that of the flag that gives the address.
import { afterEach, expect, test, vi } from "vitest";
import { clientsOf, servicesFrom } from "../../cli/services.ts";

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
