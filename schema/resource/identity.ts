// Identity: who may call. A workload assumes an identity by a token whose claims match (claimMatch), by a key of the
// identity (staticKeys), or as an AWS principal (awsIdentity). A servicePrincipal is a service of the platform.
import { z } from "zod";
import { isLoopbackUrl } from "../address.ts";
import {
  enumeration,
  message,
  optional,
  output,
  plain,
  recordTimes,
  required,
  string,
  stringMap,
  strings,
  timestamp,
} from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { PATTERN_MAX, patternViolation } from "../pattern.ts";
import { resource } from "../resource.ts";
import { description, matching, name, nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";

const ISSUER_TEXT = "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";

/**
 * Accepts https, and http on loopback, which a server may refuse (docs/internals/contract.md#d32). URL parsers must agree on the
 * spelling: no upper-case host, default port, dot or empty segment, and no number in place of an address. So the server
 * fetches exactly the address that it compares.
 */
export const isIssuer = (text: string): boolean => {
  if (text.length > 255 || !/^[\x21-\x7e]+$/.test(text) || /[?#]/.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, pathname, href } = new URL(text);
  if (username || password || pathname.includes("//")) return false;
  if (href !== text && href !== `${text}/`) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackUrl(text));
};

export const issuer = z.string({ error: ISSUER_TEXT }).refine(isIssuer, ISSUER_TEXT);
/** Most patterns for further claims of one identity. */
const CLAIM_PATTERNS_MAX = 20;
/** Most characters of an identity's own key set. */
export const KEYS_MAX = 65_536;
const LIMIT = { subject: 255, claim: 4096 };
const subject = nonEmpty.max(LIMIT.subject, `must be at most ${LIMIT.subject} characters`);

const unusable = (pattern: string) =>
  pattern === "" || pattern.length > PATTERN_MAX ? undefined : patternViolation(pattern);

const pattern = nonEmpty
  .max(PATTERN_MAX, `must be at most ${PATTERN_MAX} characters`)
  .superRefine((text, { addIssue }) => {
    const message = unusable(text);
    if (message) addIssue({ code: "custom", message });
  });
const claims = stringMap.refine(
  (map) => Object.values(map).every((value) => value.length <= LIMIT.claim),
  `must have values of at most ${LIMIT.claim} characters`,
);
const claimPatterns = stringMap
  // Too many patterns are not compiled: a thousand of them take seconds.
  .refine((map) => Object.keys(map).length <= CLAIM_PATTERNS_MAX, {
    error: `must have at most ${CLAIM_PATTERNS_MAX} patterns`,
    abort: true,
  })
  .refine(
    (map) => Object.values(map).every((value) => value.length <= PATTERN_MAX),
    `must have patterns of at most ${PATTERN_MAX} characters`,
  )
  .superRefine((map, { addIssue }) => {
    for (const [claim, text] of Object.entries(map)) {
      const message = unusable(text);
      if (message) addIssue({ code: "custom", message, path: [claim] });
    }
  });

/** Patterns are RE2 and match the whole claim (docs/internals/contract.md#d12). */
export const ClaimMatch = message(
  "iam.Identity.ClaimMatch",
  {
    issuer: plain(1, issuer, "`iss` of the workload's token, byte for byte: an https URL", { oneof: "iss" }),
    issuerPattern: plain(2, pattern, "Pattern for `iss`", { oneof: "iss" }),
    subject: plain(3, subject, "`sub` of the workload's token, byte for byte, at most 255 characters", {
      oneof: "sub",
    }),
    subjectPattern: plain(4, pattern, "Pattern for `sub`", { oneof: "sub" }),
    audience: plain(
      5,
      subject,
      "`aud` of the workload's token; default: the issuer of this service, its bare host, or the API audience",
      { oneof: "aud" },
    ),
    audiencePattern: plain(6, pattern, "Pattern for `aud`, instead of audience; default: none", { oneof: "aud" }),
    claims: optional(7, claims, "Further claims, which must be equal"),
    claimPatterns: optional(8, claimPatterns, "Further claims, which must match their patterns; at most 20"),
  },
  {
    requiredOneofs: ["iss", "sub"],
    argumentType: "ClaimMatch",
    text: "Patterns are RE2 and match the whole claim; at most 1024 characters each",
  },
);
export type ClaimMatch = z.infer<typeof ClaimMatch>;

/** The default and the longest life of an identity's own keys, from its creation. */
export const STATIC_KEYS_LIFE_MS = 365 * 24 * 60 * 60 * 1000;

/** A workload that signs with its own key. */
export const StaticKeys = message(
  "iam.Identity.StaticKeys",
  {
    issuer: required(1, issuer, "`iss` of the workload's token: an https URL, from which nothing is fetched"),
    subject: required(2, subject, "`sub` of the workload's token"),
    issuerKeys: required(
      3,
      nonEmpty.max(KEYS_MAX, `must be at most ${KEYS_MAX} characters`),
      "JSON Web Key Set (RFC 7517) of public keys, as text",
    ),
    expirationTime: optional(4, timestamp, "RFC 3339, at most 365 days after creation; default: the maximum", {
      serverChosen: true,
    }),
    audiences: optional(
      5,
      strings.max(1, "must have at most one audience"),
      "`aud` of the workload's token, at most one; default: as for a claim match",
      { list: "set" },
    ),
  },
  { argumentType: "StaticKeys", text: "Keys of a workload. Any change creates a new identity (allowReplace)" },
);

export const AwsIdentity = message(
  "iam.Identity.AWSIdentity",
  {
    awsAccount: required(1, matching(/^[0-9]{12}$/, 'awsAccount must match "^[0-9]{12}$"'), "Twelve digits"),
    arn: plain(2, nonEmpty, "ARN of the principal", { oneof: "aws_arn" }),
    arnPattern: plain(3, pattern, "Pattern for the ARN", { oneof: "aws_arn" }),
    userId: plain(4, nonEmpty, "User id of the principal", { oneof: "aws_user_id" }),
    userIdPattern: plain(5, pattern, "Pattern for the user id", { oneof: "aws_user_id" }),
  },
  {
    requiredOneofs: ["aws_arn", "aws_user_id"],
    argumentType: "AwsIdentity",
    text: "An AWS principal: its account, and its ARN and user id, or patterns for them",
  },
);

export const ServicePrincipal = enumeration(
  "iam.ServicePrincipal",
  {
    SERVICE_PRINCIPAL_UNSPECIFIED: 0,
    SERVICE_PRINCIPAL_COSIGNED: 1,
    SERVICE_PRINCIPAL_INGESTER: 2,
    SERVICE_PRINCIPAL_CATALOG_SYNCER: 3,
    SERVICE_PRINCIPAL_APKO_BUILDER: 4,
    SERVICE_PRINCIPAL_ENTITLEMENT_SYNCER: 5,
    SERVICE_PRINCIPAL_TENANT_SCANNER: 6,
    SERVICE_PRINCIPAL_SEDIMENTOLOGY: 7,
    SERVICE_PRINCIPAL_SKILLUP: 8,
    SERVICE_PRINCIPAL_MATERIALIZER: 9,
    SERVICE_PRINCIPAL_MICROFLOW: 10,
    SERVICE_PRINCIPAL_GUARDENER: 11,
    SERVICE_PRINCIPAL_MICROVM: 12,
    SERVICE_PRINCIPAL_SKILLS: 13,
  },
  { argumentType: "ServicePrincipal", text: "A service of the platform" },
);

export const RelationshipType = enumeration("iam.RelationshipType", {
  RELATIONSHIP_TYPE_UNSPECIFIED: 0,
  RELATIONSHIP_TYPE_CLAIM_MATCH: 1,
  RELATIONSHIP_TYPE_STATIC: 2,
  RELATIONSHIP_TYPE_AWS_IDENTITY: 3,
  RELATIONSHIP_TYPE_SERVICE_PRINCIPAL: 4,
});

export const Identity = message(
  "iam.Identity",
  {
    uid: output(1, uidp, "uid of its group, then a segment of its own"),
    name: required(2, name, "Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique"),
    description: optional(3, description, "One line, at most 512 characters; default: empty", { always: true }),
    email: output(4, string.optional(), "Verified address of a person"),
    emailUnverified: output(5, string.optional(), "Unverified address of a person"),
    company: optional(6, string.max(255, "must be at most 255 characters"), "At most 255 characters; default: empty"),
    lastSeenTime: output(8, timestamp, "When it last exchanged a token, or was created: RFC 3339, UTC", {
      outputText:
        "When it last exchanged a token, or was created: RFC 3339, UTC. Only a create or an update refreshes this output",
      volatile: true,
    }),
    ...recordTimes(9),
    claimMatch: plain(20, ClaimMatch, "Assumed by a workload whose token's claims match", { oneof: "relationship" }),
    staticKeys: plain(21, StaticKeys, "Assumed by a workload that signs with one of these keys", {
      oneof: "relationship",
      createOnly: true,
    }),
    awsIdentity: plain(22, AwsIdentity, "Assumed by an AWS principal", { oneof: "relationship" }),
    servicePrincipal: plain(23, ServicePrincipal, "A service of the platform", {
      oneof: "relationship",
      createOnly: true,
    }),
  },
  { requiredOneofs: ["relationship"], reserved: [7, "providers"] },
);
export type Identity = z.infer<typeof Identity>;

const standard = standardMethods(Identity, "identity", "identities");
const identityOperations = rows("iam.IdentitiesService", "/iam/{version}", {
  CreateIdentity: standard.create("identity.create"),
  GetIdentity: standard.get("identity.list"),
  DeleteIdentity: standard.delete("identity.delete"),
  UpdateIdentity: standard.update("identity.update"),
  ListIdentities: standard.list(
    "identity.list",
    {
      name: plain(2, string, "The whole name"),
      relationshipType: plain(3, RelationshipType, "How it is assumed"),
    },
    4,
  ),
  LookupIdentity: {
    http: "GET /identities:lookupIdentity",
    request: message("iam.LookupIdentityRequest", {
      issuer: required(1, nonEmpty, "`iss` of the workload's token"),
      subject: required(2, nonEmpty, "`sub` of the workload's token"),
    }),
    response: message("iam.LookupIdentityResponse", { uid: output(1, uidp, "uid of the identity") }),
    capabilities: [],
  },
});

export const identity = resource("Identity", identityOperations, {
  texts: {
    about:
      "a caller of the API. A workload assumes it with a token whose claims match, with its own key, or as an AWS principal.",
    parent: {
      argument: "The group that the identity belongs to: a Group or a uid",
      output: "uid of the group that the identity belongs to",
    },
    allowReplace:
      "Allows a change of parent, staticKeys or servicePrincipal to create a new identity; default: refused in the preview",
    forceDestroy: "Also deletes its role bindings that this run does not delete; default: they prevent the deletion",
    allowDuplicate:
      "Creates the identity although one with the same parent and fields exists that this stack did not create; default: the update refuses it",
    lookUp: { by: "name", text: "The identity of that name in `parent`." },
    list: "Identities that the caller may read.",
  },
  schema: Identity,
  cascades: true,
  replacementBreaks: "its uid would change, and role bindings and workloads that name it would lose their access",
});
