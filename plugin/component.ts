// The arguments and options of AccessPolicy, from the engine's request. The policy is read before anything is planned, so all but the identity
// providers must be known by then.
import * as pulumi from "@pulumi/pulumi";
import * as configuration from "@pulumi/pulumi/runtime/config.js";
import * as rpc from "@pulumi/pulumi/runtime/rpc.js";
import * as settings from "@pulumi/pulumi/runtime/settings.js";
import * as state from "@pulumi/pulumi/runtime/state.js";
import type { AccessPolicyArgs } from "../provider/program/access-policy.ts";
import { AccessPolicy } from "../provider/program/native/look-up.ts";
import { awaitValue } from "../provider/program/output.ts";
import { noteConstructed } from "../provider/program/session.ts";
import { TOKEN_PREFIX } from "../provider/record/kind.ts";
import { isUnknown } from "../pulumi/value.ts";
import { isObject, type Json } from "../schema/index.ts";
import type { Request } from "./request-type.ts";
import { constructResponse } from "./response.ts";
import { Refusal } from "./status.ts";
import { structFrom } from "./struct.ts";
import { Secret } from "./value.ts";

type Asked = Request<"construct">;

/** The only argument whose values need not be known. */
const PROVIDERS = "identityProviders";

/** Throws one error that lists every value with which the policy cannot be read. */
export const requireReadable = ({ inputs, name }: Pick<Asked, "inputs" | "name">): void => {
  const problems = Object.entries(inputs).flatMap(([argument, value]) => {
    if (argument !== PROVIDERS) return problemsOf(argument, value);
    return value === null || isObject(contentOf(value)) ? [] : [`${argument} ${MAP_TEXT}`];
  });
  if (problems.length > 0) throw new Refusal([`AccessPolicy ${name}:`, ...problems].join("\n  - "));
};

/** The engine sends null for an argument that was not given. */
export const argumentsFrom = ({ inputs, inputdependencies }: Pick<Asked, "inputs" | "inputdependencies">) => {
  const urns = new Map(inputdependencies).get(PROVIDERS)?.urns ?? [];
  const given = Object.entries(inputs).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([argument, value]) => [argument, argument === PROVIDERS ? withDependencies(value, urns) : value]),
  ) as unknown as AccessPolicyArgs;
};

/** The resources from which the policy takes values: the engine creates them first. */
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

const contentOf = (value: unknown) => (value instanceof Secret ? value.value : value);

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
export const optionsFrom = (request: Asked): pulumi.ComponentResourceOptions => {
  const { aliases, deletedwith, dependencies, ignorechanges, parent, protect, providers, retainondelete } = request;
  return {
    aliases: aliases.map(aliasFrom),
    ...(dependencies.length > 0 && { dependsOn: dependencies.map((urn) => new pulumi.DependencyResource(urn)) }),
    providers: Object.fromEntries(
      providers.map(([name, reference]) => [name, new pulumi.DependencyProviderResource(reference)]),
    ),
    parent: resourceAt(parent),
    protect: protect !== 0 || undefined,
    retainOnDelete: retainondelete !== 0 || undefined,
    deletedWith: resourceAt(deletedwith),
    ...(ignorechanges.length > 0 && { ignoreChanges: [...ignorechanges] }),
  };
};

const resourceAt = (urn: string): pulumi.Resource | undefined =>
  urn === "" ? undefined : new pulumi.DependencyResource(urn);

const aliasFrom = ({ urn, spec }: Asked["aliases"][number]): pulumi.Input<pulumi.URN | pulumi.Alias> => {
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

// AccessPolicy for programs in languages other than TypeScript. The engine asks for it, and this process constructs it with the classes of
// a TypeScript program (provider/program/native). So its resources have the same names and state in every language.
//
// Loaded with the first component: most programs have none, and the SDK takes longer to load than the whole plugin.

const TOKEN = `${TOKEN_PREFIX}AccessPolicy`;

/** `engine` is its address. */
export const construct = async (request: Asked, engine: string): Promise<Buffer> => {
  const { type, name } = request;
  if (type !== TOKEN) throw new Refusal(`unknown component ${type}; available: ${TOKEN}`);
  requireReadable(request);
  return withRejections(() =>
    withRuntime(request, engine, async () => {
      noteConstructed();
      const args = argumentsFrom(request);
      const dependencies = [...request.dependencies, ...dependenciesOf(request)];
      const options = optionsFrom({ ...request, dependencies });
      const { urn, organization, groups, identities, roles } = new AccessPolicy(name, args, options);
      const outputs = { organization, groups, identities, roles } as unknown as pulumi.Inputs;
      // By then the engine has answered all calls. The first failure is the error.
      const registered = pulumi.runtime.disconnect();
      const [own, serialized] = await Promise.all([awaitValue(urn), serializedOutputs(name, outputs), registered]);
      return constructResponse(own as string, structFrom(serialized.values), serialized.dependencies);
    }),
  );
};

// Unhandled rejections of the SDK. In a program they end the process; in this process they are the error of the components under way. More
// follow when the engine has ended the run, and they must not end the creates under way.

const underWay = new Set<(reason: unknown) => void>();
let isWatching = false;
let hasFailed = false;

export const withRejections = async <T>(construct: () => Promise<T>): Promise<T> => {
  if (!isWatching)
    process.on("unhandledRejection", (reason) => {
      for (const fail of underWay) fail(reason);
      // A defect elsewhere ends the process, as it does without a component.
      if (underWay.size === 0 && !hasFailed) throw reason;
    });
  isWatching = true;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  underWay.add(failed.reject);
  try {
    return await Promise.race([construct(), failed.promise]);
  } catch (error) {
    hasFailed = true;
    throw error;
  } finally {
    underWay.delete(failed.reject);
  }
};

// The SDK's runtime, for one component that the engine asks this plugin for. The SDK's types omit these functions, so this file follows the
// copy that the build bundles (@pulumi/pulumi/provider/server.ts).

const { withLocalStorage } = state as unknown as {
  withLocalStorage<T>(run: () => Promise<T>): Promise<T>;
};
const { awaitFeatureSupport } = settings as unknown as { awaitFeatureSupport(): Promise<void> };

/** Runs a part of a program with its own runtime. `engine` is the address of the engine. */
const withRuntime = <T>(run: Asked, engine: string, construct: () => Promise<T>) =>
  withLocalStorage(async () => {
    const { project, stack, parallel, monitorendpoint, dryrun, organization } = run;
    settings.resetOptions(project, stack, parallel, engine, monitorendpoint, dryrun !== 0, organization);
    configuration.setAllConfig(Object.fromEntries(run.config), [...run.configsecretkeys]);
    try {
      await awaitFeatureSupport();
      return await construct();
    } finally {
      for (const client of [settings.getMonitor(), settings.getEngine()])
        (client as { close?(): void } | undefined)?.close?.();
    }
  });

/** Outputs as the engine reads them, with the URNs of the resources that each comes from. */
const serializedOutputs = async (name: string, outputs: pulumi.Inputs) => {
  const [values, resources] = await rpc.serializeResourceProperties(name, outputs);
  const dependencies = [...resources].map(async ([output, from]): Promise<[string, string[]]> => {
    const urns = await Promise.all([...from].map(({ urn }) => awaitValue(urn)));
    return [output, urns.filter((urn) => urn !== undefined)];
  });
  return { values, dependencies: await Promise.all(dependencies) };
};
