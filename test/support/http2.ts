// Raw requests on HTTP/2: of gRPC with any header, several of one name, or bytes that are not a message; and of REST.
import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type IncomingHttpHeaders,
  type SecureClientSessionOptions,
} from "node:http2";
import { atEnd } from "../harness/api-server.ts";

interface RawAnswer {
  /** of the answer's head and its trailers */
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Headers may be repeated, which Node's client would not send by itself. */
export const connectHttp2 = (
  baseUrl: string,
  options: ClientSessionOptions & Pick<SecureClientSessionOptions, "ca"> = {},
): ClientHttp2Session => connect(baseUrl, { strictSingleValueFields: false, ...options } as ClientSessionOptions);

/** Such a session, which ends with the test or the suite that opens it. */
export const openHttp2 = (...to: Parameters<typeof connectHttp2>): ClientHttp2Session => {
  const session = connectHttp2(...to);
  atEnd(() => session.close());
  return session;
};

/** A message as gRPC sends it: behind a flag, 1 for compressed, and its length. */
export const messageFrame = (message: Buffer, { flag = 0, length = message.length } = {}): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
};

/** The headers of a call of gRPC that is sent by hand. */
export const callHeaders = (path: string, token?: string): Record<string, string> => ({
  ":method": "POST",
  ":path": path,
  "content-type": "application/grpc",
  te: "trailers",
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
});

/** `headers` as name, value, name, value. */
export const rawCall = (
  session: ClientHttp2Session,
  path: string,
  headers: readonly string[],
  message: Buffer = Buffer.alloc(0),
): Promise<RawAnswer> => rawStream(session, path, headers, messageFrame(message));

/** The same with any bytes in place of a message. */
export const rawStream = (
  session: ClientHttp2Session,
  path: string,
  headers: readonly string[],
  bytes: Buffer,
): Promise<RawAnswer> => {
  const pseudo = [":method", "POST", ":path", path, ":scheme", "http", ":authority", "x"];
  const stream = session.request([...pseudo, "content-type", "application/grpc", "te", "trailers", ...headers]);
  stream.end(bytes);
  return new Promise((resolve, reject) => {
    const answer: RawAnswer = { headers: {}, bytes: Buffer.alloc(0) };
    const merge = (own: IncomingHttpHeaders) => Object.assign(answer.headers, own);
    stream.on("response", merge).on("trailers", merge).on("error", reject);
    stream.on("data", (chunk: Buffer) => {
      answer.bytes = Buffer.concat([answer.bytes, chunk]);
    });
    stream.on("close", () => resolve(answer));
  });
};

/** A request of REST: the head of its answer, its text, and the code of the error that ended its stream. */
export const restCall = async (session: ClientHttp2Session, headers: Record<string, string>, body?: string) => {
  const stream = session.request(headers);
  const answer = { headers: {} as IncomingHttpHeaders, text: "", error: undefined as string | undefined };
  stream.on("response", (own) => void Object.assign(answer.headers, own));
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    answer.text += chunk;
  });
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    answer.error = code;
  });
  stream.end(body);
  await new Promise<void>((resolve) => stream.once("close", resolve));
  return answer;
};
