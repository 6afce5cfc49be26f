// The document that `irm drift --format json` prints, and that every other format shows.
//
//   drift        records that the program and the service have in different ways
//   undeclared   access that exists and that no resource of the stack has
//   roles        built-in roles that the service has changed
//   keys         static keys that end within 30 days, but for pull tokens that hold nothing but pulls and that no resource has
//   pullTokens   the pull tokens of the organizations of the program; their end is a warning, and no difference
//   pending      creates that an interrupted run left open
//   unknown      what the run on a copy could not do, and what the preview does not tell
//   notVisible   what the API does not list
import type { PullToken } from "../query/pull-tokens.ts";
import type { NotVisible, Origin, Unknown } from "../review/report.ts";
import { isChange, type RoleChange } from "../roles/change.ts";

/** A property that the program and the service have with different values. An element of a list is a difference of its own. */
export interface Difference {
  /** as Pulumi writes the path of a property: `claimMatch.claims["a.b"]` */
  path: string;
  /** null: the program has none */
  program: unknown;
  /** null: the service has none */
  live: unknown;
  /** who has another value than the last update; absent: not known */
  changedIn?: "service" | "program" | "both";
}

/**
 * `changed`: other values; `gone`: the stack has it, and the service does not; `new`: only the program has it; `dropped`: the stack has it,
 * and the program does not; `replaced`: an update would replace it.
 */
export type Change = "changed" | "gone" | "new" | "dropped" | "replaced";

export interface Drift {
  /** URN */
  resource: string;
  /** such as `role binding` */
  kind: string;
  /** of the record, also of one that is gone; null: it does not exist yet. A set of role bindings has that of its group */
  uid: string | null;
  name: string | null;
  /** of the group that holds the record; of a group, its own; null: not known */
  groupName: string | null;
  change: Change;
  differences: Difference[];
  /** names of the records that values mention by uid */
  names?: Record<string, string>;
}

export interface UndeclaredAccess {
  /** role binding, identity provider, external group role mapping, group invite */
  kind: string;
  /** of the record that gives the access */
  uid: string;
  /** of the identity, or who has the access without one, such as `people of PROVIDER` */
  name: string;
  /** uid; null: people */
  identity: string | null;
  group: string;
  groupName: string;
  /** name of the role */
  role: string;
  /** URN of the resource that removes it in the next update */
  removedBy?: string;
  /** the one binding by which the caller itself acts in the organization: no difference */
  own?: true;
  /** by --allow: no difference */
  allowed?: true;
  /** removes this grant and no other; absent: no command does, or it is no difference */
  command?: string;
}

export interface EndingKey {
  /** URN; null: no resource of the stack has the identity */
  resource: string | null;
  /** of the identity */
  uid: string;
  name: string;
  groupName: string;
  expirationTime: string;
}

export interface PendingCreate {
  /** URN; null: the program does not declare it any more */
  resource: string | null;
  /** of the resource in the program */
  logicalName: string;
  kind: string;
  /** of a record that the create may have made; null: none is known */
  uid: string | null;
  /** of the record that the program declares; null: not known */
  name: string | null;
  /** uid of the group; null: at the root, or not known */
  group: string | null;
  groupName: string | null;
  /** RFC 3339, when the request was sent; null: the engine's state does not say */
  time: string | null;
  source: "journal" | "state";
}

export interface DriftReport {
  /** with the names of the organizations that the program is about */
  origin?: Origin & { organizations?: string[] };
  drift: Drift[];
  undeclared: UndeclaredAccess[];
  /** built-in roles that differ from roles.lock.yaml; without one, from the table of this version */
  roles: RoleChange[];
  keys: EndingKey[];
  pullTokens: PullToken[];
  pending: PendingCreate[];
  unknown: Unknown[];
  notVisible: NotVisible[];
}

/** As an allowance: what pull tokens hold that hold nothing but pulls. */
export const PULL_TOKENS = "pull-tokens";

export const counts = ({ own, allowed }: UndeclaredAccess): boolean => own !== true && allowed !== true;

/** What is not known may be a difference. What the caller may not list is not: it never may. */
export const hasDifferences = ({ drift, undeclared, roles, keys, pending, unknown }: DriftReport): boolean =>
  undeclared.some(counts) || roles.some(isChange) || [drift, keys, pending, unknown].some(({ length }) => length > 0);
