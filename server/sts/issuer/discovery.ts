// The discovery document of an issuer, at `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0 section 3).
/** Path of the key set below the issuer's URL. */
export const JWKS_PATH = "/.well-known/jwks.json";

export const discoveryDocument = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}${JWKS_PATH}`,
  response_types_supported: ["id_token"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
});
