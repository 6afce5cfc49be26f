// The options of a component, from the engine's request.
import * as pulumi from "@pulumi/pulumi";
import type { Request } from "../request-type.ts";

type Asked = Pick<
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

export const optionsFrom = (request: Asked): pulumi.ComponentResourceOptions => {
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
