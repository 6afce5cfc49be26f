// The session of functions such as getRole: they run in the program's own process, which the engine's provider does not
// share. Configured like it: the stack's `irm:*` first, then the environment.
//
// An error that concerns all of a program (configuration, sign-in, connection) is one error object for all of its look-ups and
// resources: the SDK reports each object once.
import * as pulumi from "@pulumi/pulumi";
import { type Config, type ParsedConfig, parseConfig } from "../../client/config.ts";
import { requireConfig } from "../../client/credentials.ts";
import { ConfigError } from "../../client/errors.ts";
import { getOrInsert } from "../../schema/index.ts";
import { journalFolder, journalPath, workTreeProblem } from "../run/journal-path.ts";
import type { Session } from "../run/session.ts";
import { environmentProblems } from "../run/stored-stack.ts";

// State that belongs to one run of a program. The Automation API runs several programs in one process, or one several times; each run has
// its own connection to the engine.

/** Without an engine, as in a script: one for the whole process. */
const NO_ENGINE = {};

/** Returns the value that `make` created for the calling run. */
export const perRun = <T>(make: (monitor: object | undefined) => T): (() => T) => {
  const made = new WeakMap<object, { value: T }>();
  return () => {
    const monitor = pulumi.runtime.getMonitor();
    return getOrInsert(made, monitor ?? NO_ENGINE, () => ({ value: make(monitor) })).value;
  };
};

/**
 * Whether `pulumi` has started this process for the program. It then ends with the rejections that nothing handles, and signals no end of
 * the program (@pulumi/pulumi/cmd/run/index.ts). A pending call that fails would only make Node warn of it.
 */
export const isOnCommandLine = (): boolean =>
  /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run[\\/]index\.js$/.test(process.mainModule?.filename ?? "");

const constructed = perRun(() => ({ isPart: false }));

/** This run is the part of a program that the plugin constructs for it: one component, in the plugin's own process. */
export const noteConstructed = (): void => {
  constructed().isPart = true;
};

export const isConstructed = (): boolean => constructed().isPart;

/**
 * An error for the person who wrote the program. If an input rejects, the SDK also prints the stack of a RunError, unless it is empty, and
 * adds the input's name to the message. It reports each error object once, so that one error for several callers is one message.
 */
export const programError = (text: string): pulumi.RunError =>
  Object.defineProperties(new pulumi.RunError(text), {
    message: { get: () => text, set: () => undefined, configurable: true },
    stack: { value: "", writable: true, configurable: true },
  });

interface Program {
  /** reports one error, however often it comes */
  errorFor(message: string): pulumi.RunError;
  isShared(error: unknown): boolean;
  /** parsed when the first resource or function needs it */
  config?: ParsedConfig;
  /** why the journal cannot be used; "" when it can */
  journalProblem?: string;
  session?: Promise<Session>;
  /** done when the first call ends; absent after that */
  firstCall?: Promise<void> | undefined;
}

const currentProgram = perRun((): Program => {
  const errors = new Map<string, pulumi.RunError>();
  const errorFor = (message: string) => getOrInsert(errors, message, () => programError(message));
  return { errorFor, isShared: (error) => [...errors.values()].some((one) => one === error) };
});

/** An error of this program: one object for each text. */
export const sharedProgramError = (message: string): pulumi.RunError => currentProgram().errorFor(message);

export const programSession = (): Promise<Session> => {
  const program = currentProgram();
  program.session ??= connect(program);
  return program.session;
};

/**
 * Whether an engine runs the program: a unit test of a program has none, and no service. The SDK's own `hasEngine()` is false in
 * an inline program of the Automation API too.
 */
export const hasEngine = (): boolean => pulumi.runtime.getEngine() !== undefined;

/** Throws when the configuration is wrong. Without an engine a program needs no configuration. */
export const checkProgramConfig = (): void => {
  if (hasEngine()) programConfig(currentProgram());
};

/**
 * An input that holds a resource back until the first look-up of the program has ended. Otherwise the program reports that it
 * cannot connect, and the provider reports it again.
 */
export const afterFirstLookUp = async (value: string): Promise<string> => {
  // The look-ups of the lines that follow have begun by then.
  await Promise.resolve();
  await currentProgram().firstCall;
  return value;
};

/** Holds back the resources of the program until a look-up that has begun with them has ended (`afterFirstLookUp`). */
export const holdForLookUp = (lookUp: Promise<unknown>): void => {
  const program = currentProgram();
  program.firstCall ??= lookUp.then(
    () => undefined,
    (error) => {
      // Any other error concerns one resource.
      if (program.isShared(error)) throw error;
    },
  );
  program.firstCall.catch(() => undefined);
};

/** organization/project/stack */
export const programStack = (): string => [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");

/** Path of the journal of this stack, at the service of the stack's configuration. */
export const programJournal = (): string => {
  const config = programConfig(currentProgram());
  return journalPath(programStack(), config, process.env, process.cwd());
};

const programConfig = (program: Program): Config => {
  program.config ??= parseProgramConfig();
  try {
    const config = requireConfig(program.config, true);
    // An inline program of the Automation API runs in its repository, and the provider does not.
    program.journalProblem ??= workTreeProblem(journalFolder(config.journal, process.env), process.cwd()) ?? "";
    if (program.journalProblem !== "") throw new ConfigError([program.journalProblem], "work-tree");
    return config;
  } catch (error) {
    throw program.errorFor((error as Error).message);
  }
};

const parseProgramConfig = (): ParsedConfig => {
  const config = new pulumi.Config("irm");
  const given = {
    keys: Object.keys(pulumi.runtime.allConfig()),
    project: pulumi.getProject(),
    envProblems: environmentProblems(process.env),
  };
  return parseConfig((key) => config.get(key.replace(/^irm:/, "")), process.env, given);
};

const connect = (program: Program): Promise<Session> => {
  const first = Promise.withResolvers<void>();
  program.firstCall ??= first.promise;
  const endFirst = () => {
    program.firstCall = undefined;
  };
  first.promise.then(endFirst, endFirst);
  const session = newSession(program, first);
  session.catch(first.reject);
  return session;
};

// Loaded when the first function is called: most programs call none.
const newSession = async (program: Program, first: PromiseWithResolvers<void>): Promise<Session> => {
  const config = programConfig(program);
  const [{ sessionWith, systemEnvironment }, { storedStacks }, { operationError, sessionErrorOf, sessionText }] =
    await Promise.all([
      import("../run/session.ts"),
      import("../run/stored-stack.ts"),
      import("../../client/errors.ts"),
    ]);
  const sharedError = (error: unknown) => {
    const cause = sessionErrorOf(error);
    return cause && program.errorFor(sessionText(cause));
  };
  let session: Session;
  try {
    const stored = storedStacks({ env: process.env, cwd: process.cwd() });
    session = sessionWith(config, { ...systemEnvironment(), storedStacks: stored });
  } catch (error) {
    throw sharedError(error) ?? error;
  }
  let isCalled = false;
  // A caller that makes no call delays nothing.
  setImmediate(() => {
    if (!isCalled) first.resolve();
  });
  const call: Session["call"] = async (operation, ...rest) => {
    isCalled = true;
    try {
      const answer = await session.call(operation, ...rest);
      first.resolve();
      return answer;
    } catch (error) {
      const shared = sharedError(error);
      if (shared) first.reject(shared);
      else first.resolve();
      throw shared ?? programError((operationError(error, operation) as Error).message);
    }
  };
  return { ...session, call };
};
