// The run itself: `pulumi up` of the program, and its steps, from its events.
import { readFileSync, writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { type Engine, EngineError, type EngineRun, type RunOperation } from "../../pulumi/command.ts";

/** A step that the engine has carried out, or tried to. */
export interface RunStep {
  urn: string;
  op: string;
  ok: boolean;
  /** from the provider or the engine */
  error?: string;
}

interface UpResult {
  steps: RunStep[];
  /** URNs of resources that the engine has settled, with or without a change */
  settled: ReadonlySet<string>;
  /** beside those of the steps: errors of the program, or of the engine */
  errors: string[];
}

const Metadata = z.object({ op: z.string(), urn: z.string() });
const Event = z.object({
  resOutputsEvent: z.object({ metadata: Metadata }).optional(),
  resOpFailedEvent: z.object({ metadata: Metadata }).optional(),
  diagnosticEvent: z.object({ urn: z.string().optional(), severity: z.string(), message: z.string() }).optional(),
  summaryEvent: z.looseObject({}).optional(),
});
type Event = z.infer<typeof Event>;

/** All failures at once, not only the first. */
const FLAGS = ["--yes", "--skip-preview", "--continue-on-error", "--suppress-outputs"];

interface Up {
  operation: RunOperation;
  stack: string;
  /** of the user, for the engine (cli/engine-command.ts) */
  arguments: readonly string[];
  settings: string;
  /** the file for the events */
  events: string;
  /** URNs of resources that the run leaves as they are, with those of their dependents */
  exclude: readonly string[];
}

/**
 * Runs the program with a refresh, as the job that applies it (cli/command/ci-run.ts). A record that the refresh cannot read would hide each
 * later refusal, so the run goes on without one. Errors: EngineError, for a run that did not begin.
 */
export const runUp = async (engine: Engine, up: Up, options: EngineRun): Promise<UpResult> => {
  const refreshed = await runOnce(engine, up, ["--refresh"], options);
  const unread = refreshed.steps.filter(({ op, ok }) => !ok && op === "refresh");
  if (unread.length === 0) return refreshed;
  const { steps, settled, errors } = await runOnce(engine, up, [], options);
  const done = refreshed.steps.filter(({ op, ok }) => ok && op !== "refresh");
  return { steps: [...unread, ...done, ...steps], settled: new Set([...refreshed.settled, ...settled]), errors };
};

const runOnce = async (
  engine: Engine,
  { operation, stack, settings, events, arguments: chosen, exclude }: Up,
  flags: readonly string[],
  options: EngineRun,
): Promise<UpResult> => {
  // Of the same owner.
  writeFileSync(events, "", { mode: 0o600 });
  // The engine refuses a URN that no resource of the stack has, and accepts a pattern. With --exclude-dependents it would delete
  // nothing, so the dependents are in the list.
  const excluding = exclude.flatMap((urn) => ["--exclude", urn.replace(/^urn:/, "urn*:")]);
  const args = [operation, ...FLAGS, ...flags, ...chosen, ...excluding];
  args.push("--stack", stack, "--config-file", settings, "--event-log", events);
  const { end, stdout, stderr } = await engine.run(args, options);
  const found = readFileSync(events, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return Event.safeParse(JSON.parse(line)).data ?? [];
      } catch {
        // The last line of an engine that was killed may be torn.
        return [];
      }
    });
  if (!found.some(({ summaryEvent }) => summaryEvent)) {
    const why = diagnosticsOf(found).map(({ text }) => text);
    const last = stderr.trim() || stdout.trim();
    throw new EngineError(`pulumi ${operation} did not begin: ${[...why, last].filter(Boolean).join("\n")}`);
  }
  const result = upResultFrom(found);
  if (end !== 0 && result.errors.length === 0 && result.steps.every(({ ok }) => ok))
    result.errors.push(`pulumi ${operation} ended with ${end}: ${stderr.trim()}`);
  return result;
};

const diagnosticsOf = (events: readonly Event[]) =>
  events.flatMap(({ diagnosticEvent: one }) =>
    one?.severity === "error" ? [{ urn: one.urn || undefined, text: plainText(one.message) }] : [],
  );

/** Without the engine's own colors, such as `<{%fg 1%}>`. */
const plainText = (text: string) =>
  stripVTControlCharacters(text.replace(/<\{%.*?%\}>/g, ""))
    .split("\n")
    .filter((line) => !IS_FRAME.test(line))
    .join("\n")
    .trim();

/** Of the stack of an error in the program. */
const IS_FRAME = /^\s+at .*:\d+:\d+\)?$/;

/** Operations of the engine that change nothing. */
export const UNCHANGED = ["same", "read", "refresh"];

const upResultFrom = (events: readonly Event[]): UpResult => {
  const steps: RunStep[] = [];
  const settled = new Set<string>();
  const diagnostics = diagnosticsOf(events);
  for (const { resOutputsEvent, resOpFailedEvent } of events) {
    const { metadata } = resOpFailedEvent ?? resOutputsEvent ?? {};
    if (metadata === undefined) continue;
    const { urn, op } = metadata;
    const ok = resOpFailedEvent === undefined;
    if (ok && op !== "refresh") settled.add(urn);
    if (ok && UNCHANGED.includes(op)) continue;
    const error = diagnostics.filter((one) => one.urn === urn).map(({ text }) => text);
    steps.push({ urn, op, ok, ...(!ok && { error: [...new Set(error)].join("\n") || "the step failed" }) });
  }
  const failed = new Set(steps.flatMap(({ urn, ok }) => (ok ? [] : [urn])));
  const others = diagnostics.filter(({ urn }) => urn === undefined || !failed.has(urn));
  return {
    steps,
    settled,
    errors: [...new Set(others.map(({ text }) => text))].filter((text) => !IS_SUMMARY.test(text)),
  };
};

/** The engine's last words of a failed run. */
const IS_SUMMARY = /^(update|resource operation|resource monitor|step application) failed\b|^update failed$/;
