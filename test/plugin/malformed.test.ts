// Every method of the plugin with messages that are no messages: each is refused at once, and the next call is served.

import { once } from "node:events";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { afterAll, describe, expect, it } from "vitest";
import { requestTypes, type ServedMethod } from "../../plugin/request-type.ts";
import { createPlugin, type Plugin } from "../../plugin/server.ts";
import { readMessage } from "../../plugin/wire-format.ts";
import { manualClock } from "../harness/clock.ts";
import { messageFrame, openHttp2 } from "../support/http2.ts";
import { malformedSeeds } from "../support/malformed.ts";

const plugin: Plugin = createPlugin({
  version: "1.2.3",
  schema: () => "{}",
  environment: {
    env: {},
    clock: manualClock(),
    transport: () => Promise.reject(new Error("no network")),
    log: () => {},
  },
  log: { info: () => undefined, during: (_urn, call) => call() },
  attached: () => undefined,
  messageMs: 50,
});
const port: number = await plugin.listen();
const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
afterAll(() => {
  client.close();
  plugin.close();
});

const pathOf = (method: string): string =>
  (services.ResourceProviderService as unknown as Record<string, { path: string }>)[method]?.path ?? "";

const asItIs = (bytes: Buffer) => bytes;
const send = (method: string, bytes: readonly number[]): Promise<string> =>
  new Promise((resolve) => {
    const answer = (error: ServiceError | null) => resolve(error ? `${error.code} ${error.details}` : "OK");
    client.makeUnaryRequest(pathOf(method), asItIs, asItIs, Buffer.from(bytes), new Metadata(), {}, answer);
  });

describe.each(Object.keys(requestTypes) as ServedMethod[])("%s", (method) => {
  it("refuses each malformed message at once, and serves the next call", async () => {
    for (const [reason, bytes] of malformedSeeds) {
      // A few are fields of another type here, which are skipped.
      const refusal = refusalOf(method, bytes);
      const answer = await send(method, bytes);
      if (refusal) expect(answer, reason).toMatch(new RegExp(`^3 \\w+: ${refusal}$`));
      else expect(answer, reason).not.toMatch(/^(3|13) /);
    }
    expect(await send("getPluginInfo", [])).toBe("OK");
  });
});

const refusalOf = (method: ServedMethod, bytes: readonly number[]): string | undefined => {
  try {
    return void readMessage<unknown>(requestTypes[method], Uint8Array.from(bytes));
  } catch (error) {
    return (error as Error).message;
  }
};

it("a method that is not served is unimplemented, whatever its message is", async () => {
  for (const method of ["call", "parameterize", "getMapping"])
    expect(await send(method, [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])).toMatch(/^12 The server does not implement/);
});

describe("a call", () => {
  const open = () => {
    const session = openHttp2(`http://127.0.0.1:${port}`);
    session.on("error", () => {});
    const headers = { ":method": "POST", ":path": pathOf("check"), "content-type": "application/grpc", te: "trailers" };
    const stream = session.request(headers);
    stream.on("error", () => {});
    return { session, stream, closed: new Promise<void>((resolve) => session.once("close", () => resolve())) };
  };

  it("whose message does not come in time is refused, and its connection closed", async () => {
    const { stream, closed } = open();
    stream.write(messageFrame(Buffer.alloc(1), { length: 100 }));
    const [head] = await once(stream, "response");
    expect(head).toMatchObject({ "grpc-status": "4" });
    expect(decodeURI(String(head["grpc-message"]))).toBe("Check: the message did not arrive within 0.05 s");
    await closed;
    expect(await send("getPluginInfo", [])).toBe("OK");
  });

  const EMPTY = messageFrame(Buffer.alloc(0));
  it.each([
    ["no message", Buffer.alloc(0), "Check: the call has no message"],
    ["two messages", Buffer.concat([EMPTY, EMPTY]), "Check: the call has a second message"],
  ])("with %s is refused", async (_, bytes, text) => {
    const { session, stream } = open();
    stream.end(bytes);
    const [head] = await once(stream, "response");
    expect([head["grpc-status"], decodeURI(String(head["grpc-message"]))]).toEqual(["3", text]);
    session.destroy();
  });

  it("with a message of more than 64 MiB is refused by its length", async () => {
    const { session, stream } = open();
    stream.write(messageFrame(Buffer.alloc(1), { length: 64 * 1024 * 1024 + 1 }));
    const [head] = await once(stream, "response");
    expect(head).toMatchObject({ "grpc-status": "8" });
    session.destroy();
  });
});
