// The arguments and options of AccessPolicy, from the engine's request. The policy is read before anything is planned, so all but the identity
// providers must be known by then.
import * as pulumi from "@pulumi/pulumi";
import type { AccessPolicyArgs } from "../../provider/program/access-policy.ts";
import { isUnknown } from "../../provider/record/normal-form.ts";
import { isObject, type Json } from "../../schema/index.ts";
import type { Request } from "../request-type.ts";
import { Refusal } from "../status.ts";
import { Secret } from "../value.ts";

type Asked = Pick<Request<"construct">, "inputs" | "inputdependencies" | "name">;

/** The only argument whose values need not be known. */
const PROVIDERS = "identityProviders";

/** Throws one error with each value that the policy cannot be read with. */
export const requireReadable = ({ inputs, name }: Pick<Asked, "inputs" | "name">): void => {
  const problems = Object.entries(inputs).flatMap(([argument, value]) => {
    if (argument !== PROVIDERS) return problemsOf(argument, value);
    return value === null || isObject(contentOf(value)) ? [] : [`${argument} ${MAP_TEXT}`];
  });
  if (problems.length > 0) throw new Refusal([`AccessPolicy ${name}:`, ...problems].join("\n  - "));
};

/** What the engine sends as null was not given. */
export const argumentsFrom = ({ inputs, inputdependencies }: Pick<Asked, "inputs" | "inputdependencies">) => {
  const urns = new Map(inputdependencies).get(PROVIDERS)?.urns ?? [];
  const given = Object.entries(inputs).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([argument, value]) => [argument, argument === PROVIDERS ? withDependencies(value, urns) : value]),
  ) as unknown as AccessPolicyArgs;
};

/** The resources from which the program takes values of the policy: they come first. */
export const dependenciesOf = ({ inputdependencies }: Pick<Asked, "inputdependencies">): string[] => [
  ...new Set(inputdependencies.flatMap(([argument, { urns }]) => (argument === PROVIDERS ? [] : urns))),
];

const UNKNOWN_TEXT =
  "is not known yet. AccessPolicy reads its policy before anything is planned: give a value that is known by then";
const MAP_TEXT = "must be a map whose names are known; its values may be known later";
const SECRET_TEXT = "must not be secret: a policy says who may do what, and its reviewers read it";

const problemsOf = (path: string, value: unknown): string[] => {
  if (isUnknown(value)) return [`${path} ${UNKNOWN_TEXT}`];
  if (value instanceof Secret) return [`${path} ${SECRET_TEXT}`];
  if (Array.isArray(value)) return value.flatMap((item, index) => problemsOf(`${path}[${index}]`, item));
  return isObject(value) ? Object.entries(value).flatMap(([key, member]) => problemsOf(`${path}.${key}`, member)) : [];
};

const contentOf = (value: unknown): unknown => (value instanceof Secret ? value.value : value);

const withDependencies = (value: unknown, urns: readonly string[]): pulumi.Inputs => {
  const sources = urns.map((urn) => new pulumi.DependencyResource(urn).urn);
  const members = Object.entries(contentOf(value) as Json).map(([key, uid]) => {
    const input = inputFrom(value instanceof Secret ? new Secret(contentOf(uid)) : uid);
    return [key, pulumi.all([...sources, input]).apply((values) => values.at(-1))];
  });
  return Object.fromEntries(members);
};

const inputFrom = (value: unknown): pulumi.Input<unknown> => {
  if (value instanceof Secret) return pulumi.secret(inputFrom(value.value));
  return isUnknown(value) ? pulumi.output(pulumi.unknown) : value;
};

/** The options of the component. */
type AskedOptions = Pick<
  Request<"construct">,
  | "aliases"
  | "deletedwith"
  | "dependencies"
  | "ignorechanges"
  | "inputdependencies"
  | "parent"
  | "protect"
  | "providers"
  | "retainondelete"
>;

export const optionsFrom = (request: AskedOptions): pulumi.ComponentResourceOptions => {
  const { aliases, deletedwith, dependencies, ignorechanges, parent, protect, providers, retainondelete } = request;
  return {
    aliases: aliases.map(aliasFrom),
    ...(dependencies.length > 0 && { dependsOn: dependencies.map((urn) => new pulumi.DependencyResource(urn)) }),
    providers: Object.fromEntries(
      providers.map(([name, reference]) => [name, new pulumi.DependencyProviderResource(reference)]),
    ),
    ...(parent !== "" && { parent: new pulumi.DependencyResource(parent) }),
    ...(protect !== 0 && { protect: true }),
    ...(retainondelete !== 0 && { retainOnDelete: true }),
    ...(deletedwith !== "" && { deletedWith: new pulumi.DependencyResource(deletedwith) }),
    ...(ignorechanges.length > 0 && { ignoreChanges: [...ignorechanges] }),
  };
};

const aliasFrom = ({ urn, spec }: AskedOptions["aliases"][number]): pulumi.Input<pulumi.URN | pulumi.Alias> => {
  if (urn !== "") return urn;
  const { name, type, stack, project, parenturn, noparent } = spec;
  return {
    ...(name !== "" && { name }),
    ...(type !== "" && { type }),
    ...(stack !== "" && { stack }),
    ...(project !== "" && { project }),
    ...(noparent !== 0 ? { parent: pulumi.rootStackResource } : parenturn !== "" && { parent: parenturn }),
  };
};
