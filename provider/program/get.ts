// Look-ups for programs (provider/engine/look-up.ts): with promises, and with inputs that may not be known yet.
import * as pulumi from "@pulumi/pulumi";
import { type Json, lookUpArguments, type Resource } from "../../schema/index.ts";
import * as engine from "../engine/look-up.ts";
import { referenceUid } from "./inputs.ts";
import { rememberName } from "./names.ts";
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

/** Filters (several are ANDed), `orderBy` and `pageSize` (default and most: 200) of the API's list request. */
export type ListArgs<Request> = Omit<Request, "pageToken" | "skip">;

/** Asks the service for a record. */
type Find = <T>(resource: Resource, args: Json) => Promise<T>;

const findHere: Find = async (resource, args) => {
  try {
    return await engine.getRecord(programSession, resource, args);
  } catch (error) {
    throw error instanceof engine.LookUpError ? programError(error.message) : error;
  }
};

const lookUp = async <T>(resource: Resource, args: object, find: Find) => {
  if (isByName(resource)) engine.requireNamed(resource, args);
  return find<T>(resource, { ...args });
};

const isByName = ({ texts }: Resource) => texts?.lookUp?.by === "name";

/** The record that the arguments mean; `find` asks the service. */
export const get = async <T extends { uid: string }>(resource: Resource, args: object, find = findHere): Promise<T> => {
  const record = await lookUp<T>(resource, args, find);
  return isByName(resource) ? (rememberName(record as T & engine.Named) as T) : record;
};

/** The record as an Output, by inputs that may not be known yet; one may be a resource. A name may be secret, so it is not remembered. */
export const getOutput = <T>(resource: Resource, args: object, find = findHere): pulumi.Output<T> => {
  const inputs: Record<string, unknown> = { ...args };
  for (const { name, references } of lookUpArguments(resource)) {
    // A given parent that turns out to be undefined must not become a search at the root.
    if (inputs[name] === undefined) delete inputs[name];
    else if (references !== undefined) inputs[name] = referenceUid(inputs[name], references, name);
  }
  return pulumi.output(inputs).apply((known) => lookUp<T>(resource, known, find)) as pulumi.Output<T>;
};

/** Every record of a list. */
export async function* listRecords<T extends { uid: string }>(
  resource: Resource,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  yield* engine.listRecords<T>(programSession, resource, args);
}
