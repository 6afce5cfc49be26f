// One HTTP request exactly as written: no redirect, no normalised path, possibly repeated headers.
import { Agent, type IncomingHttpHeaders, request as start } from "node:http";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without declaring their shape
export type Body = Record<string, any>;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** the body, byte for byte */
  text: string;
  /** the body as JSON; `{}` when it is empty or none */
  json: Body;
}

export interface HttpRequest {
  method: string;
  /** path and query, as they go over the wire */
  target: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** Connections are kept: ended by `close`. */
export const createHttpClient = (baseUrl: string) => {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(baseUrl);
  const send = ({ method, target, headers = {}, body }: HttpRequest): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const length: Record<string, string> =
        body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const request = start({ agent, hostname, port, method, path: target, headers: { ...length, ...headers } });
      request.on("error", reject);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("error", reject);
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode as number, headers: response.headers, text, json: parse(text) });
        });
      });
      request.end(body);
    });
  return { send, close: () => agent.destroy() };
};

const parse = (text: string): Body => {
  try {
    return JSON.parse(text) as Body;
  } catch {
    // An empty body, or a page that is no JSON: tests that care look at `text`.
    return {};
  }
};
