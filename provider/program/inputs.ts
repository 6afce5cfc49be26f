// From the arguments of a program to the inputs that the engine gets: referenced records as uids, secrets marked. Our resources pass their
// uids as Outputs, so that the engine knows the order. The descriptor defines which is which.
import * as pulumi from "@pulumi/pulumi";
import {
  argumentsOf,
  fieldPaths,
  fieldsWith,
  isUidp,
  type Message,
  once,
  outputsByArgument,
  type Resource,
} from "../../schema/index.ts";
import { argumentReferencesOf, typeOfToken, withArticle } from "../record/kind.ts";
import { SECRETS, shownOncePaths } from "../record/normal-form.ts";
import { SECRET_ARGUMENTS } from "../record/state.ts";
import type { BoundRecord } from "./generated/bound-record.ts";
import { typeTokenOf } from "./output.ts";

/** One of the alternatives, never two: the others are a compile error. */
export type OneOf<T> = { [K in keyof T]: Required<Pick<T, K>> & { [Other in Exclude<keyof T, K>]?: never } }[keyof T];

/** The uid that a reference stands for; a resource of another type is refused where it is written. */
export const referenceUid = (value: unknown, type: string, argument: string): pulumi.Input<string> | undefined => {
  // Of a resource of ours in either form, even from another copy of this package.
  const given = pulumi.CustomResource.isInstance(value) ? typeOfToken(typeTokenOf(value)) : undefined;
  if (given === type) {
    const { uid, id } = value as pulumi.CustomResource & { uid?: pulumi.Output<string> };
    return uid ?? id;
  }
  if (given)
    throw new TypeError(`${argument} takes ${withArticle(type)} or its uid; it was given ${withArticle(given)}`);
  return value as pulumi.Input<string> | undefined;
};

/** The uid of a resource: its id, which the engine knows except in the preview of a create. There the outputs have it, if it is known. */
export const uidOf = (id: pulumi.Output<string>, planned: pulumi.Output<string>): pulumi.Output<string> => {
  if (!pulumi.runtime.isDryRun()) return id;
  return withPlanned(id, (value) => (pulumi.isUnknown(value) ? planned : value)) as pulumi.Output<string>;
};

/** As `apply`, but even for an unknown value. The second parameter is the SDK's own (@pulumi/pulumi/output.ts). */
export const withPlanned = (
  output: pulumi.Output<string>,
  map: (value: unknown) => unknown,
): pulumi.Output<unknown> => {
  const apply = output.apply.bind(output) as (known: (own: unknown) => unknown, runWithUnknowns: boolean) => unknown;
  return apply(map, true) as pulumi.Output<unknown>;
};

/** The arguments with uids for records, and with values that are never shown marked as secret. */
export const inputsFrom = (resource: Resource, args: object): pulumi.Inputs => {
  let inputs: unknown = { ...args };
  for (const { path, type } of argumentReferencesOf(resource))
    inputs = withMapped(inputs, path.split("."), (value) => {
      if (!isBlock(value)) return referenceUid(value, type, path);
      const members = Object.entries(value).map(([key, one]) => [key, referenceUid(one, type, `${path}.${key}`)]);
      return Object.fromEntries(members);
    });
  for (const path of secretInputs(resource)) inputs = withSecret(inputs, path.split("."));
  return inputs as pulumi.Inputs;
};

const isBlock = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Promise) &&
  !pulumi.Output.isInstance(value) &&
  !pulumi.Resource.isInstance(value);

const withMapped = (holder: unknown, [name = "", ...rest]: string[], map: (value: unknown) => unknown): unknown => {
  if (!isBlock(holder) || holder[name] === undefined) return holder;
  return { ...holder, [name]: rest.length === 0 ? map(holder[name]) : withMapped(holder[name], rest, map) };
};

const secretInputs = once(({ schema }: Resource): readonly string[] =>
  fieldPaths(schema, ({ inputOnly, secret }) => inputOnly === true && secret === true),
);

/** Marks the value at a path as secret. If a block on the way is an Output, the whole block becomes secret. */
const withSecret = (holder: unknown, [name, ...rest]: string[]): unknown => {
  if (name === undefined) return pulumi.secret(holder);
  if (pulumi.Output.isInstance(holder) || holder instanceof Promise)
    return pulumi.output(holder).apply((value) => pulumi.output(withSecret(value, [name, ...rest])));
  return withMapped(holder, [name], (value) => withSecret(value, rest));
};

/**
 * The options of a resource with secret outputs: values that the service shows once or never returns, and outputs of secret arguments with
 * another name. A dynamic provider cannot mark an output as secret by itself; only an option of the resource does.
 */
export const withSecretOutputs = (
  resource: Resource,
  opts: pulumi.CustomResourceOptions,
  given: pulumi.Inputs,
): pulumi.CustomResourceOptions => {
  const names = [...(secretInputs(resource).length > 0 ? [SECRETS] : []), ...shownOncePaths(resource)];
  const renamed = outputsByArgument(resource.schema).filter(({ argument }) =>
    pulumi.Output.isInstance(given[argument]),
  );
  if (names.length + renamed.length === 0) return opts;
  const additionalSecretOutputs = [...(opts.additionalSecretOutputs ?? []), ...names];
  // The SDK reads the list after it has awaited the arguments.
  for (const { argument, output } of renamed)
    pulumi.isSecret(given[argument]).then(
      (isSecret) => isSecret && additionalSecretOutputs.push(output),
      // The reader of an argument reports its rejection.
      () => undefined,
    );
  return { ...opts, additionalSecretOutputs };
};

/**
 * The outputs that the service returns in full, as records with their uids beside them. In a preview they are the program's values: a uid,
 * or the name of a role whose uid the update looks up.
 */
export const boundRecords = ({ schema }: Resource, outputs: object): Record<string, pulumi.Output<unknown>> => {
  const own = outputs as Record<string, pulumi.Output<BoundRecord | string>>;
  const names = argumentsOf(schema);
  return Object.fromEntries(
    answeredFields(schema).flatMap(({ name: field }) => {
      const argument = names[field] ?? field;
      const given = own[argument];
      if (given === undefined) return [];
      const record = given.apply((value) => {
        if (typeof value !== "string") return value;
        return isUidp(value) ? { uid: value, name: pulumi.unknown } : { uid: pulumi.unknown, name: value };
      }) as pulumi.Output<BoundRecord>;
      return [
        [argument, record],
        [field, record.uid],
      ];
    }),
  );
};

const answeredFields = once((schema: Message) => fieldsWith(schema, ({ answeredAs }) => answeredAs));

/**
 * The input that a preview adds: the names of the arguments that the program marks as secret. The preview of a dynamic resource describes
 * its record, and its provider gets values without their marks.
 */
export const secretArguments = (given: pulumi.Inputs): pulumi.Inputs => {
  if (!pulumi.runtime.isDryRun()) return {};
  const names = Promise.all(
    Object.entries(given).map(async ([name, value]) => ((await pulumi.isSecret(pulumi.output(value))) ? [name] : [])),
  ).then((found) => found.flat());
  // The reader of an input reports its rejection.
  names.catch(() => undefined);
  return { [SECRET_ARGUMENTS]: names };
};
