// A server for others than developers, without `--dev`: its owner signs with a key of its own.
import { expect } from "vitest";
import { parseSeed } from "../../server/index.ts";
import { START_MS, sharedKeys, startServer, type TestServer } from "../harness/api-server.ts";
import type { Body } from "./http.ts";

const ISSUER = "https://keys.example";

/** `further`: other sections of the seed, as YAML. */
export const startPlainServer = async (organization = "{ name: acme }", further = ""): Promise<TestServer> => {
  const keys = JSON.stringify(sharedKeys().signer.jwks());
  const text = `
organization: ${organization}
identities: [{ name: root, staticKeys: { issuer: "${ISSUER}", subject: root, issuerKeys: '${keys}' } }]
bindings: [{ identity: root, role: owner }]
${further}`;
  const server = await startServer({ dev: false, seed: parseSeed(text, "seed.yaml") });
  server.owner.token = await ownerToken(server);
  return server;
};

/** A token of the owner of such a server, with further claims of the token that was exchanged. */
export const ownerToken = async (server: TestServer, further: Body = {}): Promise<string> => {
  const iat = Math.floor(START_MS / 1000);
  const claims = { iss: ISSUER, sub: "root", aud: server.authUrl, iat, exp: iat + 60, ...further };
  const answer = await server.exchange(await sharedKeys().signer.sign(claims), { aud: server.baseUrl });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.token as string;
};
