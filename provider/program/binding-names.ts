// The names of what a role binding connects, from the program: the reviewer of a preview sees them beside the uids. A secret
// name shows as [secret] and never reaches the engine.
import * as pulumi from "@pulumi/pulumi";
import { isUidp } from "../../schema/index.ts";
import { SECRET_NAME } from "../state/state.ts";
import type { Entered } from "./dependencies.ts";
import { perRun } from "./run.ts";

// uid to name, of the records that the program has looked up.
const lookedUp = perRun(() => new Map<string, string>());

/** Remembers a record that the program has looked up by a name that is not secret. */
export const remembered = <T extends { uid: string; name: string }>(record: T): T => {
  lookedUp().set(record.uid, record.name);
  return record;
};

/** The argument `names`; a name that nothing in the program knows is left out. */
export const bindingNames = (entered: Entered, { identity, role, parent }: pulumi.Inputs): pulumi.Inputs => ({
  identity: nameOf(entered, identity),
  role: nameOf(entered, role),
  group: nameOf(entered, parent),
});

export const nameOf = (
  entered: Entered,
  reference: pulumi.Input<string | undefined>,
): pulumi.Output<string | undefined> => {
  const resource = entered.resourceOf(reference);
  if (resource) return masked(ownName(resource));
  const named = pulumi.output(reference).apply(async (uid) => {
    if (uid === undefined) return undefined;
    // A role may be given by its name.
    if (!isUidp(uid)) return pulumi.output(uid);
    const other = await entered.resourceWith(uid);
    return other ? ownName(other) : pulumi.output(lookedUp().get(uid));
  });
  return masked(named as pulumi.Output<string | undefined>);
};

const ownName = (resource: pulumi.Resource): pulumi.Output<string | undefined> =>
  pulumi.output((resource as { name?: pulumi.Output<string> }).name);

const masked = (name: pulumi.Output<string | undefined>): pulumi.Output<string | undefined> =>
  pulumi.output(pulumi.isSecret(name)).apply((isSecret) => (isSecret ? SECRET_NAME : name)) as pulumi.Output<
    string | undefined
  >;
