// What a run without checkpoints created, and this program does not declare (provider/open): a preview names it at the end of the program,
// when all that is declared is known, and an update deletes it there. The engine knows nothing of these records.
//
// A program of the Automation API that runs inline has neither the environment nor the folder of its engine, so it leaves them to irm recover.
import { existsSync, readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { undeclaredText } from "../../client/preview-marks.ts";
import { resources as descriptors } from "../../schema/index.ts";
import type { Declared as DeclaredRecords, Undeclared } from "../open/undeclared.ts";
import { recordId } from "../record/id.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { placeInStack, urnFrom } from "../record/urn.ts";
import { awaitValue } from "./output.ts";
import { isOnCommandLine } from "./per-run.ts";
import { programJournal, programSession } from "./session.ts";

/** What one run of a program has declared. */
interface Declared {
  monitor: object | undefined;
  resources(): readonly pulumi.CustomResource[];
}

/** Once, at the end of the program. */
export const settleOpenStack = (declared: Declared): void => {
  if (!isOnCommandLine()) return;
  // The SDK signals the end of the program in a later round of this event (@pulumi/pulumi/cmd/run/index.ts), so the engine waits for this.
  process.once("beforeExit", () => void settle(declared));
};

const settle = async ({ monitor, resources }: Declared): Promise<void> => {
  try {
    // A program that failed may have ended before it declared everything.
    if (pulumi.runtime.getMonitor() !== monitor || pulumi.log.hasErrors() || !mayBeOpen(programJournal())) return;
    const { findUndeclared } = await import("../open/undeclared.ts");
    const key = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack(), ""].join("/");
    const isPreview = pulumi.runtime.isDryRun();
    const found = await findUndeclared(await programSession(), { key, isPreview }, await declaredRecords(resources()));
    if (found) await report(found);
  } catch (error) {
    await pulumi.log.warn(`pulumi-irm: what an open run left is not known: ${(error as Error).message}`);
  }
};

/** Most journals have no line of such a run. */
const mayBeOpen = (journal: string): boolean =>
  existsSync(journal) && readFileSync(journal, "utf8").includes('{"began":');

const declaredRecords = async (resources: readonly pulumi.CustomResource[]): Promise<DeclaredRecords> => {
  const [records, places] = [new Set<string>(), new Set<string>()];
  await Promise.all(
    resources.map(async (resource) => {
      const type = typeOfToken((resource as unknown as { __pulumiType: string }).__pulumiType);
      const [id, urn] = await Promise.all([awaitValue(resource.id), awaitValue(resource.urn)]);
      const field = Object.values(descriptors).find((one) => one.type === type)?.field ?? descriptors.roleBinding.field;
      const uids = type === SET_TYPE ? await uidsOf(resource) : id === undefined ? undefined : [id];
      for (const uid of uids ?? []) records.add(recordId(field, uid));
      if (uids !== undefined || urn === undefined) return;
      const { types, name } = urnFrom(urn);
      places.add(placeInStack(types, name));
    }),
  );
  return { records, places };
};

/** The role bindings of a set; undefined where the engine has not told them. */
const uidsOf = async (set: pulumi.CustomResource): Promise<string[] | undefined> => {
  const { bindings } = set as unknown as { bindings: pulumi.Output<readonly { uid: string }[]> };
  return (await awaitValue(bindings))?.map(({ uid }) => uid);
};

const report = async ({ own, doubtful }: Undeclared): Promise<void> => {
  const [{ lineOf }, { removeLeftovers }] = await Promise.all([import("../open/text.ts"), import("../open/remove.ts")]);
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
