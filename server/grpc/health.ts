// Health checking (grpc/grpc: health.proto), for the whole server ("") and for each service by its full name: either all of
// them can serve, or none can. Orchestrators ask every few seconds, without a token.
import { fromBinary } from "@bufbuild/protobuf";
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import { apiError } from "../../schema/index.ts";
import type { Streams } from "./arrival.ts";
import type { Calls } from "./call.ts";
import { binaryFromJson } from "./method.ts";
import { grpcStatus } from "./refused.ts";
import { HEALTH_PACKAGE, messageIn } from "./registry.ts";

type Request = { service: string };
type Answer = { status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN" };
type Watcher = ServerWritableStream<Request, Answer>;

interface HealthOptions {
  services: ReadonlySet<string>;
  streams: Streams;
  calls: Calls;
  isServing: () => Promise<boolean>;
}

/** How often the server checks whether it can serve, while a client watches. */
export const WATCH_MS = 5000;

export const addHealth = (server: Server, { services, streams, calls, isServing }: HealthOptions): void => {
  const serialize = (answer: Answer) =>
    binaryFromJson(messageIn(`${HEALTH_PACKAGE}.HealthCheckResponse`), { ...answer });
  const deserialize = (bytes: Buffer) =>
    fromBinary(messageIn(`${HEALTH_PACKAGE}.HealthCheckRequest`), bytes) as unknown as Request;
  const isKnown = (service: string) => service === "" || services.has(service);
  const now = async (): Promise<Answer> => ({ status: (await isServing()) ? "SERVING" : "NOT_SERVING" });

  const check = async (call: ServerUnaryCall<Request, Answer>, callback: sendUnaryData<Answer>) => {
    calls.of(call.metadata).quiet = true;
    const { service } = call.request;
    if (isKnown(service)) callback(null, await now());
    else callback(grpcStatus(apiError("NOT_FOUND", `there is no service ${service.slice(0, 200)}`), "iam"));
  };

  // Watchers learn of the end of serving at once, and of any other change at the next check.
  const sent = new Map<Watcher, Answer["status"]>();
  const send = (call: Watcher, answer: Answer) => {
    if (sent.get(call) !== answer.status) call.write(answer);
    sent.set(call, answer.status);
  };
  const sendAll = async () => {
    const answer = await now();
    for (const call of sent.keys()) send(call, answer);
  };
  let timer: NodeJS.Timeout | undefined;
  // Runs after a watcher comes or goes: the timer exists only while someone watches.
  const setTimer = () => {
    if (sent.size > 0) timer ??= setInterval(sendAll, WATCH_MS).unref();
    else timer = void clearInterval(timer);
  };
  const watch = async (call: Watcher) => {
    let isOver = false;
    const forget = () => {
      isOver = true;
      sent.delete(call);
      setTimer();
    };
    const end = () => {
      isOver = true;
      send(call, { status: "NOT_SERVING" });
      call.end();
    };
    streams.opened(call, end, forget);
    if (isOver) return;
    if (!isKnown(call.request.service)) {
      call.write({ status: "SERVICE_UNKNOWN" });
      return;
    }
    const first = await now();
    if (isOver) return;
    send(call, first);
    setTimer();
  };

  server.register(`/${HEALTH_PACKAGE}.Health/Check`, check, serialize, deserialize, "unary");
  server.register(`/${HEALTH_PACKAGE}.Health/Watch`, watch, serialize, deserialize, "serverStream");
};
