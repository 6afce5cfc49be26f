// The oracle of creates, updates and deletions (docs/internals/contract.md).
import { deepStrictEqual } from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { denied, type Expectation, invalid, missing, type Problem } from "./expectation.ts";
import {
  can,
  capabilitiesOf,
  capability,
  forget,
  isReadable,
  isUnderOrSelf,
  type Json,
  type Kind,
  messageOf,
  type Oracle,
  parentOf,
  type Row,
  rootOf,
  rowOf,
  rowsOf,
  UID,
  type Verb,
} from "./oracle.ts";

const isName = (value: unknown): boolean =>
  typeof value === "string" && /^[a-z0-9 ._-]{1,}$/.test(value) && value.length <= 255;
// `[\S ]{0,512}`, by characters.
const isDescription = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && !/[\t\n\f\r]/.test(value) && [...value].length <= 512);
const RELATIONSHIPS = ["claimMatch", "servicePrincipal"];

/** Fields of a kind that break a rule; `undefined`: some do, and docs/internals/contract.md does not say which. */
const brokenFields = (kind: Kind, fields: Json, isNew: boolean): (string | undefined)[] => {
  const { name, description, claimMatch, capabilities, identityUid, roleUid } = fields;
  if (kind === "roleBindings") return [...(identityUid ? [] : ["identityUid"]), ...(roleUid ? [] : ["roleUid"])];
  const broken: (string | undefined)[] = [];
  if (!isName(name)) broken.push("name");
  if (!isDescription(description)) broken.push("description");
  if (kind === "roles" && !(capabilities as string[] | undefined)?.length) broken.push("capabilities");
  if (kind === "identities") {
    const match = claimMatch as Record<string, string | undefined> | undefined;
    if (match?.issuer !== undefined && !match.issuer.startsWith("https://")) broken.push("claimMatch.issuer");
    // The published error for a new one from {} names `name` alone (docs/internals/contract.md#sample-a).
    else if (!RELATIONSHIPS.some((member) => fields[member]))
      broken.push(...(isNew && broken.length > 0 ? [] : [undefined]));
    else if (match && !((match.issuer || match.issuerPattern) && (match.subject || match.subjectPattern)))
      broken.push(undefined);
  }
  return broken;
};

const problemOf = (broken: readonly (string | undefined)[]): Problem[] => {
  if (broken.length === 0) return [];
  return broken.includes(undefined) ? [{ code: "INVALID_ARGUMENT" }] : [invalid(...(broken as string[]))];
};

/** Identity and role of a binding have to exist, the role at the group or above it, and the caller to hold what it grants. */
const linkProblems = (oracle: Oracle, caller: string, group: string, { identityUid, roleUid }: Json): Problem[] => {
  if (!identityUid || !roleUid) return [];
  const role = rowOf(oracle, "roles", roleUid);
  const reachable = role && (role.parent === undefined || isUnderOrSelf(role.parent, group));
  const broken = [
    ...(rowOf(oracle, "identities", identityUid) ? [] : ["identityUid"]),
    ...(reachable ? [] : ["roleUid"]),
  ];
  if (broken.length > 0) return [invalid(...broken)];
  return can(oracle, caller, capabilitiesOf(role), group) ? [] : [denied];
};

/** A caller sees only identities that it may list. Whether others may be bound is not fully specified. */
export const isStranger = (oracle: Oracle, caller: string, group: string, identityUid: unknown): boolean =>
  rowOf(oracle, "identities", identityUid) !== undefined &&
  rootOf(identityUid as string) !== rootOf(group) &&
  !can(oracle, caller, [capability("identities", "LIST")], identityUid as string);

/** Takes a new record's uid from the answer: it has to be fresh, and one segment below its parent (docs/internals/contract.md#uids). */
const adopt = (oracle: Oracle, kind: Kind, parent: string | undefined, uid: string, fields: Json): Row => {
  deepStrictEqual({ uid: UID.test(uid), parent: parentOf(uid) }, { uid: true, parent });
  const known = oracle.rows.has(uid) || oracle.gone.some((row) => row.uid === uid);
  deepStrictEqual(known, false, `the uid ${uid} is not new`);
  const row: Row = { kind, uid, parent, createMs: oracle.nowMs, updateMs: oracle.nowMs, fields };
  if (kind === "identities") row.seenMs = oracle.nowMs;
  oracle.rows.set(uid, row);
  return row;
};

// "" and absent are one in proto3.
const stored = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

/** `parent` undefined: a root group. */
export const expectCreate = (
  oracle: Oracle,
  caller: string,
  kind: Kind,
  parent: string | undefined,
  fields: Json,
): Expectation => {
  const allowed = parent === undefined || can(oracle, caller, [capability(kind, "CREATE")], parent);
  const escalates = kind === "roles" && !can(oracle, caller, capabilitiesOf({ fields } as Row), parent as string);
  const above = parent === undefined || rowOf(oracle, "groups", parent) !== undefined;
  const problems = allowed
    ? [
        ...problemOf(brokenFields(kind, fields, true)),
        ...(above ? [] : [missing]),
        ...(kind === "roleBindings" ? linkProblems(oracle, caller, parent as string, fields) : []),
        ...(escalates ? [denied] : []),
      ]
    : [denied];
  return {
    problems,
    accept: (answer) => messageOf(oracle, adopt(oracle, kind, parent, answer.uid as string, stored(fields))),
  };
};

/** The binding of a new root group, which no answer has shown yet. */
export const adoptFounding = (oracle: Oracle, root: string, uid: string, creator: string, owner: string): void => {
  const row = adopt(oracle, "roleBindings", root, uid, { identityUid: creator, roleUid: owner });
  row.founding = true;
};

/** All or nothing, in order, at most 25 (docs/internals/contract.md#role-bindings). */
export const expectBatch = (oracle: Oracle, caller: string, parent: string, links: readonly Json[]): Expectation => {
  const broken = links.flatMap((link, i) =>
    brokenFields("roleBindings", link, true).map((field) => `requests[${i}].roleBinding.${field}`),
  );
  const faults = links.map((link, i) =>
    linkProblems(oracle, caller, parent, link).map(({ code, fields }) => ({
      code,
      fields: fields?.map((field) => `requests[${i}].roleBinding.${field}`),
    })),
  );
  const unlinked = faults.flat().flatMap(({ code, fields = [] }) => (code === "INVALID_ARGUMENT" ? fields : []));
  const problems = can(oracle, caller, [capability("roleBindings", "CREATE")], parent)
    ? [
        ...(links.length === 0 || links.length > 25 ? [invalid("requests")] : []),
        ...(broken.length > 0 ? [invalid(...broken)] : unlinked.length > 0 ? [invalid(...unlinked)] : []),
        ...(rowOf(oracle, "groups", parent) ? [] : [missing]),
        ...(faults.flat().some(({ code }) => code === "PERMISSION_DENIED") ? [denied] : []),
      ]
    : [denied];
  return {
    problems,
    accept: (answer) => {
      const made = (answer.roleBindings as { uid: string }[]).map(({ uid }, i) =>
        adopt(oracle, "roleBindings", parent, uid, stored(links[i] as Json)),
      );
      deepStrictEqual(made.length, links.length);
      return { roleBindings: made.map((row) => messageOf(oracle, row)) };
    },
  };
};

/** A caller learns whether the record exists only if it may read the scope (docs/internals/contract.md#d5). */
const existenceProblems = (oracle: Oracle, caller: string, kind: Kind, uid: string, verb: Verb): Problem[] => {
  if (!can(oracle, caller, [capability(kind, verb)], uid)) return [denied];
  return rowOf(oracle, kind, uid) ? [] : [missing];
};

/** To change who assumes an identity, a caller must hold what it is granted in its organization (docs/internals/contract.md#d21). */
const takesOver = (oracle: Oracle, caller: string, { uid, fields }: Row, next: Json): boolean =>
  RELATIONSHIPS.some((member) => !isDeepStrictEqual(fields[member], next[member])) &&
  rowsOf(oracle, "roleBindings").some(
    ({ fields: link, parent = "" }) =>
      link.identityUid === uid &&
      rootOf(parent) === rootOf(uid) &&
      !can(oracle, caller, capabilitiesOf(rowOf(oracle, "roles", link.roleUid)), parent),
  );

/** `paths`: canonical, without the output-only ones; `unknown`: the mask names a field that there is not. */
export const expectUpdate = (
  oracle: Oracle,
  caller: string,
  kind: Kind,
  uid: string,
  body: Json,
  mask: { paths: readonly string[]; unknown: boolean },
): Expectation => {
  const problems = existenceProblems(oracle, caller, kind, uid, "UPDATE");
  const row = rowOf(oracle, kind, uid);
  if (problems.length > 0 || !row) return { problems, accept: () => ({}) };
  if (mask.unknown) return { problems: [invalid("updateMask")], accept: () => ({}) };

  const next = applyChange(kind, row.fields, body, mask.paths);
  const touched = brokenFields(kind, next, false).filter(
    (field) =>
      field === undefined ||
      mask.paths.some((path) => path === "*" || field.startsWith(path) || path.startsWith(field)),
  );
  const group = row.parent ?? uid;
  const escalates =
    (kind === "roles" && !can(oracle, caller, capabilitiesOf({ fields: next } as Row), group)) ||
    (kind === "identities" && takesOver(oracle, caller, row, next));
  return {
    problems: [
      ...problemOf(touched),
      ...(kind === "roleBindings" ? linkProblems(oracle, caller, group, next) : []),
      ...(escalates ? [denied] : []),
    ],
    accept: (answer) => {
      // Whether a change to what already is moves the time is nowhere specified.
      const same = JSON.stringify(sorted(next)) === JSON.stringify(sorted(row.fields));
      const kept = same && answer.updateTime === new Date(row.updateMs).toISOString();
      row.fields = next;
      if (!kept) row.updateMs = oracle.nowMs;
      return messageOf(oracle, row);
    },
  };
};

const sorted = (fields: Json) => Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));

const ALL: Record<Kind, readonly string[]> = {
  groups: ["name", "description"],
  identities: ["name", "description", ...RELATIONSHIPS],
  roles: ["name", "description", "capabilities"],
  roleBindings: ["identityUid", "roleUid"],
};
// Members of one oneof: setting one clears the other.
const SIBLINGS: Record<string, string> = {
  claimMatch: "servicePrincipal",
  servicePrincipal: "claimMatch",
  issuer: "issuerPattern",
  issuerPattern: "issuer",
  subject: "subjectPattern",
  subjectPattern: "subject",
};

const applyChange = (kind: Kind, current: Json, body: Json, paths: readonly string[]): Json => {
  const next = { ...current };
  for (const path of paths.includes("*") ? ALL[kind] : paths) {
    const [name, inner] = path.split(".") as [string, string?];
    if (inner) {
      const value = (body[name] as Json | undefined)?.[inner];
      if (next[name] || value) next[name] = set({ ...(next[name] as Json) }, inner, value);
      if (value) delete next[SIBLINGS[name] as string];
    } else set(next, name, body[name]);
  }
  return next;
};

const set = (fields: Json, name: string, value: unknown): Json => {
  if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) delete fields[name];
  else {
    fields[name] = value;
    delete fields[SIBLINGS[name] as string];
  }
  return fields;
};

const CHILDREN: Record<Kind, string> = {
  groups: "groups",
  identities: "identities",
  roles: "roles",
  roleBindings: "role bindings",
};

export const expectDelete = (oracle: Oracle, caller: string, kind: Kind, uid: string): Expectation => {
  const found = existenceProblems(oracle, caller, kind, uid, "DELETE");
  // The deletion of a missing role binding is a success (docs/internals/contract.md#d4).
  const problems = found.filter(({ code }) => !(kind === "roleBindings" && code === "NOT_FOUND"));
  const row = rowOf(oracle, kind, uid);
  if (problems.length === 0 && row) problems.push(...preconditionProblems(oracle, row));
  return {
    problems,
    accept: () => {
      if (row) forget(oracle, row);
      return "empty";
    },
  };
};

const preconditionProblems = (oracle: Oracle, { kind, uid }: Row): Problem[] => {
  const rows = [...oracle.rows.values()];
  if (kind === "roles" && rows.some(({ fields }) => fields.roleUid === uid)) return [{ code: "FAILED_PRECONDITION" }];
  if (kind !== "groups") return [];
  const children = new Set(rows.filter(({ parent, founding }) => parent === uid && !founding).map((row) => row.kind));
  if (children.size === 0) return [];
  const textOf = (child: Kind) => `RESOURCE_NOT_EMPTY: cannot delete group with child ${CHILDREN[child]}`;
  return [{ code: "FAILED_PRECONDITION", preconditions: [...children].map(textOf) }];
};

export const expectGet = (oracle: Oracle, caller: string, kind: Kind, uid: string): Expectation => {
  const row = rowOf(oracle, kind, uid);
  if (!isReadable(oracle, caller, kind, uid)) return { problems: [denied], accept: () => ({}) };
  return { problems: row ? [] : [missing], accept: () => messageOf(oracle, row as Row) };
};
