// Whose token a command sends to the services of a program: a provider's address is the program's, and a flag's is the job's.
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

test("a provider elsewhere has a client only with a source that the job lists", () => {
  stub({ IRM_BASE_URL: HERE, IRM_TOKEN: "secret", OTHER: "other" });
  const provider = { baseUrl: THERE, tokenEnv: "OTHER" };
  expect(() => clientsOf(HOME, [], [provider])).toThrow(
    "provider of https://there.example.com: tokenEnv: names the variable OTHER that IRM_ALLOW_TOKEN_SOURCES of the environment does not list",
  );
  stub({ IRM_BASE_URL: HERE, IRM_TOKEN: "secret", OTHER: "other", IRM_ALLOW_TOKEN_SOURCES: "OTHER" });
  expect([...clientsOf(HOME, [], [provider]).keys()]).toEqual([HERE, THERE]);
});

test("a provider elsewhere whose token a preview does not show has none, and so never the token of the job", () => {
  const jobs: Record<string, string>[] = [
    { IRM_TOKEN: "secret" },
    { IRM_IDENTITY_TOKEN: "eyJhbGciOiJub25lIn0.e30.c2ln" },
  ];
  const providers: Record<string, string>[] = [{ baseUrl: THERE }, { baseUrl: THERE, authUrl: HERE }];
  for (const own of jobs) {
    stub({ IRM_BASE_URL: HERE, ...own });
    for (const provider of providers) expect([...clientsOf(HOME, [], [provider]).keys()]).toEqual([HERE]);
  }
});

test("--service names a token, whatever the job lists", async () => {
  stub({ IRM_BASE_URL: HERE, IRM_TOKEN: "secret", OTHER: "other" });
  const clients = clientsOf(HOME, servicesFrom([`${THERE}=OTHER`], process.env));
  expect([...clients.keys()]).toEqual([HERE, THERE]);
  expect(await clients.get(THERE)?.caller()).toMatchObject({ source: `OTHER (--service ${THERE})` });
});
