// What leaves the stack, in a preview: the engine asks no provider about a resource that is not declared any more, so the
// program itself compares the state with what it has declared, once it has declared all of it. It names the role bindings
// that end, and the records that stay although the engine shows a deletion.
//
// Best effort: it may stay silent (a program of the Automation API that runs inline, a backend that does not give the state),
// but must never fail a program.
import * as pulumi from "@pulumi/pulumi";
import { RELATIONSHIPS } from "../../access/graph/live-record.ts";
import { resources as descriptors } from "../../schema/index.ts";
import type { NewIdentity } from "../engine/review.ts";
import { typeOfToken } from "../record/kind.ts";
import { urnFrom } from "../record/urn.ts";
import { awaitValue } from "./output.ts";
import { storedResources } from "./stored-resources.ts";

/** What one run of a program has declared. */
export interface Declared {
  monitor: object | undefined;
  resources(): readonly pulumi.CustomResource[];
  /** arguments of its sets of role bindings, with their logical names */
  sets(): readonly { name: string; inputs: pulumi.Inputs }[];
  /** uids of the records that it adopts */
  adopted: ReadonlySet<string>;
}

const previews: Declared[] = [];

/** Reports what leaves the stack, at the end of the program in a preview. */
export const reportRemovals = (declared: Declared): void => {
  if (!pulumi.runtime.isDryRun()) return;
  // The SDK signals the end of the program in a later round of this event (@pulumi/pulumi/cmd/run/index.ts), so the reports
  // that begin here are finished by then.
  if (previews.length === 0) process.once("beforeExit", () => void Promise.all(previews.splice(0).map(report)));
  previews.push(declared);
};

const report = async ({ monitor, resources, sets, adopted }: Declared): Promise<void> => {
  try {
    // The run is over: a program of the Automation API.
    if (pulumi.runtime.getMonitor() !== monitor) return;
    // A program that failed may have ended before it declared everything.
    if (pulumi.log.hasErrors()) return;
    const state = await storedResources();
    const urns = await Promise.all(resources().map(({ urn }) => awaitValue(urn)));
    const { managedId, placeOf, removalTexts } = await import("../engine/removals.ts");
    const ids = await Promise.all(
      resources().map(async (resource) => managedId(typeTokenOf(resource), await awaitValue(resource.id))),
    );
    const known = new Set([...adopted, ...ids]);
    const declared = {
      places: new Set(urns.filter((urn) => urn !== undefined).map(placeOf)),
      isKept: (id: string) => known.has(id),
      sets: await Promise.all(sets().map(knownValuesOf)),
      identities: (await Promise.all(resources().map(newIdentity))).filter((one) => one !== undefined),
    };
    for (const text of removalTexts(state, declared)) await pulumi.log.info(text);
  } catch (error) {
    await pulumi.log.debug(`pulumi-irm: what leaves the stack is not known: ${(error as Error).message}`);
  }
};

/** A set, without what the preview does not know: the uids of new records, to which nothing in the state is bound. */
const knownValuesOf = async ({ name, inputs: { parent, bindings } }: { name: string; inputs: pulumi.Inputs }) => {
  const uid = (value: unknown) => awaitValue(pulumi.output(value)) as Promise<string>;
  const pairs = (bindings as { identity: unknown; role: unknown }[]).map(async ({ identity, role }) => ({
    identity: await uid(identity),
    role: await uid(role),
  }));
  return { name, parent: await uid(parent), pairs: await Promise.all(pairs) };
};

/** What the preview may show of an identity that the update creates. */
const newIdentity = async (resource: pulumi.CustomResource): Promise<NewIdentity | undefined> => {
  if (typeOfToken(typeTokenOf(resource)) !== descriptors.identity.type) return undefined;
  if ((await awaitValue(resource.id)) !== undefined) return undefined;
  const outputs = resource as unknown as Record<string, pulumi.Output<unknown>>;
  const members = ["parent", "name", ...RELATIONSHIPS].map(async (member) => {
    const output = pulumi.output(outputs[member]);
    return (await pulumi.isSecret(output)) ? {} : { [member]: await awaitValue(output) };
  });
  const { name } = urnFrom((await awaitValue(resource.urn)) as string);
  return { name, record: Object.assign({}, ...(await Promise.all(members))) };
};

const typeTokenOf = (resource: pulumi.Resource): string =>
  (resource as unknown as { __pulumiType: string }).__pulumiType;
