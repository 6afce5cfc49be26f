// Look-ups for programs: exactly one record, or an error that lists what was found. Without a parent only root-level
// records count (organisations, built-in roles), so that nobody can put a record of the same name in their way.
import * as pulumi from "@pulumi/pulumi";
import { type List, listChildren } from "../../client/paginate.ts";
import { nearestNames, printable } from "../../schema/index.ts";
import type { Group as GroupMessage, Identity as IdentityMessage, Role as RoleMessage } from "../../schema/public.ts";
import { remembered } from "./binding-names.ts";
import type { Group } from "./group.ts";
import { programError } from "./program-error.ts";
import { referenceUid } from "./reference.ts";
import { programSession } from "./session.ts";

export interface GetArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds the record; default: root-level records only */
  parent?: string;
}

export interface GetOutputArgs {
  /** The whole name */
  name: pulumi.Input<string>;
  /** The group that directly holds the record, a Group or a uid; default: root-level records only */
  parent?: Group | pulumi.Input<string>;
}

/** The group of that name in `parent`; without one, the organisation of that name. */
export const getGroup = async (args: GetArgs): Promise<GroupMessage> => remembered(await onlyGroup(args));

/** The identity of that name in `parent`. */
export const getIdentity = async (args: GetArgs): Promise<IdentityMessage> => remembered(await onlyIdentity(args));

/** The role of that name in `parent`; without one, the built-in role of that name: `viewer`, `editor`, `owner`. */
export const getRole = async (args: GetArgs): Promise<RoleMessage> => remembered(await onlyRole(args));

const onlyGroup = (args: GetArgs) => only<GroupMessage>("group", "ListGroups", "groups", args);
const onlyIdentity = (args: GetArgs) => only<IdentityMessage>("identity", "ListIdentities", "identities", args);
const onlyRole = (args: GetArgs) => only<RoleMessage>("role", "ListRoles", "roles", args);

/** getGroup with inputs that may not be known yet. */
export const getGroupOutput = (args: GetOutputArgs): pulumi.Output<GroupMessage> => later(args, onlyGroup);

/** getIdentity with inputs that may not be known yet. */
export const getIdentityOutput = (args: GetOutputArgs): pulumi.Output<IdentityMessage> => later(args, onlyIdentity);

/** getRole with inputs that may not be known yet. */
export const getRoleOutput = (args: GetOutputArgs): pulumi.Output<RoleMessage> => later(args, onlyRole);

const later = <T>({ name, parent }: GetOutputArgs, get: (args: GetArgs) => Promise<T>): pulumi.Output<T> => {
  // A parent that was given and turns out undefined must not become a search at the root.
  const inputs = parent === undefined ? { name } : { name, parent: referenceUid(parent, "Group", "parent") };
  return pulumi.output(inputs).apply((args) => get(args as GetArgs)) as pulumi.Output<T>;
};

const only = async <T extends { uid: string; name: string }>(
  word: string,
  operation: "ListGroups" | "ListIdentities" | "ListRoles",
  plural: string,
  args: GetArgs,
): Promise<T> => {
  const { name, parent } = args;
  if (typeof name !== "string" || name === "") throw new TypeError(`name of the ${word} to look for is required`);
  if (Object.hasOwn(args, "parent") && typeof parent !== "string")
    throw new TypeError(`parent of the ${word} to look for is given and undefined`);
  const matches: T[] = [];
  for await (const one of listChildren<T>(await programSession(), { operation, plural }, parent ?? "", { name }))
    if (one.name === name) matches.push(one);
  const [match, ...others] = matches;
  if (match && others.length === 0) return match;
  const where = parent === undefined ? "at the root" : `in ${parent}`;
  const list = matches.map((one) => `${one.uid} "${printable(one.name)}"`);
  const hint = matches.length === 0 ? await namesInstead({ operation, plural }, parent ?? "", name) : "";
  throw programError(
    [`${matches.length || "no"} ${word} named "${name}" ${where}; exactly one is needed${hint}`, ...list].join(
      "\n  - ",
    ),
  );
};

// Most records that are looked at for a name that may be meant.
const LOOKED_AT = 1_000;

const namesInstead = async (list: List, parent: string, name: string): Promise<string> => {
  const names: string[] = [];
  try {
    for await (const one of listChildren<{ uid: string; name: string }>(await programSession(), list, parent)) {
      names.push(one.name);
      if (names.length === LOOKED_AT) break;
    }
  } catch {
    // The name is wrong all the same; who may not list all of them gets no suggestion.
  }
  const near = nearestNames(name, names).map((one) => `"${printable(one)}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};
