// What leaves the stack, in a preview: the engine asks no provider about a resource that is not declared any more, so the
// program itself compares the state with what it has declared, once it has declared all of it. It names the role bindings
// that end, and the records that stay although the engine shows a deletion.
//
// Best effort: it may stay silent (a program of the Automation API that runs inline, a backend that does not give the state),
// but must never fail a program.
import * as pulumi from "@pulumi/pulumi";
import { resources as descriptors, type Json } from "../../schema/index.ts";
import { SET_TYPE, typeOfToken } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import { placeInStack, urnFrom } from "../kind/urn.ts";

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

/** At the end of the program, in a preview. */
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
    const state = await storedOutputs();
    const urns = await Promise.all(resources().map(({ urn }) => settled(urn)));
    const declaredPlaces = new Set(urns.map(placeOf));
    const ids = await Promise.all(resources().map(async (own) => idOf(typeTokenOf(own), await settled(own.id))));
    const known = new Set([...adopted, ...ids]);
    const isKnown = (id: unknown) => id !== undefined && known.has(id);
    const declaredSets = await Promise.all(sets().map(knownOf));
    const { removedText } = await import("../engine/review.ts");
    for (const [urn, { type, outputs }] of Object.entries(state)) {
      // By its uid under another name: an alias, or a record that changes hands.
      if (declaredPlaces.has(placeOf(urn)) || isKnown(idOf(type, outputs.uid))) continue;
      const text = removedText(type, urn, outputs, declaredSets, isKnown);
      if (text !== undefined) await pulumi.log.info(text);
    }
  } catch (error) {
    await pulumi.log.debug(`pulumi-irm: what leaves the stack is not known: ${(error as Error).message}`);
  }
};

/** The same for a resource that moves from dynamic to native, or back. */
const placeOf = (urn: string | undefined): string | undefined => {
  if (urn === undefined) return undefined;
  const { types, name } = urnFrom(urn);
  return placeInStack(types, name);
};

/** A set, without what the preview does not know: the uids of new records, to which nothing in the state is bound. */
const knownOf = async ({ name, inputs: { parent, bindings } }: { name: string; inputs: pulumi.Inputs }) => {
  const uid = (value: unknown) => settled(pulumi.output(value)) as Promise<string>;
  const pairs = (bindings as { identity: unknown; role: unknown }[]).map(async ({ identity, role }) => ({
    identity: await uid(identity),
    role: await uid(role),
  }));
  return { name, parent: await uid(parent), pairs: await Promise.all(pairs) };
};

const typeTokenOf = (resource: pulumi.Resource): string =>
  (resource as unknown as { __pulumiType: string }).__pulumiType;

const idOf = (type: string, uid: unknown): unknown => {
  // A set has the uid of its group.
  const own = typeOfToken(type);
  if (own === SET_TYPE) return undefined;
  const found = Object.values(descriptors).find((one) => one.type === own);
  return found && typeof uid === "string" ? recordId(found.field, uid) : uid;
};

/** Of the resources in the state, by URN: a function of the engine itself (pkg/resource/deploy/builtins.go). */
const storedOutputs = async (): Promise<Record<string, { type: string; outputs: Json }>> => {
  const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
  const { outputs } = await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", { stackName });
  return outputs;
};

/** The SDK's own, not in its types; undefined where a preview does not know it. */
export const settled = <T>(output: pulumi.Output<T>): Promise<T | undefined> =>
  (output as unknown as { promise(): Promise<T | undefined> }).promise();
