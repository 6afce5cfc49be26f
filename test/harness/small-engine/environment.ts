// The environment of a provider process, with the points at which it may be killed: before each request is sent, and when its
// response has arrived. A process that pauses at a point stays there until it is resumed or killed.
import type { HttpAnswer, Transport } from "../../../client/transport.ts";
import { TOKEN_PREFIX, TYPE_PREFIX } from "../../../provider/record/kind.ts";
import { type Environment, systemEnvironment } from "../../../provider/run/session.ts";
import type { StoredStacks } from "../../../provider/run/stored-stack.ts";
import type { EngineState } from "../../../pulumi/state.ts";
import { fastClock, type Pace } from "../clock.ts";
import type { Adapter } from "./provider.ts";
import { engineStateOf, readState } from "./state.ts";

export type Point = "before send" | "after reply" | "before state";

export interface PauseAt {
  point: Point;
  /** POST, PATCH, DELETE, "next page" of a list; at "before state" the type of the step: creating, updating, deleting */
  of: string;
  /** default: the first */
  nth?: number;
}

export interface EnvironmentOptions {
  pace: Pace;
  wrongBy?: number;
  /** members that are added to every record of a response, as from a newer service */
  addedMembers?: Record<string, unknown>;
  /** rows in each page of the service, whatever the request (AIP-158) */
  pageSize?: number;
  /** timeout in real time of the first request of this method, or of each; others get as long as a slow machine needs */
  shortTimeout?: { ms: number; method?: string } | undefined;
  /** what the process reads of the engine's state; default: nothing */
  stored?: StoredAt | undefined;
  /** resolves when the process may go on */
  atPoint(point: Point, of: string): Promise<void>;
  log(text: string): void;
}

/** The state of a stack, and what tells the forms of its resources. */
interface StoredAt {
  file: string;
  adapter: Adapter;
}

// A machine that is suspended for a while loses no request.
const PATIENT_MS = 120_000;

export const environmentWith = ({
  pace,
  wrongBy,
  addedMembers,
  pageSize,
  shortTimeout,
  stored,
  atPoint,
  log,
}: EnvironmentOptions): Environment => {
  const system = systemEnvironment();
  let left = shortTimeout?.method === undefined ? Infinity : 1;
  const transport: Transport = async (request) => {
    const { searchParams } = request.url;
    await atPoint("before send", searchParams.has("pageToken") ? "next page" : request.method);
    if (pageSize !== undefined && searchParams.has("pageSize")) searchParams.set("pageSize", String(pageSize));
    const isShort =
      shortTimeout !== undefined && left > 0 && request.method === (shortTimeout.method ?? request.method);
    if (isShort) left -= 1;
    const timeoutMs = isShort ? shortTimeout.ms : PATIENT_MS;
    const answer = await system.transport({ ...request, timeoutMs });
    await atPoint("after reply", request.method);
    return addedMembers ? withAddedMembers(answer, addedMembers) : answer;
  };
  const storedStacks = stored && { storedStacks: storedStacksAt(stored) };
  return { ...system, clock: fastClock(pace, wrongBy), transport, log, ...storedStacks };
};

const storedStacksAt = ({ file, adapter }: StoredAt): StoredStacks => {
  let state: EngineState | undefined;
  const read = async (stack: string): Promise<EngineState> => {
    state ??= engineStateOf(file, adapter === "native" ? TOKEN_PREFIX : TYPE_PREFIX, stack);
    return state;
  };
  return {
    engineState: read,
    engineSecrets: read,
    engineRuns: async () => readState(file).runs ?? [],
    engineAgeMs: () => 0,
  };
};

const withAddedMembers = (answer: HttpAnswer, added: Record<string, unknown>): HttpAnswer => {
  if (answer.status !== 200) return answer;
  const body = JSON.parse(answer.body || "{}") as Record<string, unknown>;
  return { ...answer, body: JSON.stringify(withMembers(body, added)) };
};

const withMembers = (value: unknown, added: Record<string, unknown>): unknown => {
  if (Array.isArray(value)) return value.map((one) => withMembers(one, added));
  if (typeof value !== "object" || value === null) return value;
  const own = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withMembers(one, added)]));
  return "uid" in own ? { ...own, ...added } : own;
};

/** One pause of a process, at a point that it reaches for the nth time. */
export const pausePoints = (pause: PauseAt | undefined, paused: (point: Point) => void) => {
  let left = pause?.nth ?? 1;
  const going = Promise.withResolvers<void>();
  return {
    /** resolves when the process may go on */
    atPoint: async (point: Point, of: string): Promise<void> => {
      if (point !== pause?.point || of !== pause.of) return;
      left -= 1;
      if (left !== 0) return;
      paused(point);
      await going.promise;
    },
    resume: going.resolve,
  };
};

/** Those that another process can be given. */
export type GivenOptions = Omit<EnvironmentOptions, "atPoint" | "log">;

/** What the small engine and the process of its plugin agree on: its options, and the line that it prints when it pauses. */
export type PluginOptions = GivenOptions & { pause?: PauseAt | undefined };
export interface PluginMessage {
  paused: Point;
}

/** The variable that has its options. */
export const OPTIONS = "IRM_TEST_PLUGIN";
