// `irm recover`: what runs without checkpoints created, and no resource of the stack has. It lists these records, and deletes them.
import { countText } from "../access/format/words.ts";
import { ConfigError } from "../client/errors.ts";
import { JournalError } from "../provider/log/file.ts";
import { awaitLeftovers, type Leftover } from "../provider/open/leftover.ts";
import { type Removal, removeLeftovers } from "../provider/open/remove.ts";
import { findOpenStack, type OpenStack } from "../provider/open/stack.ts";
import { countsText, lineOf, runText } from "../provider/open/text.ts";
import { createTimeOf } from "../provider/record/id.ts";
import { journalPath } from "../provider/run/journal-path.ts";
import { type Session, sessionWith, systemEnvironment } from "../provider/run/session.ts";
import { storedStacks } from "../provider/run/stored-stack.ts";
import { printableLines } from "../schema/index.ts";
import { ask, canAsk } from "./ask.ts";
import { clientErrorText, systemConfig } from "./client.ts";
import { runEngine } from "./doctor/engine.ts";
import { findProject } from "./doctor/project.ts";
import { contentsOf, folderOf, journalsIn } from "./journal-files.ts";
import { print, printError } from "./terminal.ts";

export interface RecoverFlags {
  stack?: string;
  folder?: string;
  yes?: boolean;
  format: "terminal" | "json";
}

/** The stack cannot be told, or its state cannot be read. */
class RecoverError extends Error {
  override readonly name = "RecoverError";
}

const LEFT = 3;

export const recover = async (flags: RecoverFlags): Promise<number> => {
  try {
    const { env } = process;
    const folder = folderOf(flags);
    const config = { ...systemConfig(), journal: folder };
    const stack = await openStackHere(flags.stack, (name) => journalPath(name, config, env, process.cwd()), folder);
    if (stack === undefined) return report(flags, undefined, [], { removed: [], failed: [] });
    const log = (text: string) => process.stderr.write(`${printableLines(text)}\n`);
    const stored = storedStacks({ env, cwd: process.cwd() });
    const session = sessionWith(config, { ...systemEnvironment(), storedStacks: stored, log });
    const open = await findOpenStack(session, { key: `${stack}/` });
    if (open?.problem !== undefined) throw new RecoverError(`the engine's state cannot be read: ${open.problem}`);
    const leftovers = open ? await awaitLeftovers(session, open.leftovers, open.about) : [];
    return report(flags, open, leftovers, await remove(flags, session, open, leftovers));
  } catch (error) {
    const isOwn = [RecoverError, JournalError, ConfigError].some((one) => error instanceof one);
    const text = isOwn ? (error as Error).message : clientErrorText(error);
    if (text === undefined) throw error;
    printError("irm recover", text);
    return 1;
  }
};

/** organization/project/stack, where the journals have open runs of the stack of this folder at this service. */
const openStackHere = async (
  given: string | undefined,
  pathOf: (stack: string) => string,
  folder: string,
): Promise<string | undefined> => {
  const cwd = process.cwd();
  const project = findProject(cwd);
  if (project?.name === undefined)
    throw new RecoverError("there is no Pulumi.yaml in this folder, or it names no project");
  const selected =
    given === undefined ? await runEngine(cwd)("stack", "--show-name", "--non-interactive") : { stdout: given };
  if (!("stdout" in selected)) throw new RecoverError(`no stack is selected (${selected.problem}); give --stack`);
  const own = selected.stdout.trim().split("/").at(-1);
  for (const path of journalsIn(folder))
    for (const { stack } of (await contentsOf(path)).runs.byId.values()) {
      const [, itsProject, name] = stack.split("/");
      if (itsProject === project.name && name === own && pathOf(stack) === path) return stack;
    }
  return undefined;
};

const isCertain = ({ record, doubt }: Leftover): boolean => record !== undefined && doubt === undefined;

const remove = async (
  { yes, format }: RecoverFlags,
  session: Session,
  open: OpenStack | undefined,
  leftovers: readonly Leftover[],
): Promise<Removal> => {
  const certain = leftovers.filter(isCertain);
  if (!open || certain.length === 0) return { removed: [], failed: [] };
  const isUnderWay = open.runs.some((run) => run.isUnderWay);
  if (isUnderWay) throw new RecoverError(`a run of ${open.name} is under way: wait for its end`);
  const question = `Delete ${countText(certain.length, "record")}?`;
  if (!yes && format === "terminal" && canAsk()) {
    print(listText(open, leftovers));
    if (!(await ask(question))) return { removed: [], failed: [] };
  } else if (!yes) return { removed: [], failed: [] };
  return removeLeftovers(session, certain);
};

const listText = ({ name, runs, touched }: OpenStack, leftovers: readonly Leftover[]): string => {
  const begun = runs.map(({ run, isUnderWay }) => `a run without checkpoints ${runText(run, isUnderWay)}`);
  const counts = countsText(leftovers.length, touched.values());
  return `${[`stack ${name} is open: the engine's state lacks ${counts}`, ...begun, ...leftovers.map(lineOf)].join("\n  ")}\n`;
};

const report = (
  { format, yes }: RecoverFlags,
  open: OpenStack | undefined,
  leftovers: readonly Leftover[],
  { removed, failed }: Removal,
): number => {
  const left = leftovers.filter((one) => !removed.includes(one));
  if (format === "json") print(`${JSON.stringify(asJson(open, leftovers, { removed, failed }), undefined, 2)}\n`);
  else if (!open) print("no run without checkpoints has left this stack open\n");
  else if (removed.length > 0)
    print(`${[`deleted ${countText(removed.length, "record")}:`, ...removed.map(lineOf)].join("\n  ")}\n`);
  else if (yes || !canAsk()) print(listText(open, leftovers));
  for (const { leftover, reason } of failed) printError("irm recover", `${lineOf(leftover)} is left: ${reason}`);
  if (open && format === "terminal") print(adviceFor(open, left));
  if (failed.length > 0) return 1;
  return left.length > 0 ? LEFT : 0;
};

const adviceFor = ({ touched }: OpenStack, left: readonly Leftover[]): string => {
  const certain = left.filter(isCertain).length;
  return [
    ...(certain > 0
      ? [
          `\`irm recover --yes\` deletes ${countText(certain, "record")}; \`pulumi up\` first takes over what the program declares\n`,
        ]
      : []),
    ...(left.length > certain
      ? ["Look at the records in doubt. Adopt or delete each, then: irm journal clean --key KEY\n"]
      : []),
    ...(touched.size > 0 ? ["`pulumi up`, or `pulumi refresh`, compares what was changed or deleted\n"] : []),
  ].join("");
};

const asJson = (open: OpenStack | undefined, leftovers: readonly Leftover[], { removed, failed }: Removal) => ({
  stack: open?.name ?? null,
  runs: (open?.runs ?? []).map(({ run, verdict }) => ({
    began: new Date(run.at).toISOString(),
    host: run.host,
    pid: run.pid,
    verdict,
  })),
  changed: [...(open?.touched.values() ?? [])].map(({ wrote, kind, key, to }) => ({
    uid: wrote,
    kind,
    key,
    change: to === undefined ? "deleted" : "updated",
  })),
  records: leftovers.map((one) => {
    const { entry, record, doubt } = one;
    const reason = failed.find(({ leftover }) => leftover === one)?.reason;
    return {
      uid: record?.uid ?? entry.uid ?? null,
      kind: entry.kind,
      key: entry.key,
      created: record ? createTimeOf(record) : null,
      removed: removed.includes(one),
      ...(doubt !== undefined && { doubt }),
      ...(reason !== undefined && { reason }),
    };
  }),
});
