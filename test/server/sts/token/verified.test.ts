// A token whose signature was verified is not verified again. It is refused all the same where it is no longer good.
import { expect, test } from "vitest";
import { createSigner } from "../../../../server/sts/index.ts";
import { IAM, serve } from "../../../harness/api-server.ts";
import { NOON_MS } from "../../../harness/clock.ts";
import { API, API_KEY, AUTH_URL, createService, NOW, UID, UNAUTHENTICATED } from "../../../harness/sts.ts";

const signer = createSigner({ clock: () => NOON_MS, keys: [API_KEY] });
const token = await signer.sign({ iss: AUTH_URL, sub: UID, aud: API, iat: NOW, exp: NOW + 3600 });

test("once its key has ended, and with the key of another signer", async () => {
  let hasEnded = false;
  const publicKey = (kid: string) => (hasEnded ? undefined : signer.publicKey(kid));
  const { sts } = createService([], { signer: { ...signer, publicKey } });
  expect(await sts.verifyApiToken(token)).toMatchObject({ subject: UID });
  expect(await sts.verifyApiToken(token)).toMatchObject({ subject: UID });
  hasEnded = true;
  await expect(sts.verifyApiToken(token)).rejects.toMatchObject(UNAUTHENTICATED);
  const { sts: other } = createService([], { signer: createSigner({ clock: () => NOON_MS }) });
  await expect(other.verifyApiToken(token)).rejects.toMatchObject(UNAUTHENTICATED);
});

test("with its own signature on other claims, or another signature on its claims", async () => {
  const { sts } = createService([], { signer });
  expect(await sts.verifyApiToken(token)).toMatchObject({ subject: UID });
  const [head, claims, signature] = token.split(".");
  const [, otherClaims, otherSignature] = (
    await signer.sign({ iss: AUTH_URL, sub: UID, aud: API, iat: NOW, exp: NOW + 3599 })
  ).split(".");
  for (const changed of [`${head}.${otherClaims}.${signature}`, `${head}.${claims}.${otherSignature}`])
    await expect(sts.verifyApiToken(changed)).rejects.toMatchObject(UNAUTHENTICATED);
});

test("at another issuer or for another audience with the same key", async () => {
  expect(await createService([], { signer }).sts.verifyApiToken(token)).toMatchObject({ subject: UID });
  for (const changes of [{ authUrl: "https://other.irm.example" }, { audiences: ["https://other.irm.example"] }])
    await expect(createService([], { signer, ...changes }).sts.verifyApiToken(token)).rejects.toMatchObject(
      UNAUTHENTICATED,
    );
});

test("once its identity was deleted, and once it has expired", async () => {
  const api = await serve();
  const { uid, token: used } = await api.actor("gone");
  const status = async (bearer: string) => (await api.call("GET", `${IAM}/groups`, { token: bearer })).status;
  expect([await status(used), await status(used)]).toEqual([200, 200]);
  await api.ok("DELETE", `${IAM}/identities/${uid}`);
  expect(await status(used)).toBe(401);
  expect(await status(api.owner.token)).toBe(200);
  api.clock.advance(60 * 60 * 1000);
  expect(await status(api.owner.token)).toBe(401);
});
