// The folder of the journals: whether a run may use it, whether it can write there, and what is pending in it.
import { constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { countText } from "../../access/format/words.ts";
import type { Env } from "../../client/addresses.ts";
import { withoutSection } from "../../client/errors.ts";
import { JournalError } from "../../provider/log/entries.ts";
import { journalFolder, workTreeProblem } from "../../provider/run/journal-path.ts";
import { pendingIn } from "../command/recover-journal.ts";
import { isAccessible } from "../files.ts";
import { bad, type Check, good } from "./check.ts";

/** `found`: the setting, where it is set. */
export const checkJournal = async (
  found: { value: string; place: string } | undefined,
  env: Env,
  cwd: string,
): Promise<Check> => {
  const folder = journalFolder(found?.value, env);
  const at = `${folder} (${found?.place ?? "default"})`;
  const problem = workTreeProblem(journalFolder(found?.value, env), cwd);
  if (problem !== undefined) return bad("journal", problem, "set IRM_JOURNAL to a folder outside of the repository");
  const existing = nearestExisting(folder);
  if (!statSync(existing).isDirectory())
    return bad("journal", `${at}: ${existing} is not a folder`, "set IRM_JOURNAL to the absolute path of a folder");
  if (!isAccessible(existing, constants.W_OK | constants.X_OK))
    return bad("journal", `${at}: this user cannot write to ${existing}`, "set IRM_JOURNAL to a folder that it owns");
  if (existing !== folder) return good("journal", `${at}; the first run creates it`);
  try {
    const pending = (await pendingIn(folder)).length;
    return good(
      "journal",
      pending === 0
        ? `${at}, no create is pending`
        : `${at}, ${countText(pending, "create")} pending: the next run resolves them; \`npx pulumi-irm recover list\` shows them`,
    );
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return bad("journal", `${at}: ${withoutSection(error.message)}`, "docs/recovery.md#cannot-write says what to do");
  }
};

const nearestExisting = (folder: string) => {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
};
