// What goes to the service: requests with a token of the service, which no other process gets. Answers and errors come back as they are.
import type { Client } from "../client/client.ts";
import { parse, readAnswer, requestedUid } from "../client/rest.ts";
import { AttemptError, type Failure, retryWith } from "../client/retry.ts";
import type { HttpAnswer } from "../client/transport.ts";
import {
  ApiError,
  errorFromStatus,
  invalidArgument,
  type Json,
  type Operation,
  type OperationName,
  operations,
  type Status,
  UIDP_TEXT,
} from "../schema/index.ts";
import { PassedOn, restError } from "../server/front.ts";

/** A token of the service. `rejected`: one that does not do, so another one is wanted. */
export type TokenSource = (rejected?: string) => Promise<string>;

/** 401: the service has done nothing. */
const UNAUTHENTICATED = 401;
const DENIED = 403;

/** A write that has not succeeded, as far as the service says. */
export class SendFailure extends Error {
  readonly failure: Failure;
  /** what the client gets */
  readonly answer: PassedOn;

  constructor(failure: Failure, answer: PassedOn) {
    super(answer.message);
    this.failure = failure;
    this.answer = answer;
  }
}

/** A success that cannot be used, or an outcome that is not known: a client must not take the write for done. */
export const failureOf = (operation: OperationName, text: string, http = 502): SendFailure => {
  const error = new ApiError("UNKNOWN", text, { operation });
  const refusal = restError(error, operations[operation].service, http);
  return new SendFailure({ status: http === 502 ? 200 : http, sent: true }, new PassedOn(refusal));
};

export const createSender = (client: Client, readToken: TokenSource, isClosing: () => boolean) => {
  /** Tokens that were used, and those of them that are too old. */
  const used = new Set<string>();
  const outdated = new Set<string>();
  const tokenFrom = async (source: TokenSource): Promise<string> => {
    const token = await source();
    const found = outdated.has(token) ? await source(token) : token;
    used.add(found);
    return found;
  };
  /** A token that the service does not accept is replaced once: it has done nothing. */
  const send = async (operation: OperationName, request: Json, source: TokenSource): Promise<HttpAnswer> => {
    const token = await tokenFrom(source);
    if (isClosing())
      throw new AttemptError(
        { sent: false },
        new ApiError("UNAVAILABLE", "npx pulumi-irm apply has ended, and nothing was sent"),
      );
    const answer = await client.send(operation, request, token);
    // A token may lack what the organization, which is new, has given it since (docs/faults.md#f9).
    if (answer.status === DENIED && outdated.size > 0) outdated.add(token);
    if (answer.status !== UNAUTHENTICATED) return answer;
    const other = await source(token);
    return other === token ? answer : client.send(operation, request, other);
  };

  return {
    /** The answer to a read. Throws PassedOn. */
    read: async (operation: OperationName, request: Json): Promise<Json> => {
      try {
        const answer = await send(operation, request, readToken);
        const json = answer.status === 200 ? parse(answer.body) : undefined;
        if (json === undefined) throw refusalIn(operation, answer);
        return json as Json;
      } catch (error) {
        // A path takes uids alone.
        if (error instanceof TypeError) throw invalidArgument([{ field: "uid", description: UIDP_TEXT }]);
        throw error instanceof AttemptError ? passedOn(operation, error) : error;
      }
    },
    /** The answer to a write. Throws SendFailure. */
    write: async (operation: OperationName, request: Json, token: TokenSource): Promise<Json> => {
      const row: Operation = operations[operation];
      let answer: HttpAnswer | undefined;
      try {
        answer = await send(operation, request, token);
        const asked = row.method === "PATCH" ? requestedUid(row, request) : undefined;
        return readAnswer(row, operation, answer, asked);
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        const isRefused = answer !== undefined && (answer.status < 200 || answer.status > 299);
        throw new SendFailure(
          error.failure,
          isRefused ? refusalIn(operation, answer as HttpAnswer) : passedOn(operation, error),
        );
      }
    },
    /** Reads with the retries of a client, and its errors. */
    reader: { call: readerWith(client, send, readToken), clock: client.clock },
    /** Tokens until now do not show what was just created: an organization. */
    outdateTokens: (): void => {
      for (const token of used) outdated.add(token);
    },
  };
};

const readerWith = (
  { clock }: Client,
  send: (operation: OperationName, request: Json, source: TokenSource) => Promise<HttpAnswer>,
  token: TokenSource,
): Client["call"] => {
  const retry = retryWith(clock);
  return async (operation, request) => {
    const row: Operation = operations[operation];
    try {
      const answer = await retry("safe", async () =>
        readAnswer(row, operation, await send(operation, request as Json, token), requestedUid(row, request as Json)),
      );
      // The row decodes the response, so it has the row's type.
      return answer as never;
    } catch (error) {
      throw error instanceof AttemptError ? error.cause : error;
    }
  };
};

/** An error of the service as it came, with what it says of a retry. */
const refusalIn = (operation: OperationName, { status, headers, body }: HttpAnswer): PassedOn => {
  const json = parse(body);
  const after = [headers["retry-after"]].flat()[0];
  const own: Record<string, string> = after === undefined ? {} : { "retry-after": after };
  if (errorFromStatus(json)) return new PassedOn({ http: status, headers: own, json: json as Status });
  try {
    readAnswer(operations[operation], operation, { status, headers, body });
  } catch (error) {
    if (error instanceof AttemptError) return passedOn(operation, error, own);
  }
  return passedOn(
    operation,
    new AttemptError({ status, sent: true }, new ApiError("UNKNOWN", "the response is not JSON")),
  );
};

/**
 * Without an answer of the service. 504 after a timeout: a client must not send a create again that may still be processed. 502 for a success
 * that cannot be read.
 */
const passedOn = (
  operation: OperationName,
  { failure, cause }: AttemptError,
  headers: Record<string, string> = {},
): PassedOn => {
  const { status, timedOut } = failure;
  const http = status === undefined ? (timedOut ? 504 : 503) : status < 300 ? 502 : status;
  const refusal = restError(cause as ApiError, operations[operation].service, http);
  return new PassedOn({ ...refusal, headers: { ...refusal.headers, ...headers } });
};
