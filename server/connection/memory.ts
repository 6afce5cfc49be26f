// Bounds the memory of requests that are still arriving, over all connections. At the limit the oldest one is refused. So
// clients that stall do not keep out a client that sends its request at once.
import { type ApiError, apiError, retryInfo } from "../../schema/index.ts";
import type { Connection } from "./connections.ts";

export interface Arriving {
  /** Counts bytes that are kept. May end this request, or others. */
  add(bytes: number): void;
  /** The whole request has arrived. It keeps its memory until `release`. */
  complete(): void;
  release(): void;
}

export type BodyMemory = ReturnType<typeof createBodyMemory>;

// In bytes: the memory of a request without its body, such as its head and its stream.
const BODY_REQUEST = 8 * 1024;
const RETRY_MS = 1000;

export const createBodyMemory = (max: number) => {
  let total = 0;
  // In the order of their beginning.
  const arriving = new Map<Arriving, () => void>();

  /** A request begins to arrive. `refuse` ends it when another one needs the memory. */
  const begin = (refuse: (error: ApiError) => void): Arriving => {
    let ownBytes = 0;
    const release = () => {
      arriving.delete(request);
      total -= ownBytes;
      ownBytes = 0;
    };
    const request: Arriving = {
      add: (bytes) => {
        ownBytes += bytes;
        total += bytes;
        while (total > max) {
          const [oldest] = arriving.values();
          if (!oldest) return;
          oldest();
        }
      },
      complete: () => arriving.delete(request),
      release,
    };
    arriving.set(request, () => {
      release();
      refuse(
        apiError("UNAVAILABLE", "too many requests are arriving at once; try again later", {
          details: [retryInfo(RETRY_MS)],
        }),
      );
    });
    request.add(BODY_REQUEST);
    return request;
  };
  return { begin, /** bytes held now */ held: () => total };
};

// Bounds the memory of answers that clients have not read yet, over all connections. A client that does not read gets no further
// answer: its next requests wait. Its connection is closed if it still reads nothing, or if others need the memory.

/** A request, from its head until its client has read the answer. */
export interface Answering {
  /** Waits until the client has read enough of its other answers. False: the request or its connection is gone. */
  room(): Promise<boolean>;
  /** Counts bytes of the answer. May close this connection, or others. */
  add(bytes: number): void;
  /** The client has read the answer, or is gone. */
  release(): void;
}

export type AnswerMemory = ReturnType<typeof createAnswerMemory>;

/** Unread bytes of one connection beyond which its next requests wait. A single answer may be of any size. */
export const UNREAD_MAX = 4 * 1024 * 1024;

/** Requests that a connection of HTTP/1.1 may send before it reads the first answer (RFC 9112 section 9.3.2). */
export const PIPELINED_MAX = 256;

/** The longest time that requests wait for a client that reads nothing. */
export const STALL_MS = 10_000;

// In bytes: the memory of a request without its head and its answer, such as its stream.
const REQUEST = 8 * 1024;

interface Client {
  connection: Connection;
  requests: number;
  /** bytes of requests and answers */
  held: number;
  /** bytes of answers */
  unread: number;
  answers: number;
  /** the request that may answer next, and has not yet */
  admitted?: Answering | undefined;
  /** the turn in which it was admitted ends */
  turn?: NodeJS.Immediate | undefined;
  waiting: Map<Answering, (hasRoom: boolean) => void>;
  stall?: NodeJS.Timeout | undefined;
}

export const createAnswerMemory = (max: number, stallMs = STALL_MS) => {
  let total = 0;
  // In the order in which their clients have last read an answer.
  const clients = new Map<Connection, Client>();

  /** The connection has closed. */
  const forget = (connection: Connection) => {
    const client = clients.get(connection);
    if (!client) return;
    clients.delete(connection);
    total -= client.held;
    clearTimeout(client.stall);
    clearImmediate(client.turn);
    for (const leave of client.waiting.values()) leave(false);
  };

  const close = ({ connection }: Client, reason: string) => {
    forget(connection);
    connection.close(reason);
  };

  const closeOldest = (): boolean => {
    for (const client of clients.values()) {
      // The only answer that is unread may be of any size.
      if (client.unread === 0 || (clients.size === 1 && client.answers === 1)) continue;
      close(client, "too many unread answers");
      return true;
    }
    return false;
  };

  const watchStall = (client: Client) => {
    const before = client.connection.progress();
    client.stall = setTimeout(() => {
      if (client.connection.progress() === before) close(client, "unread answers");
      else watchStall(client);
    }, stallMs).unref();
  };

  // Admits one request after the other, so that each answer is counted before the next one begins. A request that takes longer
  // than a turn does not delay the others.
  const admitNext = (client: Client) => {
    const [next] = client.waiting;
    const isFull = client.unread >= UNREAD_MAX;
    if (!next || !isFull) {
      clearTimeout(client.stall);
      client.stall = undefined;
    } else if (!client.stall) watchStall(client);
    if (!next || isFull) return;
    if (client.admitted) {
      client.turn ??= setImmediate(() => {
        client.turn = undefined;
        client.admitted = undefined;
        admitNext(client);
      });
      return;
    }
    const [request, go] = next;
    client.waiting.delete(request);
    client.admitted = request;
    go(true);
    admitNext(client);
  };

  const leaveTurn = (client: Client, request: Answering) => {
    if (client.admitted === request) client.admitted = undefined;
    admitNext(client);
  };

  /** A request with a head of so many bytes begins. More than `maxRequests` at a time close the connection. */
  const begin = (connection: Connection, head: number, maxRequests = Number.POSITIVE_INFINITY): Answering => {
    const client: Client = clients.get(connection) ?? {
      connection,
      requests: 0,
      held: 0,
      unread: 0,
      answers: 0,
      waiting: new Map(),
    };
    clients.set(connection, client);
    let held = 0;
    let unread = 0;
    let hasEnded = false;
    const isOpen = () => !hasEnded && clients.get(connection) === client;

    const hold = (bytes: number) => {
      held += bytes;
      client.held += bytes;
      total += bytes;
      while (total > max && closeOldest());
    };
    const request: Answering = {
      room: () => {
        if (!isOpen()) return Promise.resolve(false);
        // It may wait twice: before its body is read, and after it.
        if (client.admitted === request) client.admitted = undefined;
        const { promise, resolve } = Promise.withResolvers<boolean>();
        client.waiting.set(request, resolve);
        admitNext(client);
        return promise;
      },
      add: (bytes) => {
        if (!isOpen()) return;
        if (unread === 0) client.answers += 1;
        unread += bytes;
        client.unread += bytes;
        hold(bytes);
        if (isOpen()) leaveTurn(client, request);
      },
      release: () => {
        if (!isOpen()) return;
        hasEnded = true;
        total -= held;
        client.held -= held;
        client.unread -= unread;
        client.requests -= 1;
        client.waiting.get(request)?.(false);
        client.waiting.delete(request);
        if (client.requests === 0) return forget(connection);
        if (unread > 0) {
          client.answers -= 1;
          clearTimeout(client.stall);
          client.stall = undefined;
          clients.delete(connection);
          clients.set(connection, client);
        }
        leaveTurn(client, request);
      },
    };
    client.requests += 1;
    if (client.requests > maxRequests) close(client, "too many pipelined requests");
    else hold(REQUEST + head);
    return request;
  };
  return { begin, forget, /** bytes held now */ held: () => total };
};
