// IdentityProvider: where the people of an organization sign in. The default role is granted at the first sign-in, so creating
// a provider means granting that role.
import type { z } from "zod";
import {
  bool,
  enumeration,
  message,
  optional,
  output,
  plain,
  recordTimes,
  required,
  string,
  strings,
  timestamp,
} from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { description, name, nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";
import { issuer } from "./identity.ts";

const CorrelationRule = enumeration(
  "iam.IdentityProvider.OIDC.CorrelationRule",
  {
    CORRELATION_RULE_UNSPECIFIED: 0,
    CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID: 1,
    CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID: 2,
  },
  { argumentType: "CorrelationRule", text: "How people who sign in are matched to provisioned users" },
);

const CredentialState = enumeration("iam.IdentityProvider.SCIM.CredentialState", {
  CREDENTIAL_STATE_UNSPECIFIED: 0,
  CREDENTIAL_STATE_NOT_ISSUED: 1,
  CREDENTIAL_STATE_LIVE: 2,
  CREDENTIAL_STATE_EXPIRED: 3,
  CREDENTIAL_STATE_REVOKED: 4,
  CREDENTIAL_STATE_ROTATING: 5,
});

const SECRET_MAX = 4096;

const Oidc = message(
  "iam.IdentityProvider.OIDC",
  {
    issuer: required(1, issuer, "URL of the issuer, with https, byte for byte as in its tokens"),
    clientId: required(2, nonEmpty, "Id of the client that is registered with the issuer; not secret"),
    clientSecret: optional(
      3,
      string.max(SECRET_MAX, `must be at most ${SECRET_MAX} characters`),
      "Secret of the client, at most 4096 characters; never returned; optional with `pkceEnabled`",
      {
        argumentText:
          "Secret of the client, at most 4096 characters. Required without `pkceEnabled`, encrypted in the state, never returned by the service",
        secret: true,
        inputOnly: true,
      },
    ),
    additionalScopes: optional(4, strings, "Scopes to request besides `openid`; order and duplicates do not matter", {
      list: "set",
    }),
    groupsClaim: optional(5, string, "Claim that lists the groups of the person who signs in"),
    correlationRule: optional(
      6,
      CorrelationRule,
      "How people who sign in are matched to provisioned users; default: by `sub`",
      {
        argumentText:
          "How people who sign in are matched to provisioned users; default: by `sub`. A change creates a new provider, which needs allowReplace",
        immutable: true,
        sameAsUnset: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
      },
    ),
    pkceEnabled: optional(7, bool, "The client uses PKCE (RFC 7636), with or without a secret; default: false"),
  },
  {
    anyOf: ["clientSecret", "pkceEnabled"],
    argumentType: "OidcConfig",
    text: "A client with a secret, with PKCE (RFC 7636), or with both",
  },
);

const Scim = message(
  "iam.IdentityProvider.SCIM",
  {
    enabled: output(1, bool.optional(), "Whether provisioning is enabled"),
    endpointUrl: output(3, string.optional(), "Where the identity provider sends changes of people"),
    tokenExpireTime: output(
      4,
      timestamp.optional(),
      "When the current token expires; absent: none was issued, or it does not expire",
    ),
    previousTokenExpireTime: output(5, timestamp.optional(), "When the previous token expires, while both are valid"),
    credentialState: output(6, CredentialState.optional(), "State of the token"),
    etag: output(7, string.optional(), "Version of the configuration"),
  },
  { reserved: [2, "bearer_token"] },
);

export const IdentityProvider = message(
  "iam.IdentityProvider",
  {
    uid: output(1, uidp, "uid of its group, then a segment of its own"),
    name: required(2, name, "Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique"),
    description: optional(3, description, "One line, at most 512 characters; default: empty"),
    ...recordTimes(4),
    defaultRole: required(6, uidp, "uid of the role that a first sign-in grants", {
      argumentText: "The role granted at the first sign-in: the name of a built-in role, a Role, or a uid",
      references: "Role",
    }),
    oidc: optional(20, Oidc, "OpenID Connect", {
      outputText: "OpenID Connect, without the client secret",
      oneof: "configuration",
    }),
    scim: output(21, Scim.optional(), "State of provisioning (SCIM, RFC 7644); absent from lists"),
  },
  {
    requiredOneofs: ["configuration"],
    // The client that signs users in must have a secret, or prove itself each time (PKCE).
    rules: ({ oidc }) => {
      if (typeof oidc !== "object" || oidc === null) return [];
      const { clientSecret, pkceEnabled } = oidc as Readonly<Record<string, unknown>>;
      return clientSecret || pkceEnabled
        ? []
        : [{ field: "oidc.clientSecret", description: "is required unless pkceEnabled is set" }];
    },
  },
);
export type IdentityProvider = z.infer<typeof IdentityProvider>;

const standard = standardMethods(IdentityProvider, "identityProvider", "identityProviders");
const identityProviderOperations = rows("iam.IdentityProvidersService", "/iam/{version}", {
  ListIdentityProviders: standard.list("identity_providers.list", { name: plain(2, string, "The whole name") }, 10),
  GetIdentityProvider: standard.get("identity_providers.list"),
  CreateIdentityProvider: standard.create("identity_providers.create", "role_bindings.create"),
  UpdateIdentityProvider: standard.update("identity_providers.update", "role_bindings.create"),
  DeleteIdentityProvider: standard.delete("identity_providers.delete"),
});

export const identityProvider = resource("IdentityProvider", identityProviderOperations, {
  texts: {
    about: "where the people of an organization sign in.",
    parent: {
      argument: "The organization or group whose people sign in there: a Group or a uid",
      output: "uid of the group whose people sign in there",
    },
    allowReplace:
      "Allows a change of parent or correlationRule to create a new provider with a new uid; default: refused in the preview",
    forceDestroy:
      "Also deletes its mappings of external groups that this run does not delete; default: they prevent the deletion",
    lookUp: {
      by: "uid or name",
      text: "The identity provider with this uid, or of this name in `parent`; without its client secret.",
    },
    list: "Identity providers that the caller may read, without their client secrets.",
  },
  schema: IdentityProvider,
  cascades: true,
  replacementBreaks: "its uid would change, and the people who sign in there would get new identities",
});
