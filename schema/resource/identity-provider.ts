// IdentityProvider: where the people of an organization sign in. The default role is granted at the first sign-in, so creating
// a provider means granting that role.
import type { z } from "zod";
import { bool, enumeration, message, optional, output, plain, required, string, strings, timestamp } from "../field.ts";
import { Empty, listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { createRequest, getRequest, updateRequest } from "../request.ts";
import { resource } from "../resource.ts";
import { description, name, nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";
import { issuer } from "./identity.ts";

export const CorrelationRule = enumeration("iam.IdentityProvider.OIDC.CorrelationRule", {
  CORRELATION_RULE_UNSPECIFIED: 0,
  CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID: 1,
  CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID: 2,
});

const CredentialState = enumeration("iam.IdentityProvider.SCIM.CredentialState", {
  CREDENTIAL_STATE_UNSPECIFIED: 0,
  CREDENTIAL_STATE_NOT_ISSUED: 1,
  CREDENTIAL_STATE_LIVE: 2,
  CREDENTIAL_STATE_EXPIRED: 3,
  CREDENTIAL_STATE_REVOKED: 4,
  CREDENTIAL_STATE_ROTATING: 5,
});

const SECRET_MAX = 4096;

const Oidc = message("iam.IdentityProvider.OIDC", {
  /** https URL of the issuer, byte for byte as its tokens have it */
  issuer: required(1, issuer),
  /** not sensitive */
  clientId: required(2, nonEmpty),
  /** never returned; may be left out with `pkceEnabled` */
  clientSecret: optional(3, string.max(SECRET_MAX, `must be at most ${SECRET_MAX} characters`), {
    secret: true,
    inputOnly: true,
  }),
  /** in addition to `openid`, which is always requested */
  additionalScopes: optional(4, strings, { list: "set" }),
  /** claim with the groups of the person who signs in */
  groupsClaim: optional(5, string),
  /** how a sign-in is matched to a provisioned person; unset = by `sub` */
  correlationRule: optional(6, CorrelationRule, {
    immutable: true,
    sameAsUnset: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
  }),
  /** PKCE (RFC 7636) */
  pkceEnabled: optional(7, bool),
});

const Scim = message(
  "iam.IdentityProvider.SCIM",
  {
    /** provisioning is enabled */
    enabled: output(1, bool.optional()),
    /** where the identity provider sends changes of people */
    endpointUrl: output(3, string.optional()),
    /** end of the current token; absent: none was issued, or it does not expire */
    tokenExpireTime: output(4, timestamp.optional()),
    /** end of the token before, while both are valid */
    previousTokenExpireTime: output(5, timestamp.optional()),
    /** state of the token */
    credentialState: output(6, CredentialState.optional()),
    /** version of the configuration */
    etag: output(7, string.optional()),
  },
  { reserved: [2, "bearer_token"] },
);

/** The client that signs users in has a secret, or proves itself each time (PKCE). */
const secretRule = ({ oidc }: Readonly<Record<string, unknown>>) => {
  if (typeof oidc !== "object" || oidc === null) return [];
  const { clientSecret, pkceEnabled } = oidc as Readonly<Record<string, unknown>>;
  return clientSecret || pkceEnabled
    ? []
    : [{ field: "oidc.clientSecret", description: "is required unless pkceEnabled is set" }];
};

export const IdentityProvider = message(
  "iam.IdentityProvider",
  {
    /** uid of its group, then a segment of its own */
    uid: output(1, uidp),
    /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
    name: required(2, name),
    /** one line, at most 512 characters */
    description: optional(3, description),
    createTime: output(4, timestamp),
    updateTime: output(5, timestamp),
    /** uid of the role that a first sign-in grants */
    defaultRole: required(6, uidp, { references: "Role" }),
    oidc: optional(20, Oidc, { oneof: "configuration" }),
    /** absent from lists */
    scim: output(21, Scim.optional()),
  },
  { requiredOneofs: ["configuration"], rules: secretRule },
);
export type IdentityProvider = z.infer<typeof IdentityProvider>;

const identityProviderOperations = rows("iam.IdentityProvidersService", "/iam/{version}", {
  ListIdentityProviders: {
    http: "GET /identityProviders",
    request: listRequest(
      "iam.ListIdentityProvidersRequest",
      {
        /** the whole name */
        name: plain(2, string),
      },
      10,
    ),
    response: listResponse("iam.ListIdentityProvidersResponse", "identityProviders", IdentityProvider),
    capabilities: ["identity_providers.list"],
  },
  GetIdentityProvider: {
    http: "GET /identityProviders/{uid=**}",
    request: getRequest("iam.GetIdentityProviderRequest"),
    response: IdentityProvider,
    capabilities: ["identity_providers.list"],
    scope: "uid",
  },
  CreateIdentityProvider: {
    http: "POST /identityProviders/{parent=**}",
    body: "identityProvider",
    request: createRequest("iam.CreateIdentityProviderRequest", "identityProvider", IdentityProvider),
    response: IdentityProvider,
    capabilities: ["identity_providers.create", "role_bindings.create"],
    scope: "parent",
  },
  UpdateIdentityProvider: {
    http: "PATCH /identityProviders/{identityProvider.uid=**}",
    body: "identityProvider",
    request: updateRequest("iam.UpdateIdentityProviderRequest", "identityProvider", IdentityProvider),
    response: IdentityProvider,
    capabilities: ["identity_providers.update", "role_bindings.create"],
    scope: "identityProvider.uid",
  },
  DeleteIdentityProvider: {
    http: "DELETE /identityProviders/{uid=**}",
    request: getRequest("iam.DeleteIdentityProviderRequest"),
    response: Empty,
    capabilities: ["identity_providers.delete"],
    scope: "uid",
  },
}) satisfies Operations;

export const identityProvider = resource("IdentityProvider", identityProviderOperations, {
  schema: IdentityProvider,
  replacementBreaks: "its uid would change, and who signs in by it would be somebody new",
});
