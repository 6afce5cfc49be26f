// `irm recover`: lists and deletes records that killed runs created and no resource of the stack has. The journal has runs without checkpoints;
// the engine's state has runs whose machine was lost with its journal.
import { jsonText } from "../../access/format/document/document.ts";
import { countText } from "../../access/format/words.ts";
import { type Leftover, type Removal, removeLeftovers } from "../../provider/attribution/leftover.ts";
import { countsText, lineOf, runText } from "../../provider/attribution/text.ts";
import { createTimeOf } from "../../provider/record/id.ts";
import { UserError } from "../../schema/index.ts";
import type { IrmCommand } from "../irm-command.ts";
import { findLeftBehind, type LeftBehind } from "../left-behind.ts";
import { ask, canAsk, print, printError } from "../terminal.ts";
import { defineJournal, FOLDER_FLAG, folderOf } from "./recover-journal.ts";

export interface RecoverFlags {
  stack?: string;
  folder?: string;
  yes?: boolean;
  format: "terminal" | "json";
}

const LEFT = 3;

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Lists records that killed runs created and no resource of the stack manages, and asks whether to delete them. Exits with 3 if any remain.",
    )
    .option("--stack <NAME>", "the stack (default: the selected one)")
    .option(...FOLDER_FLAG)
    .option("--yes", "delete them without asking")
    .formats("terminal", "json")
    .example("recover --stack production")
    .runs(recover);
  defineJournal(command);
};

export const recover = async (flags: RecoverFlags): Promise<number> => {
  const left = await findLeftBehind(flags.stack, folderOf(flags));
  const { removed, failed } = left ? await remove(flags, left) : NOTHING;
  const { format, yes } = flags;
  const others = left?.leftovers.filter((one) => !removed.includes(one)) ?? [];
  if (format === "json") print(jsonText(asJson(left, { removed, failed })));
  else if (!left) print("no killed run has left anything of this stack behind\n");
  else if (removed.length > 0)
    print(`${[`deleted ${countText(removed.length, "record")}:`, ...removed.map(lineOf)].join("\n  ")}\n`);
  else if (yes || !canAsk()) print(listText(left));
  for (const { leftover, reason } of failed) printError("irm recover", `${lineOf(leftover)} is left: ${reason}`);
  if (left && format === "terminal") print(adviceFor(left, others));
  if (failed.length > 0) return 1;
  return others.length > 0 ? LEFT : 0;
};

const isCertain = ({ record, doubt }: Leftover) => record !== undefined && doubt === undefined;

const NOTHING: Removal = { removed: [], failed: [] };

const remove = async ({ yes, format }: RecoverFlags, left: LeftBehind): Promise<Removal> => {
  const certain = left.leftovers.filter(isCertain);
  if (certain.length === 0) return NOTHING;
  if (!yes && format === "terminal" && canAsk()) {
    print(listText(left));
    if (!(await ask(`Delete ${countText(certain.length, "record")}?`))) return NOTHING;
  } else if (!yes) return NOTHING;
  if (await left.isUnderWay()) throw new UserError(`a run of ${left.name} is under way: wait for its end`);
  return removeLeftovers(left.session, certain);
};

const listText = ({ name, runs, touched, leftovers }: LeftBehind): string => {
  const counts = countsText(leftovers.length, touched.values());
  const head =
    runs.length > 0
      ? `stack ${name} is open: the engine's state lacks ${counts}`
      : `stack ${name}: runs were killed during these creates, their journals are not here, and the engine's state lacks the records`;
  const begun = runs.map(({ run, isUnderWay }) => `a run without checkpoints ${runText(run, isUnderWay)}`);
  return `${[head, ...begun, ...leftovers.map(lineOf)].join("\n  ")}\n`;
};

const adviceFor = ({ runs, touched }: LeftBehind, others: readonly Leftover[]): string => {
  const certain = others.filter(isCertain).length;
  const forget = runs.length > 0 ? "npx pulumi-irm recover clean --key KEY" : "pulumi refresh --clear-pending-creates";
  let advice = "";
  if (certain > 0)
    advice += `\`npx pulumi-irm recover --yes\` deletes ${countText(certain, "record")}; \`pulumi up\` first adopts what the program declares\n`;
  if (others.length > certain) advice += `Look at the records in doubt. Adopt or delete each, then: ${forget}\n`;
  if (touched.size > 0) advice += "`pulumi up`, or `pulumi refresh`, compares what was changed or deleted\n";
  return advice;
};

const asJson = (left: LeftBehind | undefined, { removed, failed }: Removal) => ({
  stack: left?.name ?? null,
  runs: (left?.runs ?? []).map(({ run, verdict }) => ({
    began: new Date(run.at).toISOString(),
    host: run.host,
    pid: run.pid,
    verdict,
  })),
  changed: [...(left?.touched.values() ?? [])].map(({ wrote, kind, key, to }) => ({
    uid: wrote,
    kind,
    key,
    change: to === undefined ? "deleted" : "updated",
  })),
  records: (left?.leftovers ?? []).map((one) => {
    const { entry, record, doubt } = one;
    const reason = failed.find(({ leftover }) => leftover === one)?.reason;
    return {
      uid: record?.uid ?? entry.uid ?? null,
      kind: entry.kind,
      key: entry.key,
      created: record ? createTimeOf(record) : null,
      removed: removed.includes(one),
      doubt,
      reason,
    };
  }),
});
