// Requests to the service, with a token of the service that no other process gets. Answers and errors come back unchanged.
import type { Client } from "../client/client.ts";
import { parse, readAnswer } from "../client/rest.ts";
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

/** A token of the service. `rejected`: a token that the service rejected, so another one is needed. */
export type TokenSource = (rejected?: string) => Promise<string>;

/** 401: the service has done nothing. */
const UNAUTHENTICATED = 401;
const DENIED = 403;

/** A failed request, as far as the service reports. */
export class SendFailure extends AttemptError {
  /** for the client */
  readonly answer: PassedOn;

  constructor(failure: Failure, cause: Error, answer: PassedOn) {
    super(failure, cause);
    this.answer = answer;
  }
}

/** A success that cannot be used, or an unknown outcome: a client must not take the write for done. */
export const failureOf = (operation: OperationName, text: string, http = 502): SendFailure => {
  const error = new ApiError("UNKNOWN", text, { operation });
  const refusal = restError(error, operations[operation].service, http);
  return new SendFailure({ status: http === 502 ? 200 : http, sent: true }, error, new PassedOn(refusal));
};

export const createSender = (client: Client, readToken: TokenSource, isClosing: () => boolean) => {
  /** Tokens that were used, and those of them that are too old. */
  const used = new Set<string>();
  const outdated = new Set<string>();
  /** Replaces a token that the service does not accept once: the service has done nothing. */
  const send = async (operation: OperationName, request: Json, source: TokenSource): Promise<HttpAnswer> => {
    const first = await source();
    const token = outdated.has(first) ? await source(first) : first;
    used.add(token);
    if (isClosing())
      throw new AttemptError(
        { sent: false },
        new ApiError("UNAVAILABLE", "npx pulumi-irm apply has ended, and nothing was sent"),
      );
    const answer = await client.send(operation, request, token);
    // A token may lack the capabilities that the new organization has given it since (docs/internals/faults.md#f9).
    if (answer.status === DENIED && outdated.size > 0) outdated.add(token);
    if (answer.status !== UNAUTHENTICATED) return answer;
    const other = await source(token);
    return other === token ? answer : client.send(operation, request, other);
  };

  /** Throws SendFailure. */
  const write = async (operation: OperationName, request: Json, source: TokenSource): Promise<Json> => {
    const row: Operation = operations[operation];
    let answer: HttpAnswer | undefined;
    try {
      answer = await send(operation, request, source);
      return readAnswer(row, operation, answer, request);
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      throw new SendFailure(error.failure, error.cause as Error, passedOn(operation, error, answer));
    }
  };
  const retry = retryWith(client.clock);

  return {
    write,
    /** The answer to a read. Throws PassedOn. */
    read: async (operation: OperationName, request: Json): Promise<Json> => {
      try {
        return await write(operation, request, readToken);
      } catch (error) {
        // A path accepts only uids.
        if (error instanceof TypeError) throw invalidArgument([{ field: "uid", description: UIDP_TEXT }]);
        throw error instanceof SendFailure ? error.answer : error;
      }
    },
    /** Reads with the retries and the errors of a client. */
    reader: {
      clock: client.clock,
      call: (async (operation, request) => {
        try {
          return await retry("safe", () => write(operation, request as Json, readToken));
        } catch (error) {
          throw error instanceof AttemptError ? error.cause : error;
        }
        // The row decodes the response, so it has the type of the row.
      }) as Client["call"],
    },
    /** Tokens up to now do not show an organization that was just created. */
    outdateTokens: () => {
      for (const token of used) outdated.add(token);
    },
  };
};

/**
 * An error of the service as it came, with its retry hint. Without an answer of the service, 504 after a timeout: a client must not resend
 * a create that may still be processed. 502 for a success that cannot be read.
 */
const passedOn = (operation: OperationName, { failure, cause }: AttemptError, answer?: HttpAnswer): PassedOn => {
  const { status, timedOut } = failure;
  const after = [answer?.headers["retry-after"]].flat()[0];
  const headers: Record<string, string> = after === undefined ? {} : { "retry-after": after };
  const json = parse(answer?.body ?? "");
  const isSuccess = status !== undefined && status >= 200 && status < 300;
  if (status !== undefined && !isSuccess && errorFromStatus(json))
    return new PassedOn({ http: status, headers, json: json as Status });
  const http = status === undefined ? (timedOut ? 504 : 503) : status < 300 ? 502 : status;
  const refusal = restError(cause as ApiError, operations[operation].service, http);
  return new PassedOn({ ...refusal, headers: { ...refusal.headers, ...headers } });
};
