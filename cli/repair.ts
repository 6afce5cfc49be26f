// `irm drift --repair`: the change that an update of the unchanged program would send, reviewed and applied.
import { digestOf } from "../access/canonical.ts";
import { documentAsText } from "../access/format/document/terminal.ts";
import { reviewDocument } from "../access/format/review/document.ts";
import { reportAsJson } from "./apply/report.ts";
import { applyChange } from "./apply.ts";
import type { DriftFlags } from "./drift.ts";
import { reviewCode, reviewProgram } from "./review.ts";
import { ask, canAsk, print, printError, stdoutStyle } from "./terminal.ts";
import { UsageError } from "./usage.ts";

interface RepairFlags extends DriftFlags {
  /** do not ask */
  yes?: boolean | undefined;
}

export const repair = async ({ stack, service, allow, yes, format }: RepairFlags): Promise<number> => {
  if (allow !== undefined) throw new UsageError("--allow is not for --repair, which leaves what nothing declares");
  if (format === "markdown") throw new UsageError("--repair prints terminal or json");
  if (!yes && !canAsk()) throw new UsageError("there is no terminal to ask whether to go on; give --yes");
  const flags = { ...(stack !== undefined && { stack }), ...(service !== undefined && { service }) };
  const { made, content } = await reviewProgram(flags);
  // stdout has the report of the apply.
  process.stderr.write(documentAsText(reviewDocument(made.report), stdoutStyle()));
  const code = reviewCode(made);
  if (code !== 0) {
    printError("irm drift", "the review denies this change; nothing was applied");
    return code;
  }
  if (content.writes.length === 0) {
    print(format === "json" ? reportAsJson(NOTHING) : "there is nothing to repair\n");
    return 0;
  }
  if (!yes && !(await ask("Apply this change?"))) {
    printError("irm drift", "nothing was applied");
    return 1;
  }
  const change = { ...content, digest: digestOf(content) };
  return applyChange(change, { ...flags, file: "the change", yes: true, format });
};

const NOTHING = { applied: 0, refused: [], missing: 0, tokens: [], narrowed: true };
