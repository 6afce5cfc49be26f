// A run without checkpoints is refused where its journal could not make up for them: nothing is sent (docs/performance.md#checkpoints).
import type { Config, Env } from "../../client/config.ts";
import { SessionError } from "../../client/errors.ts";
import { withSection } from "../../client/recovery.ts";
import { typeOfToken } from "../record/kind.ts";
import { EngineStateError, type StateResource } from "../run/engine-state.ts";
import { stackOf } from "../run/journal.ts";
import { keptFolderProblem } from "../run/kept-folder.ts";
import type { Ledger } from "../run/session.ts";
import type { StepParts } from "./steps.ts";

class Refused extends SessionError {
  override readonly name = "Refused";
}

interface Parts extends Pick<StepParts, "ledger" | "log" | "cwd"> {
  config(): Promise<Config>;
  env: Env;
}

export const uncheckedGate = ({ config, ledger, env, cwd, log }: Parts) => {
  let checked: Promise<void> | undefined;
  const check = async (key: unknown): Promise<void> => {
    const problems = [keptFolderProblem(await config(), env, cwd), await stateProblem(await ledger(), key as string)];
    const found = problems.filter((one) => one !== undefined);
    if (found.length > 0) throw new Refused(withSection([HEAD, ...found].join("\n  - ") + ADVICE, "unchecked"));
  };
  /** Throws before the first write of a run that is not safe. `key` is of a resource of the stack. */
  const require = (key: unknown): Promise<void> => {
    checked ??= check(key);
    return checked;
  };
  let hasWarned = false;
  return {
    require,
    /** Before the first step of a run that says what it is: an update is refused at once, and a preview warns of it. */
    expect: async (key: unknown, isUpdate: boolean): Promise<void> => {
      try {
        await require(key);
      } catch (error) {
        if (isUpdate || !(error instanceof Refused)) throw error;
        if (!hasWarned) log(`warning: the update will fail:\n${error.message}`);
        hasWarned = true;
      }
    },
  };
};

const HEAD = "PULUMI_SKIP_CHECKPOINTS: this run is refused, and nothing is sent:";
const ADVICE = "\nOr unset PULUMI_SKIP_CHECKPOINTS: with checkpoints, nothing of this is needed.";

const SHOWN = 5;

const stateProblem = async (ledger: Ledger, key: string): Promise<string | undefined> => {
  try {
    const { resources } = await ledger.engineState(stackOf(key));
    const others = resources.filter(isOfOther).map(({ urn }) => urn);
    if (others.length === 0) return undefined;
    const more = others.length > SHOWN ? ` and ${others.length - SHOWN} more` : "";
    return (
      "the stack has resources of other providers, which keep no journal: what a killed run did with them would be lost. " +
      `Put them into a stack of their own: ${others.slice(0, SHOWN).join(", ")}${more}`
    );
  } catch (error) {
    if (!(error instanceof EngineStateError)) throw error;
    return `whether the stack has resources of other providers is not known: ${error.message}`;
  }
};

/** A provider itself, and what is only read, is nothing that a run creates. */
const isOfOther = ({ type, custom, external }: StateResource): boolean =>
  custom === true && external !== true && !type.startsWith("pulumi:") && typeOfToken(type) === undefined;
