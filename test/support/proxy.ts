// A proxy between a client and the server that can hold a request at two moments: after it has arrived and before it is passed
// on, or after the server has carried it out and before its response is passed on. It passes everything else on unchanged.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { fetch } from "undici";
import { listen } from "./listen.ts";

export interface Seen {
  method: string;
  path: string;
}

export type HoldingProxy = Awaited<ReturnType<typeof startProxy>>;
export type Held = ReturnType<HoldingProxy["hold"]>;

interface Rule {
  /** for more than one request */
  stays?: true;
  method: string;
  path: RegExp;
  meet(request: Request, response: ServerResponse): Promise<void>;
}

interface Request extends Seen {
  headers: IncomingMessage["headers"];
  body: Buffer;
}

const REFUSAL = { code: 7, message: "the proxy lets no request pass that may change something", details: [] };

/** `target` is read for each request: the server may have restarted. */
export const startProxy = async (target: () => string) => {
  const rules: Rule[] = [];
  const seen: Seen[] = [];
  let isAllowed: (request: Seen) => boolean = () => true;
  let refused: Seen[] = [];

  const forward = async ({ method, path, headers, body }: Request) => {
    const { host: _host, connection: _connection, "content-length": _length, ...own } = headers;
    const answer = await fetch(target() + path, {
      method,
      headers: own as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    return { answer, text: await answer.text() };
  };
  const pass = async (request: Request, response: ServerResponse, wait?: () => Promise<void>) => {
    const { answer, text } = await forward(request);
    await wait?.();
    const headers = ["content-type", "date", "retry-after"].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    response.writeHead(answer.status, Object.fromEntries(headers)).end(text);
  };

  const server = createServer(async (incoming, response) => {
    const request: Request = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: await buffer(incoming),
    };
    const { method, path } = request;
    seen.push({ method, path });
    if (!isAllowed({ method, path })) {
      refused.push({ method, path });
      response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(REFUSAL));
      return;
    }
    const at = rules.findIndex(({ method, path }) => method === request.method && path.test(request.path));
    try {
      if (at === -1) await pass(request, response);
      else {
        const rule = rules[at] as Rule;
        if (!rule.stays) rules.splice(at, 1);
        await rule.meet(request, response);
      }
    } catch {
      // The server is not there: nor is its answer.
      response.destroy();
    }
  });

  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    /** every request that came, in the order in which they came */
    seen,
    /**
     * Holds the next request of that method whose path matches: before the server gets it, or after the server did it. `reached` resolves
     * when it is held, and `release` lets it go on.
     */
    hold: (method: string, path: RegExp, at: "before" | "after") => {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const meet: Rule["meet"] = async (request, response) => {
        const here = () => {
          reached.resolve();
          return released.promise;
        };
        if (at === "after") return pass(request, response, here);
        await here();
        return pass(request, response);
      };
      rules.push({ method, path, meet });
      return { reached: reached.promise, release: released.resolve };
    },
    /** The connection of the next such request ends without an answer, once `meanwhile` is over. */
    cut: (method: string, path: RegExp, at: "before" | "after", meanwhile?: () => Promise<void>): void => {
      const meet: Rule["meet"] = async (request, response) => {
        if (at === "after") await forward(request);
        await meanwhile?.();
        response.destroy();
      };
      rules.push({ method, path, meet });
    },
    /** Every such request is answered with this, until the function that comes back is called. */
    answer: (method: string, path: RegExp, status: number, json: object) => {
      const meet: Rule["meet"] = async (_, response) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
      };
      const rule: Rule = { method, path, meet, stays: true };
      rules.push(rule);
      return () => void rules.splice(rules.indexOf(rule), 1);
    },
    /** From now on, every other request is refused and does not reach the server. Returns the list of those. */
    only: (own: (request: Seen) => boolean): Seen[] => {
      isAllowed = own;
      refused = [];
      return refused;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
