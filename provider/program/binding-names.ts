// The names of what a role binding connects, from the program: the reviewer of a preview sees them beside the uids. A secret
// name shows as [secret] and never reaches the engine.
import * as pulumi from "@pulumi/pulumi";
import { isRoot, isUidp } from "../../schema/index.ts";
import { SECRET_NAME } from "../record/state.ts";
import type { Entered } from "./dependencies.ts";
import { plainValue } from "./output.ts";
import { perRun } from "./per-run.ts";

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

// Group to its argument `parent`; an organization has none.
const parents = new WeakMap<pulumi.Resource, unknown>();

export const rememberParent = (group: pulumi.Resource, parent: unknown): void => {
  parents.set(group, parent);
};

/** The path of a group, as far as the program declares what is above it; the name of an organization. */
const groupNameOf = (entered: Entered, reference: pulumi.Input<string>): pulumi.Output<string | undefined> => {
  const group = entered.resourceOf(reference);
  if (group === undefined) return outputOf(entered, reference);
  const groups = [group];
  for (let above = parentOf(entered, group); above && !groups.includes(above); above = parentOf(entered, above))
    groups.unshift(above);
  const path = pulumi.all(groups.map(partOf)).apply((parts) => pathFrom(parts));
  return maskName(path as pulumi.Output<string | undefined>);
};

const parentOf = (entered: Entered, group: pulumi.Resource): pulumi.Resource | undefined => {
  const parent = parents.get(group);
  return parent === undefined ? undefined : entered.resourceOf(parent);
};

interface Part {
  name?: string | undefined;
  isOrganization: boolean;
}

const partOf = (group: pulumi.Resource): pulumi.Output<Part> => {
  const name = ownName(group);
  if (parents.has(group))
    return name.apply((text) => ({ name: text, isOrganization: parents.get(group) === undefined }));
  // One that is read by its uid.
  const { id } = group as pulumi.CustomResource;
  return pulumi.all([name, id]).apply(([text, uid]) => ({ name: text, isOrganization: isUidp(uid) && isRoot(uid) }));
};

const pathFrom = (parts: readonly Part[]): string | undefined => {
  const [first, ...below] = parts as [Part, ...Part[]];
  const shown = first.isOrganization && below.length > 0 ? below : parts;
  return shown.some(({ name }) => name === undefined) ? parts.at(-1)?.name : shown.map(({ name }) => name).join("/");
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

const ownName = (resource: pulumi.Resource): pulumi.Output<string | undefined> =>
  pulumi.output((resource as { name?: pulumi.Output<string> }).name);

const maskName = (name: pulumi.Output<string | undefined>): pulumi.Output<string | undefined> =>
  pulumi.output(pulumi.isSecret(name)).apply((isSecret) => (isSecret ? SECRET_NAME : name)) as pulumi.Output<
    string | undefined
  >;
