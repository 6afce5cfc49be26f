// The document that `irm drift --format json` prints, and that every other format shows.
//
//   drift        records that differ between the program and the service
//   undeclared   existing access that no resource of the stack has
//   roles        built-in roles that the service has changed
//   keys         static keys that end within 30 days, except pull tokens with only pull access that no resource has
//   pullTokens   the pull tokens of the organizations of the program; their end is a warning, not a difference
//   pending      creates that an interrupted run left open
//   unknown      steps that the run on a copy could not carry out, and facts that the preview does not show
//   notVisible   records that the API does not list

import { SECRET } from "../../pulumi/value.ts";
import { isObject } from "../../schema/index.ts";
import type { PullToken } from "../query/pull-tokens.ts";
import type { NotVisible, Origin, Unknown } from "../review/report.ts";
import { isChange, type RoleChange } from "../roles/change.ts";
import {
  type Document,
  type Item,
  line,
  originFacts,
  type Part,
  quotedItems,
  say,
  section,
} from "./document/document.ts";
import { endingTexts, excusedIf, pullTokenParts } from "./pull-token.ts";
import { roleItems, rolesTitle } from "./roles.ts";
import { countText, notVisibleItems, organizationParts } from "./words.ts";

/** A property whose values differ between the program and the service. Each element of a list is a separate difference. */
export interface Difference {
  /** as Pulumi writes the path of a property: `claimMatch.claims["a.b"]` */
  path: string;
  /** null: the program has none */
  program: unknown;
  /** null: the service has none */
  live: unknown;
  /** the side whose value differs from the last update; absent: unknown */
  changedIn?: "service" | "program" | "both";
}

/**
 * `changed`: other values; `gone`: the stack contains it, and the service does not; `new`: only the program contains it; `dropped`: the
 * stack contains it, and the program does not; `replaced`: an update would replace it.
 */
export type Change = "changed" | "gone" | "new" | "dropped" | "replaced";

export interface Drift {
  /** URN */
  resource: string;
  /** such as `role binding` */
  kind: string;
  /** of the record, even if it is gone; null: it does not exist yet. For a set of role bindings, the uid of its group */
  uid: string | null;
  name: string | null;
  /** of the group that contains the record; of a group, its own; null: unknown */
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
  /** of the identity, or the people who have the access without one, such as `people of PROVIDER` */
  name: string;
  /** uid; null: people */
  identity: string | null;
  group: string;
  groupName: string;
  /** name of the role */
  role: string;
  /** URN of the resource that removes it in the next update */
  removedBy?: string;
  /** the only binding by which the caller itself acts in the organization: not a difference */
  own?: true;
  /** by --allow: not a difference */
  allowed?: true;
  /** removes only this grant; absent: no command does, or it is not a difference */
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
  /** URN; null: the program no longer declares it */
  resource: string | null;
  /** of the resource in the program */
  logicalName: string;
  kind: string;
  /** of a record that the create may have made; null: none is known */
  uid: string | null;
  /** of the record that the program declares; null: unknown */
  name: string | null;
  /** uid of the group; null: at the root, or unknown */
  group: string | null;
  groupName: string | null;
  /** RFC 3339, when the request was sent; null: the engine's state does not record it */
  time: string | null;
  source: "journal" | "state";
}

export interface DriftReport {
  /** with the names of the program's organizations */
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

/** As an allowance: the access of pull tokens that hold only pull access. */
export const PULL_TOKENS = "pull-tokens";

export const counts = ({ own, allowed }: UndeclaredAccess): boolean => own !== true && allowed !== true;

/** Unknown facts may be differences. Records that the caller may not list are not: it never sees them. */
export const hasDifferences = ({ drift, undeclared, roles, keys, pending, unknown }: DriftReport): boolean =>
  undeclared.some(counts) || roles.some(isChange) || [drift, keys, pending, unknown].some(({ length }) => length > 0);

// A report of drift in the parts that people read.

export const driftDocument = (report: DriftReport): Document => {
  const { drift, undeclared, roles, keys, pullTokens, pending, unknown, notVisible } = report;
  const sections = [
    section("unknown", "Not known", quotedItems(unknown.map(({ message }) => message))),
    section("drift", "Differs from the program", drift.map(driftItem)),
    section("undeclared", "Access that nothing declares", undeclaredItems(undeclared, pullTokens)),
    section("roles", rolesTitle(roles), roleItems(roles)),
    section("keys", "Static keys that end within 30 days", keys.map(keyItem)),
    section("pull-tokens", "Pull tokens", pullTokenItems(pullTokens, undeclared)),
    section("pending", "Creates that an interrupted run left open", pending.map(pendingItem)),
    section("not-visible", "Not visible to the caller, so access may be missing here", notVisibleItems(notVisible)),
  ];
  return {
    title: titleOf(report),
    facts: originFacts(report.origin),
    sections,
    foot: sections.some(({ items }) => items.length > 0) ? footOf(report) : "",
  };
};

const titleOf = (report: DriftReport): Part[] => {
  const { drift, undeclared, roles, keys, pullTokens, pending, unknown, notVisible, origin } = report;
  const count = (...changes: Change[]) => drift.filter(({ change }) => changes.includes(change)).length;
  const rows: [number, string, string][] = [
    [count("changed", "replaced"), "record differs", "records differ"],
    [count("gone"), "record is gone", "records are gone"],
    [count("dropped"), "record is not in the program any more", "records are not in the program any more"],
    [count("new"), "record is not in the stack yet", "records are not in the stack yet"],
    [undeclared.filter(counts).length, "grant that nothing declares", "grants that nothing declares"],
    [roles.filter(isChange).length, "built-in role changed", "built-in roles changed"],
    [keys.length, "static key ends", "static keys end"],
    [pending.length, "create is open", "creates are open"],
    [unknown.length, "part is not known", "parts are not known"],
  ];
  const texts = rows.flatMap(([number, one, many]) => (number > 0 ? [countText(number, one, many)] : []));
  // Seeing nothing does not prove that nothing exists.
  const none = notVisible.length > 0 ? "no difference that you can see" : "no difference";
  const warnings = endingTexts(pullTokens);
  const found = `${texts.length === 0 ? none : texts.join(", ")}${warnings.map((one) => `; ${one}`).join("")}`;
  const { stack, organizations = [] } = origin ?? {};
  return say`Drift${stack !== undefined && say` of ${stack}`}${organizationParts(" in ", organizations)}: ${[found]}`;
};

const STATES: Readonly<Record<Change, string>> = {
  changed: " has other values",
  gone: " is gone, and an update that refreshes creates it again",
  new: " is not created yet",
  dropped: " is not in the program any more",
  replaced: " cannot be changed in place, and an update that refreshes replaces it",
};

/** The program adopts it, or an interrupted run has created it. */
const ADOPTED = " exists, and the next update adopts it";

const driftItem = ({ resource, kind, uid, name, groupName, change, differences, names = {} }: Drift): Item => ({
  parts: [
    ...say`${[kind]} ${name !== null && name}`,
    ...(groupName === null ? [] : say`${[name === null ? "of " : kind === "group" ? " at " : " in "]}${groupName}`),
    ...(name === null && groupName === null ? say`${resource}` : []),
    change === "new" && uid !== null ? ADOPTED : STATES[change],
  ],
  lines: [
    line`${resource}${uid !== null && say`, ${uid}`}`,
    ...differences.map((one) => ({ parts: differenceParts(one, names) })),
    ...(differences.length === 0 && change === "changed" ? [line`the update does not show which`] : []),
  ],
});

const CHANGED_IN: Readonly<Record<NonNullable<Difference["changedIn"]>, string>> = {
  service: "; changed at the service",
  program: "; changed in the program",
  both: "; changed at the service and in the program",
};

const differenceParts = (
  { path, program, live, changedIn }: Difference,
  names: Readonly<Record<string, string>>,
): Part[] => {
  const where = changedIn === undefined ? [] : [CHANGED_IN[changedIn]];
  const [ours, its] = [valueParts(program, names), valueParts(live, names)];
  if (program === SECRET && live === SECRET) return say`${path}: a secret, which may differ`;
  if (live === null) return say`${path}: only the program has ${ours}${where}`;
  if (program === null) return say`${path}: only the service has ${its}${where}`;
  return say`${path}: the program has ${ours}, the service ${its}${where}`;
};

const valueParts = (value: unknown, names: Readonly<Record<string, string>>): Part[] => {
  if (value === SECRET) return ["a secret"];
  if (typeof value === "string") {
    const name = nameIn(names, value);
    return name === undefined ? say`${JSON.stringify(value)}` : say`${name} ${value}`;
  }
  if (!isPair(value)) return say`${JSON.stringify(value)}`;
  const { identity, role } = value;
  return say`${nameIn(names, identity) ?? identity} as ${nameIn(names, role) ?? role}`;
};

/** A value may be `constructor`, which every object inherits. */
const nameIn = (names: Readonly<Record<string, string>>, value: string) =>
  Object.hasOwn(names, value) ? names[value] : undefined;

/** An element of a set of role bindings. */
const isPair = (value: unknown): value is { identity: string; role: string } =>
  isObject(value) &&
  Object.keys(value).length === 2 &&
  typeof value.identity === "string" &&
  typeof value.role === "string";

const VERBS: Readonly<Record<string, string>> = { "role binding": "is", "group invite": "gives" };

const undeclaredItem = (access: UndeclaredAccess): Item => {
  const { kind, uid, name, groupName, role, removedBy, own, allowed, command } = access;
  return {
    parts: [
      ...say`${name} ${[VERBS[kind] ?? "get"]} ${role} at ${groupName} by ${[kind]} ${uid}`,
      ...(removedBy === undefined ? [] : say`; an update that refreshes removes it by ${removedBy}`),
      own ? "; your own access, and no difference" : allowed ? "; allowed, and no difference" : "",
    ],
    lines: command === undefined ? [] : [line`to remove it: ${command}`],
    ...((own || allowed) && { isExcused: true }),
  };
};

const keyItem = ({ name, uid, groupName, expirationTime, resource }: EndingKey): Item => ({
  parts: say`${name} in ${groupName}: ${expirationTime}`,
  lines: [line`${resource ?? ["no resource of the stack"]}, ${uid}`],
});

/** An allowed pull token is only in the list of pull tokens. */
const undeclaredItems = (undeclared: readonly UndeclaredAccess[], pullTokens: readonly PullToken[]): Item[] => {
  const bindings = new Set(pullTokens.map(({ binding }) => binding));
  return undeclared.filter(({ uid, allowed }) => !(allowed && bindings.has(uid))).map(undeclaredItem);
};

const pullTokenItems = (pullTokens: readonly PullToken[], undeclared: readonly UndeclaredAccess[]): Item[] => {
  const accessBy = new Map(undeclared.map((one) => [one.uid, one]));
  return pullTokens.map((token) => {
    const { allowed, removedBy } = accessBy.get(token.binding ?? "") ?? {};
    return {
      parts: [
        ...pullTokenParts(token),
        ...(removedBy === undefined ? [] : say`; an update that refreshes removes this role binding by ${removedBy}`),
        ...(allowed ? ["; allowed, and no difference"] : []),
      ],
      lines: [line`${token.uid}`],
      ...excusedIf(token),
    };
  });
};

const pendingItem = ({ resource, logicalName, kind, uid, name, groupName, time, source }: PendingCreate): Item => ({
  parts: [
    ...say`${[kind]} ${name ?? logicalName}${groupName !== null && say` in ${groupName}`}`,
    ...say`${time !== null && say`, sent at ${time}`}, in the `,
    source === "journal" ? "journal of this machine" : "state of the engine",
  ],
  lines: [
    line`${resource ?? ["the program does not declare it any more"]}${uid !== null && say`, answered with ${uid}`}`,
  ],
});

/** Without a refresh, an update compares the program with the state, and does not notice a change at the service. */
const REPAIR =
  "An update repairs what differs if it refreshes: with options: { refresh: always } in Pulumi.yaml, or as pulumi up --refresh. ";

const footOf = ({ drift }: DriftReport) =>
  `${drift.length > 0 ? REPAIR : ""}docs/access.md#drift says what to do about each.`;
