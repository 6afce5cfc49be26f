// Runs `pulumi preview --json`, and reads its output. Members of newer engines are ignored. A step that cannot be read is kept as
// unreadable, because a review must not omit steps that it does not understand.
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { isDoubt } from "../client/preview-marks.ts";
import { bulleted, UserError } from "../schema/index.ts";
import { type EngineParts, engineWith, type RunOperation, stackFlag } from "./command.ts";
import { ourType, partsOfUrn } from "./urn.ts";

const bag = z.record(z.string(), z.unknown()).nullish();

const State = z.object({
  /** with an alias, the URN in the state keeps its old value */
  urn: z.string().nullish(),
  parent: z.string().nullish(),
  id: z.string().nullish(),
  type: z.string().nullish(),
  inputs: bag,
  outputs: bag,
  dependencies: z.array(z.string()).nullish(),
  propertyDependencies: z.record(z.string(), z.array(z.string()).nullish()).nullish(),
  /** it was read, and is never deleted */
  external: z.boolean().nullish(),
  /** a replacement left it behind: its successor exists, and it is still to be deleted */
  delete: z.boolean().nullish(),
});

const Step = z.object({
  op: z.string(),
  urn: z.string(),
  oldState: State.nullish(),
  newState: State.nullish(),
});
export type Step = z.infer<typeof Step>;

const Diagnostic = z.object({
  severity: z.string().nullish(),
  message: z.string().nullish(),
});

const Document = z.object({
  steps: z.array(z.unknown()).nullish(),
  diagnostics: z.array(z.unknown()).nullish(),
  changeSummary: z.unknown().optional(),
  duration: z.number().nullish(),
});

export interface Preview {
  steps: Step[];
  /** why the others cannot be read */
  unreadable: string[];
  /** facts that the provider and the end of the program do not know, about an open stack (docs/troubleshooting.md#open-stack) or an `adopt` */
  doubts: string[];
}

/** The preview failed, or the text is not a preview. */
export class PreviewError extends UserError {
  override readonly name = "PreviewError";
}

const HOW = "it must be what pulumi preview --json --show-sames --refresh prints";

/** `source` names the text in an error: a file, or the engine. */
export const parsePreview = (text: string, source: string): Preview => {
  let json: unknown;
  try {
    // Some shells begin a file with a byte order mark.
    json = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new PreviewError(`${source} is not JSON (${(error as Error).message}); ${HOW}`);
  }
  const { data, error } = Document.safeParse(json);
  if (error) throw new PreviewError(`${source} is not a preview: ${z.prettifyError(error)}; ${HOW}`);
  const { steps, diagnostics, changeSummary, duration } = data;
  // The preview of a destroy with nothing left to delete contains only its duration.
  if (!steps && !diagnostics && !changeSummary && typeof duration !== "number")
    throw new PreviewError(`${source} is not a preview; ${HOW}`);
  const printed = (diagnostics ?? []).flatMap((one) => Diagnostic.safeParse(one).data ?? []);
  const errors = printed.flatMap(({ severity, message }) =>
    severity === "error" ? [stripVTControlCharacters(message ?? "").trim()] : [],
  );
  if (errors.length > 0) throw new PreviewError(bulleted("the preview has errors. Correct them first:", ...errors));
  const doubts = printed.flatMap(({ message }) => (message && isDoubt(message) ? [message.trim()] : []));
  const preview: Preview = {
    steps: [],
    unreadable: [],
    doubts: [...new Set(doubts)],
  };
  (steps ?? []).forEach((one, i) => {
    const step = Step.safeParse(one);
    const problem = step.success ? otherType(step.data) : z.prettifyError(step.error).replaceAll(/\s+/g, " ");
    if (step.success && problem === undefined) preview.steps.push(step.data);
    else preview.unreadable.push(`step ${i + 1}${urnIn(one)}: ${problem}`);
  });
  return { ...preview, steps: withPendingDeletes(preview.steps) };
};

/**
 * Only with --show-replacement-steps does the engine show the deletion of a record that an interrupted replacement left behind. Its refresh
 * shows the record beside its successor, which has the same URN.
 */
const withPendingDeletes = (steps: readonly Step[]): Step[] => {
  const keyOf = ({ urn, oldState }: Step) => `${urn} ${oldState?.id}`;
  const shown = new Set(steps.filter(({ op }) => op === "delete-replaced").map(keyOf));
  return steps.flatMap((step) => {
    const { op, urn, oldState, newState } = step;
    if (op !== "refresh" || !oldState?.delete) return [step];
    // A deleted record needs no deletion.
    return newState && !shown.has(keyOf(step))
      ? [{ op: "delete-replaced", urn, oldState: { ...oldState, ...newState } }]
      : [];
  });
};

// A component may have any text as its type, even one that contains `::`. Its URN, and the URNs of the resources below it, then show a type
// other than the one that the engine uses.
const otherType = ({ urn, oldState, newState }: Step) => {
  const type = newState ? newState.type : oldState?.type;
  const shown = partsOfUrn(urn).type;
  if (typeof type !== "string" || ourType(type) === ourType(shown)) return undefined;
  return `its type is ${JSON.stringify(type)}, and its URN shows ${JSON.stringify(shown)}`;
};

const urnIn = (step: unknown) => {
  const urn = (step as { urn?: unknown } | null)?.urn;
  return typeof urn === "string" ? ` (${urn})` : "";
};

// A plain preview omits unchanged resources, and does not see manual removals.
const FLAGS = ["--json", "--show-sames", "--refresh"];

const COMMANDS: Readonly<Record<RunOperation, readonly string[]>> = {
  up: ["preview"],
  destroy: ["destroy", "--preview-only"],
};

interface PreviewOptions {
  /** default: `up` */
  operation?: RunOperation | undefined;
  /** default: the environment of this process */
  env?: NodeJS.ProcessEnv | undefined;
  /** added to the arguments of the engine */
  more?: readonly string[] | undefined;
  /** ends the engine, and is then thrown */
  signal?: AbortSignal | undefined;
  /** the user of its process; default: the user of this process */
  user?: EngineParts["user"];
}

/**
 * Runs in the folder of the program. Messages and questions of the engine reach the user. `command` is the engine and its first arguments.
 */
export const runPreview = async (
  command: readonly [string, ...string[]],
  cwd: string,
  stack?: string,
  { operation = "up", env = process.env, more = [], signal, user }: PreviewOptions = {},
): Promise<Preview> => {
  const args = [...COMMANDS[operation], ...FLAGS, ...stackFlag(stack), ...more];
  const { end, stdout } = await engineWith(command, { signal, user }).run(args, {
    cwd,
    env,
    stdio: ["inherit", "pipe", "inherit"],
  });
  signal?.throwIfAborted();
  // A preview that fails also prints its errors as JSON.
  if (end !== 0 && stdout.trim() === "")
    throw new PreviewError(`the preview ended with ${end}; its messages are above`);
  const preview = parsePreview(stdout, "what the preview printed");
  if (end !== 0)
    throw new PreviewError(`the preview ended with ${end}, but its output lists no error; its messages are above`);
  return preview;
};
