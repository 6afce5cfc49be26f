// An issuer of workloads' tokens that answers on demand: an exchange that needs it is under way until then. It ends with its test.
import { sharedKeys, signedToken, type TestServer } from "../harness/api-server.ts";
import { createRecord } from "../harness/records.ts";
import { serveIssuer } from "../harness/sts.ts";

export const startHeldIssuer = async (api: TestServer) => {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const issuer = await serveIssuer([]);
  const { url } = issuer;
  issuer.handlers = {};
  issuer.fallback = async (request, response) => {
    asked.resolve();
    await released.promise;
    const json = request.url === "/jwks" ? sharedKeys().signer.jwks() : { issuer: url, jwks_uri: `${url}/jwks` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(json));
  };
  const body = { name: "held", claimMatch: { issuer: url, subject: "held" } };
  const { uid } = await createRecord(api, "identities", api.organization, body);
  return {
    /** an identity of the organization that trusts this issuer */
    identity: uid,
    /** a token that may assume it */
    token: await signedToken({ iss: url, sub: "held", aud: api.authUrl }),
    /** when the server has asked for the issuer's documents */
    asked: asked.promise,
    release: () => released.resolve(),
  };
};
