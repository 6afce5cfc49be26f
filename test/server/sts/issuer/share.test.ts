// Issuers that never answer affect only their own organization. The first exchange of another one, which must fetch keys,
// succeeds meanwhile.
import { beforeEach, expect, test } from "vitest";
import { serve, sharedKeys, signedToken, type TestServer } from "../../../harness/api-server.ts";
import { createRecord, createUid } from "../../../harness/records.ts";
import { serveIssuer } from "../../../harness/sts.ts";

const DEAD = 60;
/** Of one organization, asked at once. */
const FETCHES = 50;

let api: TestServer;
let issuers: Awaited<ReturnType<typeof startIssuers>>;
beforeEach(async () => {
  api = await serve();
  issuers = await startIssuers();
});

/** Issuers by path: those below /dead are silent, the others publish keys. */
const startIssuers = async () => {
  const issuer = await serveIssuer([]);
  let silent = 0;
  const waiting = new Map<number, () => void>();
  issuer.publish([...sharedKeys().signer.jwks().keys] as never);
  issuer.fallback = ({ url = "" }, response) => {
    const [, name] = url.split("/");
    if (name !== "dead")
      return response.end(JSON.stringify({ issuer: `${issuer.url}/${name}`, jwks_uri: `${issuer.url}/jwks` }));
    silent += 1;
    return waiting.get(silent)?.();
  };
  return {
    ...issuer,
    /** when so many requests wait for an answer that never comes */
    silent: (count: number) =>
      new Promise<void>((resolve) => (silent >= count ? resolve() : waiting.set(count, resolve))),
  };
};

const trust = async (token: string, group: string, claimMatch: object): Promise<string> => {
  const body = { name: "ci", claimMatch: { subject: "s", ...claimMatch } };
  return await createUid(api, "identities", group, body, token);
};

/** A new organization, with an identity of a live issuer. */
const newTenant = async (name: string) => {
  const { token } = await api.actor(name);
  const { uid: group } = await createRecord(api, "groups", "", { name }, token);
  const issuer = `${issuers.url}/${name}`;
  return { group, token, issuer, identity: await trust(token, group, { issuer }) };
};

const exchange = async (issuer: string, identity: string): Promise<number> =>
  (await api.exchange(await signedToken({ iss: issuer, sub: "s", aud: api.authUrl }), { identity })).status;

test.each([
  ["exact issuers", (i: number) => ({ issuer: `${issuers.url}/dead/${i}` })],
  ["issuers that a pattern matches", () => ({ issuerPattern: `${issuers.url.replaceAll(".", "\\.")}/dead/.*` })],
])("one organization's silent %s do not fail the first exchange of another", async (_what, claimMatch) => {
  const dead = await Promise.all(
    Array.from({ length: DEAD }, (_none, i) => trust(api.owner.token, api.organization, claimMatch(i))),
  );
  const tenants = await Promise.all(["one", "two", "three"].map(newTenant));
  const pending = dead.map((identity, i) => exchange(`${issuers.url}/dead/${i}`, identity));
  await issuers.silent(FETCHES);

  for (const { issuer, identity } of tenants) expect(await exchange(issuer, identity)).toBe(200);
  // Their own organization has no place left.
  const own = await trust(api.owner.token, api.organization, claimMatch(DEAD));
  expect(await exchange(`${issuers.url}/dead/${DEAD}`, own)).toBe(403);
  expect(api.log.join("")).toContain("too many issuers are being asked");

  await issuers.close();
  expect(await Promise.all(pending)).toEqual(Array(DEAD).fill(403));
});
