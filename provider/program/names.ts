// The names of the records that a role binding connects, from the program: the reviewer of a preview sees them beside the uids. A secret
// name shows as [secret] and never reaches the engine.
import * as pulumi from "@pulumi/pulumi";
import { bulleted, getOrInsert, isBuiltInRole, isRoot, isUidp, type Resource } from "../../schema/index.ts";
import { argumentReferencesOf } from "../record/kind.ts";
import { SECRET_NAME } from "../record/state.ts";
import type { Entered } from "./dependencies.ts";
import type { Form } from "./form.ts";
import { plainValue } from "./output.ts";
import { hasEngine, holdForLookUp, isConstructed, perRun, programError, programSession } from "./session.ts";

// uid to name, of the records that the program has looked up.
const lookedUp = perRun(() => new Map<string, string>());

/** Remembers a record that the program has looked up by a name that is not secret. */
export const rememberName = <T extends { uid: string; name: string }>(record: T): T => {
  if (typeof record.uid === "string") lookedUp().set(record.uid, record.name);
  return record;
};

/** The argument `names`; a name that nothing in the program knows is left out. */
export const bindingNames = (entered: Entered, { identity, role, parent }: pulumi.Inputs): pulumi.Inputs => ({
  identity: nameOf(entered, identity),
  role: nameOf(entered, role),
  group: plainValue(groupNameOf(entered, parent)),
});

/** The argument `names` of one pair of a set. */
export const nameOf = (entered: Entered, reference: pulumi.Input<string | undefined>): Promise<string | undefined> =>
  // A role may be given by its name.
  typeof reference === "string" && !isUidp(reference)
    ? Promise.resolve(reference)
    : plainValue(outputOf(entered, reference));

/** The path of a group, as far as the program declares the groups above it; the name of an organization. */
const groupNameOf = (entered: Entered, reference: pulumi.Input<string>): pulumi.Output<string | undefined> => {
  const group = entered.resourceOf(reference);
  if (group === undefined) return outputOf(entered, reference);
  const groups = [group];
  for (let above = entered.parentOf(group); above && !groups.includes(above); above = entered.parentOf(above))
    groups.unshift(above);
  const path = pulumi.all(groups.map((one) => partOf(entered, one))).apply((parts) => {
    const [first, ...below] = parts as [Part, ...Part[]];
    const shown = first.isOrganization && below.length > 0 ? below : parts;
    const names = shown.map(({ name }) => name);
    return names.includes(undefined) ? parts.at(-1)?.name : names.join("/");
  });
  return maskName(path as pulumi.Output<string | undefined>);
};

interface Part {
  name?: string | undefined;
  isOrganization: boolean;
}

const partOf = (entered: Entered, group: pulumi.Resource): pulumi.Output<Part> => {
  const name = ownName(group);
  const declared = entered.inputsOf(group);
  if (declared) return name.apply((text) => ({ name: text, isOrganization: declared.parent === undefined }));
  // A group that is read by its uid.
  const { id } = group as pulumi.CustomResource;
  return pulumi.all([name, id]).apply(([text, uid]) => ({ name: text, isOrganization: isUidp(uid) && isRoot(uid) }));
};

const outputOf = (entered: Entered, reference: pulumi.Input<string | undefined>): pulumi.Output<string | undefined> => {
  const resource = entered.resourceOf(reference);
  if (resource) return maskName(ownName(resource));
  const named = pulumi.output(reference).apply(async (uid) => {
    if (uid === undefined) return undefined;
    // A role may be given by its name.
    if (!isUidp(uid)) return pulumi.output(uid);
    const other = await entered.resourceWith(uid);
    return other ? ownName(other) : pulumi.output(lookedUp().get(uid));
  });
  return maskName(named as pulumi.Output<string | undefined>);
};

const ownName = (resource: pulumi.Resource) => pulumi.output((resource as { name?: pulumi.Output<string> }).name);

const maskName = (name: pulumi.Output<string | undefined>) =>
  pulumi.output(pulumi.isSecret(name)).apply((isSecret) => (isSecret ? SECRET_NAME : name)) as pulumi.Output<
    string | undefined
  >;

// Names of built-in roles in a program's arguments: the program looks them up while it runs, so that a preview shows all misspelt names.

/** Which names of roles the program looks up: the names of its own service, and for the plugin only names that may be misspelt. */
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
 * The arguments that take the name of a built-in role. It is looked up while the program runs, so that a misspelt one is an error of the
 * preview, unless it is a role of the program. The engine's side keeps the name, and looks up its uid when it needs it.
 */
export const checkRoles = (
  resource: Resource,
  name: string,
  inputs: pulumi.Inputs,
  entered: Entered,
  which: CheckedNames,
): pulumi.Inputs => {
  const roles = argumentReferencesOf(resource).flatMap(({ path, type }) => (type === "Role" ? [path] : []));
  const named = roles.filter((argument) => inputs[argument] !== undefined && !entered.resourceOf(inputs[argument]));
  return Object.fromEntries(
    named.map((argument) => [argument, checkRole(`${resource.type} ${name}: ${argument}`, inputs[argument], which)]),
  );
};

/** The argument unchanged, refused if no built-in role has the name. Secret names are not shown. */
export const checkRole = (head: string, role: pulumi.Input<string>, which: CheckedNames): pulumi.Input<string> => {
  if (which === "none" || isUidp(role) || !hasEngine()) return role;
  if (which === "unpublished" && typeof role === "string" && isBuiltInRole(role)) return role;
  const given = pulumi.output(role);
  const check = async (value: string): Promise<string> => {
    const { builtInRoleUid, isRoleName, UnknownRole } = await import("../kind/names.ts");
    if (!isRoleName(value) || (which === "unpublished" && isBuiltInRole(value))) return value;
    try {
      await builtInRoleUid(await programSession(), value);
    } catch (error) {
      if (!(error instanceof UnknownRole)) {
        // The plugin has the same problem, or uses other settings.
        if (which === "unpublished") return value;
        throw error;
      }
      const problem = (await pulumi.isSecret(given)) ? "no built-in role has this name" : error.message;
      const unknown = await unknownRole(head, problem);
      // The plugin reports it with the other mistakes of that resource.
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

const hasOneResource = () => {
  const heads = [...unknownRoles().values()].flatMap((one) => one.heads);
  return new Set(heads.map((head) => head.split(": ", 1)[0])).size === 1;
};

const HEADS_SHOWN = 10;

const unknownRoleText = ([first = "", ...others]: readonly string[], problem: string) => {
  if (others.length === 0) return `${first}: ${problem}`;
  const more = others.length >= HEADS_SHOWN ? [`and ${others.length + 1 - HEADS_SHOWN} more`] : [];
  return bulleted(problem, first, ...others.slice(0, HEADS_SHOWN - 1), ...more);
};
