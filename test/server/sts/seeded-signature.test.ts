// The keys and signatures of the tests that repeat with a seed: the standard verifiers take them, and a seed gives them again.
import { compactVerify } from "jose";
import { expect, it } from "vitest";
import { createRandom } from "../../support/random.ts";
import { type KeyPair, seededEc, seededEd25519, seededRsa } from "../../support/seeded-key.ts";
import { signSeeded } from "../../support/seeded-signature.ts";

const pairsOf = (seed: number): Record<string, KeyPair> => {
  const random = createRandom(seed);
  const pairs: Record<string, KeyPair> = {
    ES256: seededEc(random, "P-256"),
    ES384: seededEc(random, "P-384"),
    ES512: seededEc(random, "P-521"),
    EdDSA: seededEd25519(random),
  };
  const rsa = seededRsa(random);
  for (const alg of ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]) pairs[alg] = rsa;
  return pairs;
};
const [pairs, again] = [pairsOf(7), pairsOf(7)];

it.each(Object.keys(pairs))("a token that is signed with %s verifies, and its seed gives it again", async (alg) => {
  const [own, same] = [pairs[alg], again[alg]] as [KeyPair, KeyPair];
  const sign = (pair: KeyPair, seed: number) => signSeeded(createRandom(seed), { sub: "s" }, pair.privateKey, { alg });
  const token = sign(own, 1);
  await expect(compactVerify(token, own.publicKey, { algorithms: [alg] })).resolves.toMatchObject({
    protectedHeader: { alg },
  });
  expect(sign(same, 1)).toBe(token);
  // Of the other algorithms the signature is one for a key and a message.
  if (/^[PE]S/.test(alg)) expect(sign(own, 2)).not.toBe(token);
});
