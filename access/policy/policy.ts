// A policy without mistakes: groups by path, identities, custom roles, and who has which role where. It is independent of Pulumi and of the
// network: AccessPolicy creates it, and a review compares it with the records of the API.
import type { Json } from "../../schema/index.ts";
import type { Place } from "./source.ts";

/** The path of the organization itself. */
export const ROOT = "/";

export interface PolicyOrganization {
  /** exactly one of name and uid */
  name?: string;
  uid?: string;
  description?: string;
}

export interface PolicyRecord {
  /** of the record in the API */
  name: string;
  description?: string;
  /** its former key, if the policy sets it; its record keeps its uid */
  was?: string | undefined;
  /** absent if the policy is an object of a program */
  place?: Place;
}

export interface PolicyGroup extends PolicyRecord {
  /** keys from the organization down: `platform/registry` */
  path: string;
  /** path of the group above; `/` is the organization */
  parent: string;
}

export interface PolicyIdentity extends PolicyRecord {
  key: string;
  /** path of its group; `/` is the organization */
  group: string;
  /** one of claimMatch, staticKeys and awsIdentity, as in the API's JSON */
  relationship: Json;
}

export interface PolicyRole extends PolicyRecord {
  key: string;
  /** path of its group; `/` is the organization */
  group: string;
  /** friendly names, sorted */
  capabilities: readonly string[];
}

/** One identity has one role at one group, and everywhere below it. */
export interface PolicyBinding {
  /** path of the group; `/` is the organization */
  group: string;
  /** key of a role of the policy; otherwise the name of a built-in role */
  role: string;
  /** key of an identity of the policy */
  identity: string;
  place?: Place;
}

/** A requirement on access, as in the file: its names are resolved when it runs (access/test/run-tests.ts). */
export interface AccessTest {
  name: string;
  subject: TestSubject;
  /** path of a group: access there, including through the groups above; absent: anywhere */
  at?: string;
  can: readonly string[];
  cannot: readonly TestDenial[];
  /** also covers access that paths could reach (docs/access.md#paths) */
  ever?: true;
  place?: Place;
}

export type TestSubject =
  /** a key of the policy, or a name with its group */
  | { kind: "identity"; name: string }
  /** all identities that tokens like these can assume */
  | { kind: "workload"; text: string; relationship: Json }
  /** all who hold one of the capabilities; only the ones in `only` may */
  | { kind: "holders"; capabilities: readonly string[]; only: readonly string[] };

export interface TestDenial {
  /** friendly names or patterns with *, such as `*.create` */
  capabilities: readonly string[];
  at?: string;
}

/** Roles that people get at the organization when they sign in by one of its identity providers. */
export interface PolicyPeople {
  /** name of the identity provider, which the policy does not create */
  provider: string;
  /** keys of roles of the policy, or built-in roles, by id of an external group */
  externalGroups: ReadonlyMap<string, readonly string[]>;
  place?: Place;
}

export interface Policy {
  organization: PolicyOrganization;
  /** by path, a group before the groups below it */
  groups: ReadonlyMap<string, PolicyGroup>;
  /** by key */
  identities: ReadonlyMap<string, PolicyIdentity>;
  /** by key */
  roles: ReadonlyMap<string, PolicyRole>;
  bindings: readonly PolicyBinding[];
  /** requirements on the access of this policy only */
  tests: readonly AccessTest[];
  /** by name of the identity provider */
  people: ReadonlyMap<string, PolicyPeople>;
}

/** The people of one external group have one role at the organization. */
export interface PolicyMapping {
  /** name of the identity provider */
  provider: string;
  /** the group as named in a sign-in */
  externalGroupId: string;
  /** key of a role of the policy; otherwise the name of a built-in role */
  role: string;
}

export const mappingsOf = ({ people }: Pick<Policy, "people">): PolicyMapping[] =>
  [...people.values()].flatMap(({ provider, externalGroups }) =>
    [...externalGroups].flatMap(([externalGroupId, roles]) =>
      roles.map((role) => ({ provider, externalGroupId, role })),
    ),
  );
