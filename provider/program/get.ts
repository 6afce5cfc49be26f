// Look-ups for programs (provider/engine/get.ts): with promises, and with inputs that may not be known yet.
import * as pulumi from "@pulumi/pulumi";
import type { Resource } from "../../schema/index.ts";
import * as engine from "../engine/get.ts";
import { remembered } from "./binding-names.ts";
import { referenceUid } from "./inputs.ts";
import { isPlanned, unknownRecord } from "./planned.ts";
import { programError, programSession } from "./session.ts";

/** A record by its name, in a group or at the root. */
export interface GetArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds the record; default: root-level records only */
  parent?: string;
}

/** A record by its uid. */
export interface GetByUidArgs {
  /** uid of the record */
  uid: string;
}

/** A record by its name in a group. */
export interface GetInGroupArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds it */
  parent: string;
}

/** Inputs that may not be known yet, looked for when they are. */
export type Inputs<T> = { [K in keyof T]: pulumi.Input<T[K]> };

/** The record of that name in a group, or at the root. */
export const getNamed = async <T extends engine.Named>(resource: Resource, args: GetArgs): Promise<T> =>
  remembered(await lookedUp(resource, args, () => engine.getNamed<T>(programSession, resource, args)));

/** The same with inputs that may not be known yet, by `get`. Its name may be secret, so it is not remembered. */
export const getNamedOutput = <T extends engine.Named>(
  resource: Resource,
  { name, parent }: { name: pulumi.Input<string>; parent?: unknown },
  get = (args: GetArgs): Promise<T> =>
    lookedUp(resource, args, () => engine.getNamed<T>(programSession, resource, args)),
): pulumi.Output<T> => {
  // A parent that was given and turns out undefined must not become a search at the root.
  const inputs = parent === undefined ? { name } : { name, parent: referenceUid(parent, resource.parent, "parent") };
  return pulumi.output(inputs).apply((args) => get(args as GetArgs)) as pulumi.Output<T>;
};

/** The record with this uid, or of this name in a `place` that must be given: there are none at the root. */
export const getIn = <T extends engine.Named>(
  resource: Resource,
  args: { uid?: unknown; name?: unknown },
  place = "parent",
): Promise<T> => lookedUp(resource, args, () => engine.getIn<T>(programSession, resource, { ...args }, place));

/** The record with this uid. */
export const getByUid = <T extends { uid: string }>(resource: Resource, uid: unknown): Promise<T> =>
  lookedUp(resource, { uid }, () => engine.getByUid<T>(programSession, resource, uid));

const lookedUp = async <T>(resource: Resource, args: object, look: () => Promise<T>): Promise<T> => {
  if (isPlanned(args)) return unknownRecord(resource);
  try {
    return await look();
  } catch (error) {
    throw error instanceof engine.LookUpError ? programError(error.message) : error;
  }
};

/** A look-up with inputs that may not be known yet; `place` may be a resource. */
export const getOutput = <Args, T>(
  resource: Resource,
  get: (args: Args) => Promise<T>,
  args: object,
  place = "parent",
): pulumi.Output<T> => {
  const { [place]: parent, ...others } = args as Record<string, unknown>;
  const inputs = place in args ? { ...others, [place]: referenceUid(parent, resource.parent, place) } : others;
  return pulumi.output(inputs).apply((known) => get(known as Args)) as pulumi.Output<T>;
};
