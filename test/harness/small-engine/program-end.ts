// The end of a program (provider/program/end.ts): what an open run created, and the program does not declare, is deleted.
import { statSync } from "node:fs";
import { readConfig } from "../../../client/credentials.ts";
import { removeLeftovers } from "../../../provider/attribution/leftover.ts";
import { findUndeclared } from "../../../provider/attribution/stack.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { bindingsIn } from "../../../provider/kind/pair.ts";
import { recordId } from "../../../provider/record/id.ts";
import { journalPath } from "../../../provider/run/journal-path.ts";
import { type Environment, sessionWith } from "../../../provider/run/session.ts";
import { getter } from "../../support/scripted.ts";
import type { Program } from "./program.ts";
import { typeOf } from "./provider.ts";
import type { Stored } from "./state.ts";

/** Deletes it, or in a preview names it. Returns what was deleted, or would be. */
export type ProgramEnd = (program: Program, resources: readonly Stored[], isPreview: boolean) => Promise<string[]>;

/** `stack`: organization/project/stack */
export const programEndIn =
  (environment: Environment, stack: string): ProgramEnd =>
  async (program, resources, isPreview) => {
    const config = readConfig(getter(), environment.env);
    // A journal that cannot be read is a warning there, and reading /dev/full never ends (test/faults/f22-unwritable-journal.test.ts).
    const journal = journalPath(stack, config, environment.env, environment.cwd ?? process.cwd());
    if (!statSync(journal, { throwIfNoEntry: false })?.isFile()) return [];
    const session = sessionWith(config, environment);
    const placeOf = ({ kind, name }: Pick<Stored, "kind" | "name">) => `${typeOf(kind)}::${name}`;
    const declared = resources.filter(
      (one) => !one.delete && program.some(({ name, kind }) => name === one.name && kind === one.kind),
    );
    const records = declared.flatMap(({ kind, id, outputs }) =>
      kind === "roleBindingSet"
        ? bindingsIn(outputs, "bindings").map(({ uid }) => recordId(kindRecords.roleBinding.field, uid))
        : [recordId(kindRecords[kind].field, id)],
    );
    const missing = program.filter((one) => !declared.some(({ name, kind }) => name === one.name && kind === one.kind));
    const about = { records: new Set(records), places: new Set(missing.map(placeOf)) };
    const found = await findUndeclared(session, { key: `${stack}/`, isPreview }, about);
    if (!found) return [];
    const uidOf = ({ record }: (typeof found.own)[number]) => String(record?.uid);
    if (isPreview) return found.own.map(uidOf);
    const { removed, failed } = await removeLeftovers(session, found.own);
    for (const { leftover, reason } of failed) environment.log(`${uidOf(leftover)} is left: ${reason}`);
    return removed.map(uidOf);
  };
