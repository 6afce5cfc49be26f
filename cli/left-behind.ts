// What killed runs left of the stack of this folder: what runs without checkpoints did, as the journal has it, or what runs created whose
// machine was lost with its journal, as the engine's state has it.
import { awaitLeftovers, type Leftover } from "../provider/open/leftover.ts";
import { findLost } from "../provider/open/lost-machine.ts";
import { findOpenStack, type OpenStack } from "../provider/open/stack.ts";
import { typeOfToken } from "../provider/record/kind.ts";
import { stackOperations } from "../provider/recovery/operations.ts";
import { readEngineState } from "../provider/run/engine-state.ts";
import { journalPath } from "../provider/run/journal-path.ts";
import { type Session, sessionWith, systemEnvironment } from "../provider/run/session.ts";
import { storedStacks } from "../provider/run/stored-stack.ts";
import { printableLines } from "../schema/index.ts";
import { systemConfig } from "./client.ts";
import { runEngine } from "./doctor/engine.ts";
import { findProject } from "./doctor/project.ts";
import { contentsOf, journalsIn } from "./journal-files.ts";

export interface LeftBehind extends Pick<OpenStack, "name" | "runs" | "touched"> {
  session: Session;
  leftovers: readonly Leftover[];
}

/** The stack cannot be told, or its state cannot be read. */
export class RecoverError extends Error {
  override readonly name = "RecoverError";
}

/** Waits for what may still arrive. `folder`: of the journals. Undefined where nothing is left. Errors: RecoverError, and those of the journal and the client. */
export const findLeftBehind = async (given: string | undefined, folder: string): Promise<LeftBehind | undefined> => {
  const { env } = process;
  const config = { ...systemConfig(), journal: folder };
  const own = await stackHere(given);
  const journalled = await stackIn(folder, own, (name) => journalPath(name, config, env, process.cwd()));
  const log = (text: string) => process.stderr.write(`${printableLines(text)}\n`);
  const stored = storedStacks({ env, cwd: process.cwd() });
  const session = sessionWith(config, { ...systemEnvironment(), storedStacks: stored, log });
  return (journalled && (await openRuns(session, journalled))) || lostCreates(session, own);
};

/** Whether the engine's state has creates of this package that did not end. It needs no credentials. Errors: EngineStateError. */
export const hasPendingCreates = async (stack: string): Promise<boolean> => {
  const { pending } = await readEngineState({ env: process.env, cwd: process.cwd() }, stack);
  return pending.some(({ type, resource }) => type === "creating" && typeOfToken(resource.type) !== undefined);
};

const openRuns = async (session: Session, stack: string): Promise<LeftBehind | undefined> => {
  const open = await findOpenStack(session, { key: `${stack}/` });
  if (!open) return undefined;
  if (open.problem !== undefined) throw unreadable(open.problem);
  return { ...open, session, leftovers: await awaitLeftovers(session, open.leftovers, open.about) };
};

const lostCreates = async (
  session: Session,
  { organization = ENGINES_OWN, project, name }: StackHere,
): Promise<LeftBehind | undefined> => {
  const key = `${[organization, project, name].join("/")}/`;
  const { problem } = await stackOperations(session, key);
  if (problem !== undefined) throw unreadable(problem);
  const leftovers = await findLost(session, key);
  if (leftovers.length === 0) return undefined;
  const parts = organization === ENGINES_OWN ? [project, name] : [organization, project, name];
  return { session, name: parts.join("/"), runs: [], touched: new Map(), leftovers };
};

const unreadable = (problem: string): RecoverError => new RecoverError(`the engine's state cannot be read: ${problem}`);

/** A stack by its own name, in the project of this folder. */
interface StackHere {
  /** absent: the engine's own, which it does not print */
  organization?: string;
  project: string;
  name: string;
}

const stackHere = async (given: string | undefined): Promise<StackHere> => {
  const cwd = process.cwd();
  const project = findProject(cwd)?.name;
  if (project === undefined) throw new RecoverError("there is no Pulumi.yaml in this folder, or it names no project");
  const selected =
    given === undefined ? await runEngine(cwd)("stack", "--show-name", "--non-interactive") : { stdout: given };
  if (!("stdout" in selected)) throw new RecoverError(`no stack is selected (${selected.problem}); give --stack`);
  const parts = selected.stdout.trim().split("/");
  const [organization] = parts;
  return { ...(parts.length > 1 && { organization }), project, name: parts.at(-1) ?? "" };
};

/** organization/project/stack, where the journals have open runs of it at this service. */
const stackIn = async (
  folder: string,
  { project, name }: StackHere,
  pathOf: (stack: string) => string,
): Promise<string | undefined> => {
  for (const path of journalsIn(folder))
    for (const { stack } of (await contentsOf(path)).runs.byId.values()) {
      const [, itsProject, itsName] = stack.split("/");
      if (itsProject === project && itsName === name && pathOf(stack) === path) return stack;
    }
  return undefined;
};

// In place of an organization: the engine finds a stack by its own name, in the project of its folder.
const ENGINES_OWN = "-";
