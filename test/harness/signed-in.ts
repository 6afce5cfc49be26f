// Commands that call a server in this process, with a token in the environment.
import { beforeEach, vi } from "vitest";
import { serve, type TestServer } from "./api-server.ts";

/** From now on, with this token; until the end of the test. */
export const signIn = ({ baseUrl, owner }: TestServer, token = owner.token): void => {
  vi.stubEnv("IRM_BASE_URL", baseUrl);
  vi.stubEnv("IRM_TOKEN", token);
};

/** In each test of the file, as the owner. */
export const signInForEach = (api: TestServer): void => {
  beforeEach(() => {
    signIn(api);
    return () => void vi.unstubAllEnvs();
  });
};

/** A server for a file of tests, whose commands call it as the owner. */
export const serveSignedIn = async (...options: Parameters<typeof serve>): Promise<TestServer> => {
  const api = await serve(...options);
  signInForEach(api);
  return api;
};

/** Method and path of each request that the server has logged. */
export const requestsOf = ({ log }: TestServer): { method: string; path: string }[] =>
  log.map((line) => JSON.parse(line)).filter(({ event }) => event === "request");
