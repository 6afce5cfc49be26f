// A recorded stack on this machine: its records in a server of this clone, its state in a backend, its journal in the folder of journals.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StateResource } from "../../harness/engine-stack.ts";
import { createWorkplace, type Program, type Workplace } from "../../harness/engine-workplace.ts";
import { journalName, PASSPHRASE, PROJECT, readPart, restoreRecords } from "./recording.ts";

export interface Restored {
  place: Workplace;
  /** without a source */
  program: Program;
  /** the resources of the recorded state */
  recorded: StateResource[];
}

/** `env`: what the program reads beside the organization. */
export const restore = async (name: string, env: (place: Workplace) => Record<string, string>): Promise<Restored> => {
  const place = await createWorkplace([], (file) => restoreRecords(name, file));
  const { organization, baseUrl } = place.server;
  const own = { ORGANIZATION: organization, ...env(place), PULUMI_CONFIG_PASSPHRASE: PASSPHRASE };
  const program = await place.program(PROJECT, "", own);
  const [stack, file] = [readPart(name, "stack", baseUrl), join(place.folder, "stack.json")];
  writeFileSync(file, stack);
  await program.must("stack", "import", "--file", file);
  mkdirSync(journalsOf(place));
  const journal = journalName(`file://${join(program.folder, "state")}`, baseUrl);
  writeFileSync(join(journalsOf(place), journal), readPart(name, "journal"));
  return { place, program, recorded: JSON.parse(stack).deployment.resources };
};

/** The folder of the journals. */
export const journalsOf = ({ folder }: Workplace): string => join(folder, "journal");
