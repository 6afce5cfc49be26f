// Shared by the tests of refresh tokens: a server over REST with a store that they can read.
import { openDatabase } from "../../../server/store/database.ts";
import { createStore, type Store } from "../../../server/store/store.ts";
import { serve, type TestServer } from "../../harness/api-server.ts";
import { recordOf } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectRefusal } from "../../support/refusal.ts";

export const start = async (options: Parameters<typeof serve>[0] = {}) => {
  const store = createStore(openDatabase(":memory:"));
  const api = await serve({ store, refreshTokens: true, ...options });
  return { api, store };
};

/** What an exchange for the owner answers. */
export const exchangeForOwner = async (api: TestServer, query: Body = {}): Promise<Body> =>
  recordOf(api.exchange(await api.identityToken("owner"), { identity: api.identity, ...query }));

export const use = (api: TestServer, token: string | null, query: Body = {}): Promise<Answer> =>
  api.call("POST", "/sts/exchange_refresh_token", { token, query: { aud: api.baseUrl, ...query } });

export const refreshWith = (api: TestServer, token: string, query: Body = {}): Promise<Body> =>
  recordOf(use(api, token, query));

export const expectRefused = (answer: Answer) =>
  expectRefusal(answer, "PERMISSION_DENIED", "the token may not be exchanged for this identity");

/** Reasons of the audit lines of refreshes. */
export const reasons = (api: TestServer) =>
  api.log
    .map((line) => JSON.parse(line) as Body)
    .filter(({ event }) => event === "sts.refresh")
    .map(({ reason }) => reason);

export const families = (store: Store) => store.database.prepare("SELECT * FROM refresh_families").all();

export const decodeRefreshToken = (refreshToken: string): Body =>
  JSON.parse(Buffer.from(refreshToken, "base64").toString());
