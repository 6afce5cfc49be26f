// Names of built-in roles in a program's arguments: the service is asked for them while the program runs, so that a preview shows all that
// are misspelt.
import * as pulumi from "@pulumi/pulumi";
import { getOrInsert, isBuiltInRole, isUidp, type Resource } from "../../schema/index.ts";
import { argumentReferencesOf } from "../record/kind.ts";
import type { Form } from "./form.ts";
import { isConstructed, perRun } from "./per-run.ts";
import { hasEngine, holdForLookUp, programError, programSession } from "./session.ts";

/** Which names of roles the program looks up: the names of its own service, and for the plugin only what may be misspelt. */
export type CheckedNames = "all" | "unpublished" | "none";

/**
 * The engine ends with the first resource that the plugin refuses, so the program finds all misspelt names. One with an explicit provider
 * may be at another service.
 */
export const namesToCheck = (
  { looksUp, prefix }: Form,
  type: string,
  opts: pulumi.CustomResourceOptions,
): CheckedNames => {
  if (looksUp) return "all";
  const isExplicit = opts.provider !== undefined || opts.parent?.getProvider(prefix + type) !== undefined;
  return isExplicit || isConstructed() ? "none" : "unpublished";
};

/**
 * The arguments that take the name of a built-in role. It is looked up while the program runs, so that a misspelt one is an
 * error of the preview; `isOwn` says that a role of the program is meant. The engine's side keeps the name, and looks up its uid
 * when it needs it.
 */
export const checkRoles = (
  resource: Resource,
  name: string,
  inputs: pulumi.Inputs,
  isOwn: (reference: unknown) => boolean,
  which: CheckedNames,
): pulumi.Inputs => {
  const roles = argumentReferencesOf(resource).flatMap(({ path, type }) => (type === "Role" ? [path] : []));
  const named = roles.filter((argument) => inputs[argument] !== undefined && !isOwn(inputs[argument]));
  return Object.fromEntries(
    named.map((argument) => [argument, checkRole(`${resource.type} ${name}: ${argument}`, inputs[argument], which)]),
  );
};

/** The argument as it is, refused where no built-in role has the name. Secret names are not shown. */
export const checkRole = (head: string, role: pulumi.Input<string>, which: CheckedNames): pulumi.Input<string> => {
  if (which === "none" || isUidp(role) || !hasEngine()) return role;
  if (which === "unpublished" && typeof role === "string" && isBuiltInRole(role)) return role;
  const given = pulumi.output(role);
  const check = async (value: string): Promise<string> => {
    const { builtInRoleUid, isRoleName, UnknownRole } = await import("../kind/built-in-role.ts");
    if (!isRoleName(value) || (which === "unpublished" && isBuiltInRole(value))) return value;
    try {
      await builtInRoleUid(await programSession(), value);
    } catch (error) {
      if (!(error instanceof UnknownRole)) {
        // The plugin has the same problem, or its own settings.
        if (which === "unpublished") return value;
        throw error;
      }
      const problem = (await pulumi.isSecret(given)) ? "no built-in role has this name" : error.message;
      const unknown = await unknownRole(head, problem);
      // The plugin reports it, with the other mistakes of that resource.
      if (which === "unpublished" && hasOneResource()) return value;
      throw unknown;
    }
    return value;
  };
  if (typeof role !== "string") return given.apply(check);
  const checked = check(role);
  if (which === "all") holdForLookUp(checked);
  return pulumi.output(checked);
};

const unknownRoles = perRun(() => new Map<string, { heads: string[]; error: Promise<pulumi.RunError> }>());

/** One error for all arguments with this problem: the SDK reports an error object once. */
const unknownRole = (head: string, problem: string): Promise<pulumi.RunError> => {
  const known = unknownRoles();
  const heads: string[] = [];
  const error = new Promise<pulumi.RunError>((resolve) =>
    // One answer of the service concerns all arguments that wait for it.
    setImmediate(() => resolve(programError(unknownRoleText(heads, problem)))),
  );
  const one = getOrInsert(known, problem, () => ({ heads, error }));
  one.heads.push(head);
  return one.error;
};

const hasOneResource = (): boolean => {
  const heads = [...unknownRoles().values()].flatMap((one) => one.heads);
  return new Set(heads.map((head) => head.split(": ", 1)[0])).size === 1;
};

const HEADS_SHOWN = 10;

const unknownRoleText = ([first, ...others]: readonly string[], problem: string): string => {
  if (others.length === 0) return `${first}: ${problem}`;
  const more = others.length >= HEADS_SHOWN ? [`and ${others.length + 1 - HEADS_SHOWN} more`] : [];
  return [`${problem}`, first, ...others.slice(0, HEADS_SHOWN - 1), ...more].join("\n  - ");
};
