// Google Cloud: https://cloud.google.com/compute/docs/instances/verifying-instance-identity#payload. The subject is the unique
// id of the service account, a number. Its address may belong to another account after a deletion; its id never does.
import {
  audienceField,
  type ClaimMatchRelationship,
  exactOrPattern,
  noColon,
  type Preset,
  presetFunction,
} from "./preset.ts";

/** Give uniqueId, email or both. */
export interface GoogleArgs {
  /** Unique id of the service account, digits: `gcloud iam service-accounts describe EMAIL` shows it; default: any */
  uniqueId?: string;
  /** Address of the service account. The workload must ask for a token with its address (`format=full`, `includeEmail`); default: any */
  email?: string;
  /** `aud` of the token; default: what this service accepts by itself */
  audience?: string;
}

export const GOOGLE_ISSUER = "https://accounts.google.com";

const emailViolation = (text: string) => {
  const [name, domain, ...rest] = text.split("@");
  if (!name || !domain || rest.length > 0) return "must be an address such as deployer@acme.iam.gserviceaccount.com";
  if (domain.includes("*")) return "must name one project: * may stand only before the @";
  return noColon(text);
};

const relationship = ({ uniqueId, email, audience }: GoogleArgs): ClaimMatchRelationship => {
  const { exact, pattern } = email === undefined ? {} : exactOrPattern(email);
  return {
    claimMatch: {
      issuer: GOOGLE_ISSUER,
      ...(uniqueId === undefined ? { subjectPattern: "[0-9]+" } : { subject: uniqueId }),
      audience,
      claims: email === undefined ? undefined : { ...(exact && { email: exact }), email_verified: "true" },
      claimPatterns: pattern === undefined ? undefined : { email: pattern },
    },
  };
};

export const googlePreset: Preset<GoogleArgs, ClaimMatchRelationship> = {
  title: "Google",
  fields: {
    uniqueId: {
      description: "unique id of the service account: gcloud iam service-accounts describe EMAIL shows it",
      violation: (text) =>
        /^\d{6,30}$/.test(text) ? undefined : "must be the number of the service account: digits alone, in quotes",
    },
    email: {
      description: "address of the service account; the workload must ask for a token with its address",
      violation: emailViolation,
    },
    audience: audienceField,
  },
  some: ["uniqueId", "email"],
  relationship,
};

/**
 * Assumed by workloads of a service account. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...google({ uniqueId: "112010400000000710080" }) });
 * ```
 */
export const google = presetFunction("google", googlePreset);
