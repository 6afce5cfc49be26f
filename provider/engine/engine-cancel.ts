// ^C, in the process of the dynamic provider. The engine calls Cancel there, and the SDK answers without passing it on
// (@pulumi/pulumi/cmd/dynamic-provider/index.ts), so this listens for the request itself (https://nodejs.org/api/diagnostics_channel.html).
import { subscribe } from "node:diagnostics_channel";

const CANCEL = "/pulumirpc.ResourceProvider/Cancel";

/** Aborted when the engine calls Cancel. */
export const engineCancel = (): AbortSignal => {
  const controller = new AbortController();
  subscribe("http2.server.stream.start", (message) => {
    const { headers } = message as { headers?: Readonly<Record<string, unknown>> };
    if (headers?.[":path"] === CANCEL) controller.abort();
  });
  return controller.signal;
};
