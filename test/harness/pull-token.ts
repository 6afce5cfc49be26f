// Pull tokens as clients of the service make them: an identity with a key of its own, and one role binding.
import { sharedKeys, type TestServer } from "./api-server.ts";
import { DAY_MS } from "./clock.ts";
import { createUid } from "./records.ts";

const ISSUER = "https://pulltoken.issuer.chainguard.dev";

export const pullTokenKeys = (name: string, expirationTime: string) => ({
  issuer: ISSUER,
  subject: `pull-token-${name}`,
  issuerKeys: JSON.stringify(sharedKeys().signer.jwks()),
  expirationTime,
});

/** The role is a uid, or a built-in one by its name. */
export const createPullToken = async (
  api: TestServer,
  { name, group, role = "registry.pull", days = 30 }: { name: string; group: string; role?: string; days?: number },
) => {
  const expires = new Date(api.clock() + days * DAY_MS).toISOString();
  const uid = await createUid(api, "identities", group, { name, staticKeys: pullTokenKeys(name, expires) });
  const roleUid = role.includes("/") ? role : await api.role(role);
  const binding = await createUid(api, "roleBindings", group, { identityUid: uid, roleUid });
  return { uid, binding, expires };
};

/** A client signs in with its password, a token that the key of the identity signs. */
export const usePullToken = async (api: TestServer, { uid }: { uid: string }, name: string): Promise<string> => {
  const iat = Math.floor(api.clock() / 1000);
  const claims = { iss: ISSUER, sub: `pull-token-${name}`, aud: api.authUrl, iat, exp: iat + 60 };
  const password = await sharedKeys().signer.sign(claims);
  const answer = await api.exchange(password, { aud: api.baseUrl, identity: uid });
  if (answer.status !== 200) throw new Error(`the exchange answered ${answer.status}: ${answer.text}`);
  return answer.json.token as string;
};
