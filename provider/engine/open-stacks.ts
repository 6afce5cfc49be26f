// The open stack (provider/attribution), as the methods use it. They look for it once for each stack.

import { resolve } from "node:path";
import type { Config, Env } from "../../client/config.ts";
import { SessionError, withSection } from "../../client/errors.ts";
import { isWithin } from "../../pulumi/project.ts";
import { EngineStateError } from "../../pulumi/state.ts";
import { bulleted, getOrInsert, isUidp, type Json } from "../../schema/index.ts";
import { awaitLeftovers, createsOf, removeLeftovers } from "../attribution/leftover.ts";
import { findLostMachine, removeLost } from "../attribution/lost-machine.ts";
import { isGroupGone } from "../attribution/observe.ts";
import { findOpenStack, lostIn, type OpenStack } from "../attribution/stack.ts";
import { describeOpenStack, lineOf, uncomparableText } from "../attribution/text.ts";
import { typeOfToken } from "../record/kind.ts";
import { KEY } from "../record/state.ts";
import { stackOf, unlessJournalFails } from "../run/journal.ts";
import { journalFolder } from "../run/journal-path.ts";
import type { Ledger } from "../run/session.ts";
import { oncePerStack } from "./shared-state.ts";
import type { Observed, Offline, StepParts, Steps } from "./steps.ts";

type OpenStacks = ReturnType<typeof openStacks>;

/** `offline`: a preview continues without the service. */
export const openStacks = ({ ledger, connect, hasCredentials, log }: StepParts, offline: Offline) => {
  let clearing: Promise<void> = Promise.resolve();
  const look = async (key: string, isUpdate: boolean | undefined): Promise<void> => {
    const { journal } = await ledger();
    const isPreview = isUpdate === false;
    // The steps that need the journal report its failure.
    await unlessJournalFails(undefined, async () => {
      if ((await journal.findOpenRuns(key)) !== undefined) {
        if (!(await hasCredentials()))
          throw new SessionError(withSection(uncomparableText(stackOf(key)), "open-stack"));
        stacks.current = await findOpenStack(await connect(), { key, isPreview });
        if (stacks.current) log(describeOpenStack(stacks.current));
      } else if (!offline.reason && (await hasCredentials()) && (await journal.isBehind(key))) {
        const { stack, messages } = await findLostMachine(await connect(), { key, isPreview });
        stacks.current = stack;
        for (const message of messages) log(message);
      }
    });
  };
  const removeOnce = async (key: string) => {
    for (const message of await removeLost(await connect(), key)) log(message);
  };
  let removing: Promise<void> | undefined;
  const stacks = {
    /** undefined: it is not open */
    current: undefined as OpenStack | undefined,
    /**
     * Looks for creates and changes that earlier runs left open, once for each stack. `key` belongs to a resource of the stack. `isUpdate`
     * as for the service gate: undefined if unknown.
     */
    look: oncePerStack(look),
    /** In a destroy: deletes the records that the open runs created, unless something blocks them. */
    clear: async (): Promise<void> => {
      if (!stacks.current) return;
      clearing = clearing.then(async () => {
        const { current } = stacks;
        if (!current || current.leftovers.length === 0) return;
        const session = await connect();
        const leftovers = await awaitLeftovers(session, current.leftovers, current.about);
        const { removed } = await removeLeftovers(session, lostIn(current, leftovers));
        for (const one of removed) log(`deleted a leftover of a run without checkpoints: ${lineOf(one)}`);
        stacks.current = { ...current, leftovers: leftovers.filter((one) => !removed.includes(one)) };
      });
      await clearing;
    },
    /** Runs before the first deletion of a run on a machine whose journal lacks runs of the stack. */
    removeLost: (key: string): Promise<void> => {
      removing ??= removeOnce(key);
      return removing;
    },
  };
  return stacks;
};

/** The steps of a kind in an open stack: they compare the current record, not the outputs that the engine has stored. */
export const openStepsWith =
  (stacks: OpenStacks, { connect, isDeclared }: StepParts) =>
  (steps: Steps): Steps => {
    const found = new Map<string, Promise<Observed | undefined>>();
    const observe = (stack: OpenStack, id: string, stored: Json) =>
      getOrInsert(found, id, () => connect().then((session) => steps.observe(session, stack, id, stored)));
    return {
      ...steps,
      check: async (olds, news, shown) => {
        const mayReplace = stacks.current && isUidp(olds.parent) && (await isGroupGone(stacks.current, olds.parent));
        return steps.check(olds, news, mayReplace ? { ...shown, mayReplace } : shown);
      },
      diff: async (id, olds, news) => {
        // A refresh compares the outputs that it has read.
        if (!stacks.current || !isDeclared(news[KEY])) return steps.diff(id, olds, news);
        const observed = await observe(stacks.current, id, olds);
        if (!observed) return { changes: true, replaces: ["uid"], isGone: true };
        const compared = await steps.diff(id, observed.outputs, news);
        return { ...compared, changes: compared.changes || observed.differs, observed: observed.outputs };
      },
      read: async (session, id, stored, about) => {
        // The engine forgets the update of a killed run when a refresh saves. So from here on the set contains the bindings that the update
        // created.
        const { isOfState, leftovers = [] } = stacks.current ?? {};
        const created = isOfState ? createsOf(leftovers) : undefined;
        const result = await steps.read(session, id, stored, created ? { ...about, created } : about);
        if (!stacks.current || !about.isRefresh) return result;
        const outputs = result.id === "" ? undefined : result.props;
        const observed = await steps.noteRead(session, stacks.current, id, stored, outputs);
        if (observed) found.set(id, Promise.resolve(observed));
        return result;
      },
      update: async (session, id, olds, news) => {
        const { current } = stacks;
        if (!current) return steps.update(session, id, olds, news);
        const observed = await observe(current, id, olds);
        const updated = await steps.update(session, id, observed?.outputs ?? olds, news);
        // If the record already matched the program, nothing was sent. The next run compares the state with this.
        await steps.noteRead(session, current, id, olds, updated.outs);
        return updated;
      },
    };
  };

// A run without checkpoints is refused if its journal could not replace them: nothing is sent (docs/internals/performance.md#checkpoints).

class Refused extends SessionError {
  override readonly name = "Refused";
}

interface Parts extends Pick<StepParts, "ledger" | "log" | "cwd"> {
  config(): Promise<Config>;
  env: Env;
}

export const uncheckedGate = ({ config, ledger, env, cwd, log }: Parts) => {
  let checked: Promise<void> | undefined;
  const check = async (key: unknown) => {
    const problems = [keptFolderProblem(await config(), env, cwd), await stateProblem(await ledger(), key as string)];
    const found = problems.filter((one) => one !== undefined);
    if (found.length > 0) throw new Refused(withSection(bulleted(HEAD, ...found) + ADVICE, "unchecked"));
  };
  /** Throws before the first write of a run that is not safe. `key` is of a resource of the stack. */
  const require = (key: unknown) => {
    checked ??= check(key);
    return checked;
  };
  let hasWarned = false;
  return {
    require,
    /**
     * Runs before the first step, once the run is known to be an update or a preview. It refuses an update at once, and warns in a preview.
     */
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
    // A run does not create a provider resource, or a resource that it only reads.
    const others = resources.flatMap(({ urn, type, custom, external }) => {
      const isOfOther = custom === true && external !== true && !type.startsWith("pulumi:");
      return isOfOther && typeOfToken(type) === undefined ? [urn] : [];
    });
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

// After a kill, the next run needs the journal of a run without checkpoints, even if the machine is gone. In CI a folder outlives its job
// only if someone has arranged that, so CI must name the folder.

/** Set by each CI, or by one that does not set `CI`: Azure Pipelines, Jenkins, TeamCity, AWS CodeBuild. */
const SIGNS = [
  "CI",
  "GITHUB_ACTIONS",
  "GITLAB_CI",
  "TF_BUILD",
  "JENKINS_URL",
  "TEAMCITY_VERSION",
  "CODEBUILD_BUILD_ID",
];

/** Folders that are deleted with the job, or with its checkout: GitHub, GitLab, Azure Pipelines, Jenkins, Buildkite, CircleCI. */
const OF_JOB = [
  "RUNNER_TEMP",
  "GITHUB_WORKSPACE",
  "CI_PROJECT_DIR",
  "CI_BUILDS_DIR",
  "AGENT_TEMPDIRECTORY",
  "AGENT_BUILDDIRECTORY",
  "WORKSPACE",
  "WORKSPACE_TMP",
  "BUILDKITE_BUILD_CHECKOUT_PATH",
  "CIRCLE_WORKING_DIRECTORY",
  "CODEBUILD_SRC_DIR",
];

const NO = ["", "0", "false"];

/** Why the folder of the journals does not outlive this machine; undefined if it does, as far as the environment shows. */
export const keptFolderProblem = ({ journal }: Pick<Config, "journal">, env: Env, cwd: string): string | undefined => {
  const isCi = SIGNS.some((name) => !NO.includes((env[name] ?? "").toLowerCase()));
  if (!isCi) return undefined;
  const folder = resolve(cwd, journalFolder(journal, env));
  const isOfJob = OF_JOB.some((name) => env[name] && isWithin(resolve(env[name]), folder));
  if (journal !== undefined && !isOfJob) return undefined;
  const why = isOfJob ? "goes with the job" : "is the usual one, which a runner that starts empty does not have";
  return (
    `in CI it needs a folder of the intent journals that outlives the machine, and ${folder} ${why}. Set IRM_JOURNAL, or irm:journal, ` +
    "to a folder that is kept"
  );
};
