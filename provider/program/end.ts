// Work at the end of a program, when all its declarations are known.
//
// A preview names the resources that leave the stack: the role bindings that end, and the records that stay although the engine shows a
// deletion. The engine asks no provider about a resource that is no longer declared, so the program itself compares the state with its
// declarations. Best effort: it may stay silent (an inline program of the Automation API, a backend that does not give the state), but must
// never fail a program.
//
// A run without checkpoints may have created records that this program does not declare (provider/attribution). A preview names them, and
// an update deletes them: the engine does not know these records. An inline program of the Automation API has neither the environment nor
// the folder of its engine, so it leaves them to irm recover.
import { existsSync, readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { RELATIONSHIPS } from "../../access/graph/live-record.ts";
import { undeclaredText } from "../../client/preview-marks.ts";
import { placeOfUrn, urnFrom } from "../../pulumi/urn.ts";
import { resources as descriptors } from "../../schema/index.ts";
import type { Declared as DeclaredRecords, Undeclared } from "../attribution/stack.ts";
import type { NewIdentity } from "../engine/review.ts";
import { recordId } from "../record/id.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { awaitValue, typeTokenOf } from "./output.ts";
import { isOnCommandLine, programJournal, programSession, programStack } from "./session.ts";
import { storedResources } from "./stored-resources.ts";

/** The declarations of one run of a program. */
interface Declared {
  monitor: object | undefined;
  resources(): readonly pulumi.CustomResource[];
  /** arguments of its sets of role bindings, with their logical names */
  sets(): readonly { name: string; inputs: pulumi.Inputs }[];
  /** ids of the records that it adopts (`recordId`) */
  adopted: ReadonlySet<string>;
}

const programs: Declared[] = [];

/** Examines the program's declarations at its end. */
export const watchEnd = (declared: Declared): void => {
  // The SDK signals the end of the program in a later round of this event (@pulumi/pulumi/cmd/run/index.ts), so work that begins here is
  // finished by then.
  if (programs.length === 0) process.once("beforeExit", () => void Promise.all(programs.splice(0).map(end)));
  programs.push(declared);
};

const end = async (declared: Declared) => {
  // The run of a program of the Automation API may be over. A program that failed may have ended before it declared everything.
  if (pulumi.runtime.getMonitor() !== declared.monitor || pulumi.log.hasErrors()) return;
  await Promise.all([
    ...(pulumi.runtime.isDryRun() ? [reportRemovals(declared)] : []),
    ...(isOnCommandLine() ? [settleOpenStack(declared)] : []),
  ]);
};

/** Reports the resources that leave the stack. */
const reportRemovals = async ({ resources, sets, adopted }: Declared): Promise<void> => {
  try {
    const state = await storedResources();
    const urns = await Promise.all(resources().map(({ urn }) => awaitValue(urn)));
    const { managedId, removalTexts } = await import("../engine/review.ts");
    const ids = await Promise.all(
      resources().map(async (resource) => managedId(typeTokenOf(resource), await awaitValue(resource.id))),
    );
    const known = new Set([...adopted, ...ids]);
    const declared = {
      places: new Set(urns.filter((urn) => urn !== undefined).map(placeOfUrn)),
      isKept: (id: string) => known.has(id),
      sets: await Promise.all(sets().map(knownValuesOf)),
      identities: (await Promise.all(resources().map(newIdentity))).filter((one) => one !== undefined),
    };
    for (const text of removalTexts(state, declared)) await pulumi.log.info(text);
  } catch (error) {
    await pulumi.log.debug(`pulumi-irm: cannot tell which resources leave the stack: ${(error as Error).message}`);
  }
};

/** A set without values that the preview does not know: the uids of new records, to which nothing in the state is bound. */
const knownValuesOf = async ({ name, inputs: { parent, bindings } }: { name: string; inputs: pulumi.Inputs }) => {
  const uid = (value: unknown) => awaitValue(pulumi.output(value)) as Promise<string>;
  const pairs = (bindings as { identity: unknown; role: unknown }[]).map(async ({ identity, role }) => ({
    identity: await uid(identity),
    role: await uid(role),
  }));
  return { name, parent: await uid(parent), pairs: await Promise.all(pairs) };
};

/** The values that the preview may show of an identity that the update creates. */
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

/** Settles the leftovers of open runs. */
const settleOpenStack = async ({ resources }: Declared): Promise<void> => {
  try {
    // Most journals contain no line of such a run.
    const journal = programJournal();
    if (!existsSync(journal) || !readFileSync(journal, "utf8").includes('{"began":')) return;
    const { findUndeclared } = await import("../attribution/stack.ts");
    const key = `${programStack()}/`;
    const isPreview = pulumi.runtime.isDryRun();
    const found = await findUndeclared(await programSession(), { key, isPreview }, await declaredRecords(resources()));
    if (found) await reportUndeclared(found);
  } catch (error) {
    await pulumi.log.warn(`pulumi-irm: cannot find the leftovers of open runs: ${(error as Error).message}`);
  }
};

const declaredRecords = async (resources: readonly pulumi.CustomResource[]): Promise<DeclaredRecords> => {
  const [records, places] = [new Set<string>(), new Set<string>()];
  await Promise.all(
    resources.map(async (resource) => {
      const type = typeOfToken(typeTokenOf(resource));
      const [id, urn] = await Promise.all([awaitValue(resource.id), awaitValue(resource.urn)]);
      const field = Object.values(descriptors).find((one) => one.type === type)?.field ?? descriptors.roleBinding.field;
      const uids = type === SET_TYPE ? await uidsOf(resource) : id === undefined ? undefined : [id];
      for (const uid of uids ?? []) records.add(recordId(field, uid));
      if (uids === undefined && urn !== undefined) places.add(placeOfUrn(urn));
    }),
  );
  return { records, places };
};

/** The role bindings of a set; undefined if the engine has not returned them. */
const uidsOf = async (set: pulumi.CustomResource) => {
  const { bindings } = set as unknown as { bindings: pulumi.Output<readonly { uid: string }[]> };
  return (await awaitValue(bindings))?.map(({ uid }) => uid);
};

const reportUndeclared = async ({ own, doubtful }: Undeclared): Promise<void> => {
  const [{ lineOf }, { removeLeftovers }] = await Promise.all([
    import("../attribution/text.ts"),
    import("../attribution/leftover.ts"),
  ]);
  if (own.length > 0 && pulumi.runtime.isDryRun()) await pulumi.log.info(undeclaredText("deletes", own.map(lineOf)));
  else if (own.length > 0) {
    const { removed, failed } = await removeLeftovers(await programSession(), own);
    if (removed.length > 0) await pulumi.log.info(undeclaredText("has deleted", removed.map(lineOf)));
    const left = failed.map(({ leftover, reason }) => `${lineOf(leftover)}: ${reason}`);
    if (left.length > 0)
      await pulumi.log.warn(`${undeclaredText("could not delete", left)}\nThe next update tries again.`);
  }
  if (doubtful.length > 0)
    await pulumi.log.warn(`${undeclaredText("does not delete", doubtful.map(lineOf))}\n${DOUBTFUL}`);
};

const DOUBTFUL =
  "It is not certain that they are as the run created them, and that no person has taken them out of the state. To list and delete them: " +
  "irm recover";
