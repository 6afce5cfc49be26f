// Members of resources and outputs that the SDK's types do not show (@pulumi/pulumi/output.ts).
import * as pulumi from "@pulumi/pulumi";

/** Type token of a resource. */
export const typeTokenOf = (resource: pulumi.Resource): string =>
  (resource as unknown as { __pulumiType: string }).__pulumiType;

interface Internals<T> {
  promise(): Promise<T | undefined>;
  allResources?(): Promise<unknown>;
  isKnown: Promise<boolean>;
  isSecret: Promise<boolean>;
}

const internalsOf = <T>(output: pulumi.Output<T>) => output as unknown as Internals<T>;

/** The value; undefined if a preview does not know it. */
export const awaitValue = <T>(output: pulumi.Output<T>): Promise<T | undefined> => internalsOf(output).promise();

/**
 * The value without the resources that it comes from: the engine stores the dependencies of each argument, and a text that only a reader
 * sees has none. Undefined if it fails: its argument then also fails, and that is reported.
 */
export const plainValue = async <T>(output: pulumi.Output<T>): Promise<T | undefined> => {
  markHandled(output);
  try {
    return await knownValue(output);
  } catch {
    return undefined;
  }
};

const knownValue = async <T>(output: pulumi.Output<T>) => {
  const value = await awaitValue(output);
  return (await internalsOf(output).isKnown) ? value : (pulumi.unknown as unknown as undefined);
};

/** The value without the resources that it comes from. A secret value keeps them, with its mark. */
export const withoutDependencies = async (output: pulumi.Output<string>): Promise<string> =>
  ((await internalsOf(output).isSecret) ? output : knownValue(output)) as unknown as string;

// A look-up may fail before the SDK reads its input. Without a handler until then, Node warns of the rejection.
export const markHandled = (value: unknown): void => {
  if (value instanceof Promise) value.catch(() => undefined);
  else if (pulumi.Output.isInstance(value)) {
    const internals = internalsOf(value);
    // Each of them rejects with the output.
    for (const part of [internals.promise(), internals.allResources?.(), internals.isKnown, internals.isSecret])
      Promise.resolve(part).catch(() => undefined);
  } else if (typeof value === "object" && value !== null && !pulumi.Resource.isInstance(value))
    for (const member of Object.values(value)) markHandled(member);
};
