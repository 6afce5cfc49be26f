// A rehearsal of the program of this folder, for `irm rehearse` and `irm review --rehearse`: its flags, its exit code and its errors.
import { goesThrough, type Rehearsal } from "../../access/rehearsal/report.ts";
import { isUidp } from "../../schema/index.ts";
import { SeedError } from "../../server/index.ts";
import { CopyError, copyOf } from "../copy.ts";
import { engineCommand } from "../engine-command.ts";
import { untilInterrupted } from "../interrupt.ts";
import { parseCount, UsageError } from "../usage.ts";
import type { Rights } from "./actor.ts";
import { EngineError } from "./engine.ts";
import { RehearsalError } from "./error.ts";
import { type RehearsalInput, rehearse } from "./rehearse.ts";

export interface RehearsalFlags {
  as?: string;
  rights?: Rights;
  rateLimit?: string;
}

type Options = Pick<RehearsalInput, "as" | "rights" | "rateLimit">;

/** Throws UsageError. */
export const rehearsalOptions = ({ as, rights, rateLimit }: RehearsalFlags): Options => {
  const rate = rateLimit === undefined ? undefined : parseCount("--rate-limit", rateLimit);
  if (as !== undefined && !isUidp(as)) throw new UsageError(`--as: ${JSON.stringify(as)} is not a uid`);
  return { as, rights, rateLimit: rate };
};

type Given = Omit<RehearsalInput, "command" | "cwd" | "env" | "copyOf">;

/** Rehearses the program of this folder. ^C ends it, and leaves nothing. */
export const rehearseHere = (given: Given): Promise<Rehearsal> => {
  const input = { ...given, command: engineCommand(), cwd: process.cwd(), env: process.env, copyOf };
  const reason = new RehearsalError("it was interrupted; nothing was changed, and nothing is left of the rehearsal");
  return untilInterrupted(reason, (signal) => rehearse(input, signal), "ending the rehearsal");
};

const FAILS = 3;
const DISAGREES = 4;

/** A disagreement counts most: then neither the review nor the rehearsal can be relied on. */
export const rehearsalCode = (rehearsal: Rehearsal): number => {
  if (!rehearsal.agrees) return DISAGREES;
  return goesThrough(rehearsal) ? 0 : FAILS;
};

/** Why there is no rehearsal; undefined for another error. */
export const rehearsalErrorText = (error: unknown): string | undefined => {
  const isOwn = [RehearsalError, EngineError, CopyError, SeedError].some((one) => error instanceof one);
  return isOwn ? (error as Error).message : undefined;
};
