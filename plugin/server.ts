// The plugin as the engine calls it: pulumirpc.ResourceProvider (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto). One
// process serves one provider of a program, for one operation. Configure is answered before any call that needs it.
import { once } from "node:events";
import { Server, type ServiceError, type sendUnaryData, status } from "@grpc/grpc-js";
import { withSection } from "../client/errors.ts";
import { providerWith } from "../provider/engine/methods.ts";
import { nameInKey } from "../provider/record/state.ts";
import type { Environment } from "../provider/run/session.ts";
import { projectMember } from "../pulumi/project.ts";
import { urnFrom } from "../pulumi/urn.ts";
import { isUnknown } from "../pulumi/value.ts";
import { invoke } from "./functions.ts";
import type { Log } from "./log.ts";
import { createNames, organizationWithout } from "./names.ts";
import { createPort } from "./port.ts";
import { type EngineOptions, programNotes } from "./program.ts";
import { checkConfig, configurationFrom, diffConfig } from "./provider-config.ts";
import { addMethod } from "./receive.ts";
import { isOtherLanguage, removalsWith } from "./removals.ts";
import type { Request, ServedMethod } from "./request-type.ts";
import { resourceMethods } from "./resource.ts";
import { configureResponse, EMPTY, handshakeResponse, pluginInfo, schemaResponse } from "./response.ts";
import { Ended, masking, maskSecrets, Refusal, serviceErrorFrom } from "./status.ts";

export interface PluginOptions {
  version: string;
  /** JSON text of the package's schema */
  schema(): string;
  environment: Environment;
  log: Log;
  /** The engine attached itself at this address. */
  attached(address: string): void;
  /** the engine's command; default: unknown */
  options?: EngineOptions;
  /** reports a refused connection; default: no report */
  warn?(text: string): void;
  /** how long a message may take to arrive; default: 60 s */
  messageMs?: number;
}

export interface Plugin extends Pick<ReturnType<typeof createPort>, "listen" | "close"> {
  /** calls that are not answered yet */
  underWay(): number;
  /** Resolves when no call that can end without the engine is under way. */
  idle(): Promise<void>;
}

type Handler = (request: Operation, callback: sendUnaryData<Buffer>) => void;

/** A request is about one resource. The engine itself stops at 400 MiB. */
const REQUEST_BYTES = 64 * 1024 * 1024;

export const createPlugin = (options: PluginOptions): Plugin => {
  const {
    version,
    schema,
    environment,
    log,
    attached,
    options: { isWholeProgram, run } = { isWholeProgram: false, run: undefined },
    warn,
    messageMs,
  } = options;
  let cancelled = cancellation();
  let configured: ReturnType<typeof configure> | undefined;
  /** the provider of this operation */
  let served: string | undefined;
  let engine = environment.engine?.address;
  let count = 0;
  // A component waits for the engine, so it never ends after an engine that has died.
  let constructing = 0;
  const waiting: (() => void)[] = [];
  const wakeIfIdle = (): void => {
    if (count === constructing) for (const wake of waiting.splice(0)) wake();
  };

  const configure = (request: Request<"configure">) => {
    const { config, id, urn, subject } = configurationFrom(request);
    if (served !== undefined && served !== subject)
      throw new Refusal(
        `${subject}: this process serves ${served} until its operation ends. With PULUMI_DEBUG_PROVIDERS, a program can have only one provider of this package. If the operation was killed, restart the process`,
      );
    served = subject;
    return providerFor({ config, id, urn }, { environment, signal: cancelled.signal, isWholeProgram, run });
  };
  const current = () => {
    if (!configured) throw new Error("the plugin is not configured");
    return configured;
  };

  const constructComponent = async (request: Request<"construct">): Promise<Buffer> => {
    const { notes, removals } = current();
    if (engine === undefined) throw new Error("the engine has not attached itself");
    // Most programs have no component, and the SDK takes longer to load than the plugin itself.
    const { construct } = await import("./component.ts");
    Object.assign(notes, { hasComponent: true, isPreview: request.dryrun !== 0 });
    removals.prepare();
    return construct(request, engine);
  };

  /** Answers a call. */
  const answered =
    <Asked>(work: (request: Asked) => Buffer | Promise<Buffer>): Handler =>
    (request, callback) => {
      count += 1;
      log
        .during(request.urn ?? "", async () => masking(request, async () => work(request as Asked & Operation)))
        .then(
          (response) => callback(null, response),
          (error) => {
            if (configured && !isOfEnd(error)) configured.notes.hasFailed = true;
            masking(request, () => callback(serviceErrorFrom(error)));
          },
        )
        .finally(() => {
          count -= 1;
          wakeIfIdle();
        });
    };

  /** Does the work of an operation, unless the engine has cancelled it, cancels now, or the resource's customTimeouts end it. */
  const untilEnd = async (request: Operation, work: () => Buffer | Promise<Buffer>): Promise<Buffer> => {
    if (cancelled.signal.aborted) throw new Ended(status.CANCELLED, "cancelled");
    return Promise.race([work(), cancelled.during(request), timeoutOf(request)]);
  };

  const within = <Asked>(work: (request: Asked) => Buffer | Promise<Buffer>) =>
    answered((request: Asked & Operation) => untilEnd(request, () => work(request)));

  const ofResource = <Method extends "diff" | "create" | "read" | "update" | "delete">(method: Method) =>
    within((request: Request<Method>) => current().resources[method](request as never));

  const server = new Server({
    "grpc.max_receive_message_length": REQUEST_BYTES,
    "grpc.max_send_message_length": -1,
  });
  const port = createPort(server, warn);
  const handlers: Record<ServedMethod, Handler> = {
    handshake: answered(handshakeResponse),
    getPluginInfo: answered(() => pluginInfo(version)),
    getSchema: answered(() => schemaResponse(schema())),
    attach: answered(({ address }: Request<"attach">) => {
      attached(address);
      engine = address;
      // The operation before it has been cancelled at its end.
      cancelled = cancellation();
      return EMPTY;
    }),
    checkConfig: within((request: Request<"checkConfig">) => checkConfig(request, environment.env)),
    diffConfig: within(diffConfig),
    configure: within((request: Request<"configure">) => {
      configured = configure(request);
      return configureResponse();
    }),
    check: within(async (request: Request<"check">) => {
      const { resources, removals } = current();
      const response = await resources.check(request);
      removals.prepare();
      return response;
    }),
    diff: ofResource("diff"),
    create: ofResource("create"),
    read: ofResource("read"),
    update: ofResource("update"),
    delete: ofResource("delete"),
    invoke: within((request: Request<"invoke">) => invoke(request, current().session, current().names)),
    construct: answered(async (request: Request<"construct">) => {
      constructing += 1;
      wakeIfIdle();
      try {
        return await untilEnd({}, () => constructComponent(request));
      } catch (error) {
        // The engine has shown the error of the resource, and no longer reads this response.
        if (configured?.notes.hasFailed && isOfEnd(error)) return EMPTY;
        throw error;
      } finally {
        constructing -= 1;
      }
    }),
    // Calls under way end at once. The journal records the creates, and the next update adopts their records. The engine also cancels at
    // the end of each operation, when nothing is under way.
    cancel: answered(async () => {
      const isEnd = count === 1 && !cancelled.signal.aborted;
      cancelled.now();
      served = undefined;
      if (isEnd) await configured?.removals.report();
      return EMPTY;
    }),
  };
  for (const [name, answer] of Object.entries(handlers))
    addMethod({ server, late: port.drop, messageMs }, name as ServedMethod, answer);

  return {
    listen: port.listen,
    close: port.close,
    underWay: () => count,
    idle: () => (count === constructing ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};

/** The parts that serve a configured provider. */
const providerFor = (
  { config, id, urn }: Pick<ReturnType<typeof configurationFrom>, "config" | "id" | "urn">,
  {
    environment,
    signal,
    isWholeProgram,
    run,
  }: Pick<PluginOptions, "environment"> & EngineOptions & { signal: AbortSignal },
) => {
  const log = (text: string) => environment.log(maskSecrets(text));
  const own = providerWith({ ...environment, log, masked: maskSecrets, cancelled: signal }, { looksUp: true });
  void own.kinds.group.configure({ config });
  const organization = organizationWithout(id, environment.env, process.cwd());
  const names = createNames(own.note);
  const notes = programNotes();
  const resources = resourceMethods(own, { organization, names, isWholeProgram, notes });
  const removals = removalsWith({
    ...{ notes, log, provider: isUnknown(id) ? undefined : `${urn}::${id}` },
    run: isWholeProgram ? run : undefined,
    isOtherLanguage: () => isOtherLanguage(projectMember(process.cwd(), "runtime")),
    readState: async () => {
      const { stack, project } = urnFrom(urn);
      return (await own.ledger()).engineState([organization, project, stack].join("/"));
    },
    declares: async () => (await own.ledger()).ownership.isDeclared,
  });
  return { resources, names, notes, removals, session: own.session };
};

/** Whether an error only reports that the engine has ended the run. */
const isOfEnd = (error: unknown) =>
  error instanceof Ended || [status.CANCELLED, status.UNAVAILABLE].includes((error as ServiceError).code);

// Two things end a call early: the engine, which cancels all calls of an operation, and the resource's customTimeouts.

/** The members that the requests of one resource share. */
type Operation = Partial<Request<"create">>;

/** One for all calls of an operation. */
const cancellation = () => {
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = once(signal, "abort");
  return {
    signal,
    now: () => controller.abort(),
    /** Rejects once the engine cancels. */
    during: (request: Operation) =>
      aborted.then(() => {
        throw new Ended(status.CANCELLED, isRecorded(request) ? continued("cancelled: ") : "cancelled");
      }),
  };
};

const continued = (text: string) =>
  withSection(`${text}the next update continues from the intent journal`, "recovery-waits");

/** Whether the journal may record the call: customTimeouts apply only to such calls. */
const isRecorded = ({ timeout, preview }: Operation) => timeout !== undefined && !preview;

// A longer timer would fire at once.
const LONGEST_MS = 2 ** 31 - 1;

/** Rejects when the timeout of the request is over. */
const timeoutOf = (request: Operation) =>
  new Promise<never>((_resolve, reject) => {
    const { timeout: seconds = 0, urn = "" } = request;
    if (seconds <= 0) return;
    const end = () => {
      const text = `${nameInKey(urn)}: not finished after ${seconds} s (customTimeouts)`;
      reject(new Ended(status.DEADLINE_EXCEEDED, isRecorded(request) ? continued(`${text}; `) : text));
    };
    setTimeout(end, Math.min(seconds * 1000, LONGEST_MS)).unref();
  });
