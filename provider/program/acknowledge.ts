// Reports to the journal the records that the engine has stored (provider/log/entries.ts). Otherwise the journal learns of them only when the
// engine asks for them in a later run, and a stack may be removed before that.
//
// Best effort: the journal keeps the entries of unreported records. An inline program of the Automation API has neither the environment nor
// the folder of its engine, so it reports nothing. Nor does a program without our code (YAML, Python).
import * as pulumi from "@pulumi/pulumi";
import { skipsCheckpoints } from "../run/stored-stack.ts";
import { isOnCommandLine, perRun, programJournal } from "./session.ts";

const TOLD_EVERY_MS = 1_000;

/** `field` names the kind of the records; `uids` resolves once the engine has stored the resource. */
export const noteStored = (field: string, uids: () => Promise<readonly (string | undefined)[]>): void => {
  // Without checkpoints the engine answers before it stores anything (pkg/backend/journal.go of the engine).
  if (pulumi.runtime.isDryRun() || !isOnCommandLine() || skipsCheckpoints(process.env)) return;
  uids().then(
    (known) => currentStored()(known.flatMap((uid) => (uid === undefined ? [] : [{ field, uid }]))),
    // The create failed.
    () => undefined,
  );
};

const currentStored = perRun(() => {
  const fresh: { field: string; uid: string }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last = Promise.resolve();

  const report = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const records = fresh.splice(0);
    if (records.length === 0) return;
    const { acknowledgeIn, knownLine } = await import("../log/entries.ts");
    const stored = records.map(({ field, uid }) => knownLine(field, uid));
    await acknowledgeIn(programJournal(), stored);
  };
  // One at a time. A failure does not fail the program: the journal keeps the entries.
  const reportInTurn = () => {
    last = last.then(report).catch(() => undefined);
  };
  process.once("beforeExit", reportInTurn);
  return (stored: typeof fresh) => {
    fresh.push(...stored);
    timer ??= setTimeout(reportInTurn, TOLD_EVERY_MS).unref();
  };
});
