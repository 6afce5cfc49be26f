// AccessPolicy for programs in other languages than TypeScript: the engine asks for it, and this process constructs it with the classes of
// a TypeScript program (provider/program/native). So its resources have the same names and the same state in every language.
//
// Loaded with the first component: most programs have none, and the SDK takes longer to load than all of the plugin.
import type * as pulumi from "@pulumi/pulumi";
import { AccessPolicy } from "../../provider/program/native/access-policy.ts";
import { awaitValue } from "../../provider/program/output.ts";
import { noteConstructed } from "../../provider/program/per-run.ts";
import { TOKEN_PREFIX } from "../../provider/record/kind.ts";
import type { Request } from "../request-type.ts";
import { constructResponse } from "../response.ts";
import { ACCESS_POLICY } from "../schema/component.ts";
import { Refusal } from "../status.ts";
import { structFrom } from "../struct.ts";
import { argumentsFrom, dependenciesOf, optionsFrom, requireReadable } from "./arguments.ts";
import { withRejections } from "./rejections.ts";
import { serializedOutputs, untilRegistered, withRuntime } from "./sdk.ts";

const TOKEN = `${TOKEN_PREFIX}${ACCESS_POLICY}`;

/** `engine` is its address. */
export const construct = async (request: Request<"construct">, engine: string): Promise<Buffer> => {
  const { type, name } = request;
  if (type !== TOKEN) throw new Refusal(`there is no component ${type}; there is ${TOKEN}`);
  requireReadable(request);
  const constructNow = async (): Promise<Buffer> => {
    noteConstructed();
    const args = argumentsFrom(request);
    const dependencies = [...request.dependencies, ...dependenciesOf(request)];
    const options = optionsFrom({ ...request, dependencies });
    const { urn, organization, groups, identities, roles } = new AccessPolicy(name, args, options);
    const outputs = { organization, groups, identities, roles } as unknown as pulumi.Inputs;
    const [own, serialized] = await Promise.all([awaitValue(urn), serializedOutputs(name, outputs), untilRegistered()]);
    return constructResponse(own as string, structFrom(serialized.values), serialized.dependencies);
  };
  return withRejections(() => withRuntime(request, engine, constructNow));
};
