// AWS: https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html. A workload with a role has the ARN of its session,
// not of the role: `assumed-role`, the role's name without its path, and the name of the session.
import { exactOrPattern, type Preset, presetFunction, segment } from "./preset.ts";

/** Exactly one of role and user. */
export interface AwsArgs {
  /** The account: twelve digits */
  account: string;
  /** Name of a role, without its path; default: a user is meant */
  role?: string;
  /** Name of the session of the role: the instance on EC2, the function on Lambda; default: any */
  session?: string;
  /** Name of a user, with its path: `deployer`, `teams/deployer`; default: a role is meant */
  user?: string;
  /** Unique id of the role or user, `AROA…` or `AIDA…`; default: any. Another role of the same name has another id */
  uniqueId?: string;
  /** Default: `aws`; others: `aws-cn`, `aws-us-gov` */
  partition?: string;
}

/** Arguments of an Identity: assumed by an AWS principal. */
export interface AwsRelationship {
  /** The principal: its account, its ARN and its id */
  awsIdentity: {
    /** Twelve digits */
    awsAccount: string;
  } & (
    | {
        /** ARN of the principal */
        arn: string;
        arnPattern?: undefined;
      }
    | {
        arn?: undefined;
        /** Pattern for the ARN */
        arnPattern: string;
      }
  ) &
    (
      | {
          /** Id of the principal */
          userId: string;
          userIdPattern?: undefined;
        }
      | {
          userId?: undefined;
          /** Pattern for the id */
          userIdPattern: string;
        }
    );
}

const arnPart = (text: string) => (text.startsWith("arn:") ? "must be the name alone, not an ARN" : segment(text));

const PARTITION = /^aws(?:-[a-z]+)*$/;

const relationship = (args: AwsArgs): AwsRelationship => {
  const { account, role, session = "*", user, uniqueId, partition = "aws" } = args;
  const arn =
    role === undefined
      ? exactOrPattern(`arn:${partition}:iam::${account}:user/${user}`)
      : exactOrPattern(`arn:${partition}:sts::${account}:assumed-role/${role}/`, anyOf(session));
  const id =
    role === undefined
      ? exactOrPattern(uniqueId ?? { pattern: "AIDA[A-Z0-9]+" })
      : exactOrPattern(uniqueId ?? { pattern: "AROA[A-Z0-9]+" }, ":", anyOf(session));
  return {
    awsIdentity: {
      awsAccount: account,
      ...(arn.exact === undefined ? { arnPattern: arn.pattern } : { arn: arn.exact }),
      ...(id.exact === undefined ? { userIdPattern: id.pattern } : { userId: id.exact }),
    },
  };
};

// The name of a session is never empty.
const anyOf = (session: string) => (session === "*" ? { pattern: "[^/:]+" } : session);

export const awsPreset: Preset<AwsArgs, AwsRelationship> = {
  title: "AWS",
  fields: {
    account: {
      description: "the account: twelve digits, in quotes",
      violation: (text) => (/^\d{12}$/.test(text) ? undefined : "must be twelve digits, in quotes"),
    },
    role: { description: "name of a role, without its path", violation: arnPart },
    session: {
      description: "name of the session of the role: the instance on EC2, the function on Lambda; default: any",
      optional: true,
      violation: segment,
    },
    user: {
      description: "name of a user, with its path",
      violation: (text) =>
        /^\/|\/$/.test(text) ? "must not begin or end with a slash" : arnPart(text.replaceAll("/", "")),
    },
    uniqueId: {
      description: "unique id of the role (AROA…) or user (AIDA…); default: any",
      optional: true,
      violation: (text) =>
        /^A(?:ROA|IDA)[A-Z0-9]+$/.test(text)
          ? undefined
          : "must be the id of a role (AROA…) or of a user (AIDA…), in capitals and digits",
    },
    partition: {
      description: "default: aws; others: aws-cn, aws-us-gov",
      optional: true,
      violation: (text) => (PARTITION.test(text) ? undefined : "must be aws, aws-cn or aws-us-gov"),
    },
  },
  choice: ["role", "user"],
  conflicts: ({ user, session, uniqueId = "" }) => [
    ...(user !== undefined && session !== undefined
      ? [{ field: "session", text: "belongs to a role, not to a user" }]
      : []),
    ...(uniqueId.startsWith(user === undefined ? "AIDA" : "AROA")
      ? [
          {
            field: "uniqueId",
            text: user === undefined ? "is the id of a user, not of a role" : "is the id of a role, not of a user",
          },
        ]
      : []),
  ],
  relationship,
};

/**
 * Assumed by an AWS principal. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...aws({ account: "123456789012", role: "deployer" }) });
 * ```
 */
export const aws = presetFunction("aws", awsPreset);
