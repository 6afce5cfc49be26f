// Sends a hostile request over its wire, and reads the whole response.
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Pool } from "undici";

export interface HostileRequest {
  wire: "rest" | "grpc";
  method?: string;
  path: string;
  type?: string;
  headers?: Record<string, string>;
  body: Buffer;
  /** each byte is sent alone */
  inBytes?: boolean;
  /** the body already consists of gRPC frames */
  isFramed?: boolean;
}

export interface Answer {
  status: string;
  bytes: number;
}

export interface Sender {
  send(request: HostileRequest, bearer?: string): Promise<Answer>;
  close(): Promise<void>;
}

export const createSender = (baseUrl: string): Sender => {
  const pool = new Pool(baseUrl, { connections: 1 });

  const overRest = async ({ method = "POST", path, headers: own, type, body }: HostileRequest, bearer?: string) => {
    const headers = {
      ...own,
      ...(type && { "content-type": type }),
      ...(bearer && { authorization: `Bearer ${bearer}` }),
    };
    const answer = await pool.request({ path, method, headers, body: body.length > 0 ? body : null });
    return { status: String(answer.statusCode), bytes: (await answer.body.arrayBuffer()).byteLength };
  };

  const send: Sender["send"] = (request, bearer) => {
    if (request.wire === "grpc") return overGrpc(baseUrl, request, bearer);
    return request.inBytes ? overRestInBytes(baseUrl, request, bearer) : overRest(request, bearer);
  };
  return { send, close: () => pool.close() };
};

/** Sends each byte of the body as a chunk. */
const overRestInBytes = async (baseUrl: string, request: HostileRequest, bearer?: string): Promise<Answer> => {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const head = [`POST ${request.path} HTTP/1.1`, "host: x", "transfer-encoding: chunked", "connection: close"];
  if (request.type) head.push(`content-type: ${request.type}`);
  if (bearer) head.push(`authorization: Bearer ${bearer}`);
  let chunks = "";
  for (const byte of request.body) chunks += `1\r\n${String.fromCharCode(byte)}\r\n`;
  socket.write(`${head.join("\r\n")}\r\n\r\n${chunks}0\r\n\r\n`, "latin1");
  let text = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  await once(socket, "close");
  return { status: text.slice(9, 12), bytes: text.length };
};

const overGrpc = async (baseUrl: string, request: HostileRequest, bearer?: string): Promise<Answer> => {
  const session = connectHttp2(baseUrl);
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": request.path,
    "content-type": "application/grpc",
    te: "trailers",
    ...request.headers,
    ...(bearer && { authorization: `Bearer ${bearer}` }),
  });
  let status = "";
  let bytes = 0;
  const merge = (headers: Record<string, unknown>) => {
    status = String(headers["grpc-status"] ?? status);
    bytes += Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  };
  stream
    .on("response", merge)
    .on("trailers", merge)
    .on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const closed = once(stream, "close");
  const framed = request.isFramed ? request.body : frame(request.body, request.headers ? 1 : 0);
  if (request.inBytes) await writeBytes(stream, framed);
  stream.end(request.inBytes ? undefined : framed);
  await closed;
  session.close();
  return { status, bytes };
};

/** Sends each byte as a DATA frame. */
const writeBytes = async (stream: NodeJS.WritableStream & { destroyed?: boolean }, bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length && !stream.destroyed; at += 1) {
    stream.write(bytes.subarray(at, at + 1));
    // One write becomes one frame.
    await setImmediate();
  }
};

/** A gRPC message frame: a flag (1 = compressed), the length, the message. */
export const frame = (message: Buffer, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};
