// How the look-ups and lists of programs become functions of the plugin, so that they use the provider of their options. Arguments,
// results and rules are the same as in the dynamic form; the functions themselves are generated (provider/program/generated/native).
import * as pulumi from "@pulumi/pulumi";
import { systemClock } from "../../../client/retry.ts";
import type { Json, Resource } from "../../../schema/index.ts";
import { TOKEN_PREFIX } from "../../record/kind.ts";
import { AccessPolicy as DynamicAccessPolicy } from "../access-policy.ts";
import { ExternalGroupRoleMapping, Group, Identity, Role, RoleBindingSet } from "../generated/native/classes.ts";
import * as dynamic from "../get.ts";
import { policyForms } from "../policy-resources.ts";
import { sharedProgramError } from "../session.ts";

type Options = pulumi.InvokeOptions | undefined;

export const get = <T extends { uid: string }>(resource: Resource, args: object, opts: Options): Promise<T> =>
  dynamic.get<T>(resource, args, ({ type }, known) => invokeFunction(`get${type}`, known, opts));

export const getOutput = <T>(resource: Resource, args: object, opts: Options): pulumi.Output<T> =>
  dynamic.getOutput<T>(resource, args, ({ type }, known) => invokeForOutput(`get${type}`, known, opts));

export async function* list<T>({ list: { operation, plural } }: Resource, args: object, opts: Options) {
  const { [plural]: records = [] } = await invokeFunction<Json>(listFunction(operation), args, opts);
  yield* records as T[];
}

/** The result of a function of the plugin; `name` is without the token's prefix. */
const invokeFunction = async <T>(name: string, args: object, opts?: pulumi.InvokeOptions): Promise<T> => {
  const result = await invokeIfConfigured<T>(name, args, opts);
  if (result !== undefined) return result;
  const text = `${name}: the settings of its provider are not known in this preview`;
  throw sharedProgramError(name.startsWith("get") ? `${text}; use ${name}Output` : text);
};

/** The result as the value of an Output, which a preview may not know. */
const invokeForOutput = async <T>(name: string, args: object, opts?: pulumi.InvokeOptions) =>
  (await invokeIfConfigured<T>(name, args, opts)) ?? (pulumi.unknown as T);

/** `ListGroups` to `listGroups`. */
const listFunction = (operation: string) => operation.charAt(0).toLowerCase() + operation.slice(1);

/** Undefined if a preview does not know the settings of the provider: the engine then answers with nothing. */
const invokeIfConfigured = async <T>(
  name: string,
  args: object,
  opts?: pulumi.InvokeOptions,
): Promise<T | undefined> => {
  try {
    const result: object = await pulumi.runtime.invoke(TOKEN_PREFIX + name, args as pulumi.Inputs, opts);
    return pulumi.runtime.isDryRun() && Object.keys(result ?? {}).length === 0 ? undefined : (result as T);
  } catch (error) {
    // The engine's error begins with the place of the call.
    throw sharedProgramError((error as Error).message.replace(/^invocation of \S+ returned an error: /i, ""));
  }
};

// AccessPolicy with native resources.

/**
 * AccessPolicy with resources that the plugin serves.
 *
 * Errors: those of AccessPolicy in pulumi-irm.
 *
 * @example
 * ```ts
 * new AccessPolicy("access", { file: "access.yaml" });
 * ```
 */
export class AccessPolicy extends DynamicAccessPolicy {}

policyForms.register(AccessPolicy, {
  classes: { ExternalGroupRoleMapping, Group, Identity, Role, RoleBindingSet },
  // Calls the provider of the component.
  client: async (component) => ({
    call: (operation, request) => invokeFunction(listFunction(operation), request, { parent: component }),
    clock: systemClock,
  }),
});
