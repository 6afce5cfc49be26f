// Errors of the client and their texts. The functions tell a caller what failed.
import { ApiError, argumentPath, bulleted, type Code, isApiError } from "../schema/index.ts";
import type { Failure } from "./retry.ts";

/** Every operation of the process fails with this error, so callers report it once. */
export class SessionError extends Error {}

/** All problems of the configuration at once. Each one names the places where a value may be set. */
export class ConfigError extends SessionError {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], section: RecoverySection = "configuration") {
    super(withSection(bulleted("pulumi-irm is not configured:", ...problems), section));
    this.problems = problems;
  }
}

/** A list that is not used: it has no end, or it names a record in a way that the API does not. */
export class ListError extends Error {
  override readonly name = "ListError";

  constructor(operation: string, problem: string) {
    super(
      `${operation}: ${problem} Run it again; if it happens again, the service, or a proxy or cache before it, ` +
        "gives wrong answers: is irm:baseUrl (IRM_BASE_URL) the right address?",
    );
  }
}

/** No connection to the service: the request was never sent. */
export class NoConnection extends ApiError {}

/** A create whose response was lost: the record may exist. */
export class LostAnswer extends ApiError {
  readonly failure: Failure;

  constructor(failure: Failure, ...error: ConstructorParameters<typeof ApiError>) {
    super(...error);
    this.failure = failure;
  }
}

/** The service rejected the API token, and also a new one if there is a way to get one. */
export class RefusedToken extends ApiError {
  /** where the token came from, never the token itself: "IRM_TOKEN" */
  readonly source: string;
  readonly hint: RefusedTokenHint;

  constructor({ code, message, details, operation }: ApiError, source: string, hint: RefusedTokenHint = {}) {
    super(code, message, { details, ...(operation && { operation }) });
    this.source = source;
    this.hint = hint;
  }
}

interface RefusedTokenHint {
  /** what the token shows of the reason */
  reason?: string | undefined;
  /** how to get another one, if that is known */
  advice?: string | undefined;
}

interface RecordErrorOptions {
  /** field of the API → argument of the program, where the names differ */
  names?: Readonly<Record<string, string>> | undefined;
  advice?: string;
}

/** An operation on one record failed. The message names both, and the cause is the API's error. */
export class RecordError extends Error {
  declare readonly cause: ApiError;
  readonly #subject: string;
  readonly #options: RecordErrorOptions;

  constructor(subject: string, cause: ApiError, options: RecordErrorOptions = {}) {
    const { names, advice } = options;
    const lines = [`${subject}: ${apiText(cause, names)}`, ...(advice === undefined ? [] : [advice])];
    super(withOwnSection([...lines, ...tokenHints(cause)].join("\n"), cause), { cause });
    this.#subject = subject;
    this.#options = options;
  }

  withAdvice(advice: string): RecordError {
    return new RecordError(this.#subject, this.cause, { ...this.#options, advice });
  }
}

/** The API's own error, bare or behind the error of a record. */
export const apiErrorOf = (error: unknown): ApiError | undefined => {
  if (error instanceof RecordError) return error.cause;
  return isApiError(error) ? error : undefined;
};

/** Reasons for which the gate of `irm apply` refuses a request (gate/): no other attempt and no other token changes that. */
const GATE_REASONS = ["NOT_IN_CHANGE", "CHANGED_MEANWHILE"] as const;
export type GateReason = (typeof GATE_REASONS)[number];

export const isGateRefusal = (error: unknown): boolean =>
  (GATE_REASONS as readonly unknown[]).includes(apiErrorOf(error)?.detail("ErrorInfo")?.reason);

/** Adds a line of advice to an API error with this code; returns any other error unchanged. */
export const addAdvice = (error: unknown, code: Code, advice: string): unknown =>
  error instanceof RecordError && error.cause.code === code ? error.withAdvice(advice) : error;

export const hasCode = (error: unknown, code: Code): boolean => apiErrorOf(error)?.code === code;

/** Operations that obtain an API token. */
const SIGN_IN = ["Exchange", "GitHub OIDC token"];

/**
 * The error, or its cause, that every operation of the process meets: configuration, sign-in, connection, wrong service. Undefined if
 * only one operation failed.
 */
export const sessionErrorOf = (error: unknown): Error | undefined => {
  if (!(error instanceof Error)) return undefined;
  const isOfSession =
    error instanceof SessionError ||
    error instanceof RefusedToken ||
    error instanceof NoConnection ||
    (isApiError(error) && SIGN_IN.includes(error.operation ?? ""));
  return isOfSession ? error : sessionErrorOf(error.cause);
};

/** The text without the operation, since every operation of the process would fail with this error. */
export const sessionText = (error: Error): string => (isApiError(error) ? errorText(error) : error.message);

/** The text of an API error, with what the client knows of it. */
export const errorText = (error: ApiError): string =>
  withOwnSection([apiText(error), ...tokenHints(error)].join("\n"), error);

/** Names the operation in an API error; returns any other error unchanged. */
export const operationError = (error: unknown, operation: string): unknown =>
  isApiError(error) ? new RecordError(operation, error) : error;

/** Code, message, and the violations that the message omits. `names`: field of the API → name that the reader knows. */
export const apiText = (error: ApiError, names: Readonly<Record<string, string>> = {}): string => {
  const fields = error.fieldViolations.map(({ field, description }) => `${field}: ${description}`);
  const conditions = error.preconditionViolations.map(({ type, description }) => `${type}: ${description}`);
  const violations = [...fields, ...conditions].filter((text) => !error.message.includes(text));
  const text = bulleted(`${error.code}: ${error.message}`, ...violations);
  return fields.reduce((result, field) => result.replaceAll(field, () => argumentPath(names, field)), text);
};

/** With the section of docs/troubleshooting.md about an error of the API, unless it says all. */
const withOwnSection = (text: string, error: ApiError) => {
  if (isNoConnection(error)) return withSection(text, "unreachable");
  if (isGateRefusal(error)) return text;
  const isSignIn = error instanceof RefusedToken || SIGN_IN.includes(error.operation ?? "");
  const section = isSignIn ? "sign-in" : SECTION_OF_CODE[error.code];
  return section === undefined ? text : withSection(text, section);
};

const tokenHints = (error: ApiError) => {
  if (error instanceof RefusedToken) {
    const { reason = "it may have expired, or be for another audience than irm:baseUrl", advice } = error.hint;
    const text = `The API token was refused: ${reason}. It comes from ${error.source}.`;
    return advice === undefined ? [text] : [text, advice];
  }
  return isNoConnection(error) ? ["Is the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?"] : [];
};

/** Whether a request, or the token exchange before it, found no connection. */
const isNoConnection = (error: unknown): boolean =>
  error instanceof NoConnection || (isApiError(error) && isNoConnection(error.cause));

// Which section of docs/troubleshooting.md treats an error. The page is part of the package.

/** The anchors of the page's sections. */
export type RecoverySection =
  | "killed"
  | "waiting"
  | "recovery-waits"
  | "recovered"
  | "unknown"
  | "open"
  | "no-journal"
  | "equal"
  | "open-stack"
  | "unchecked"
  | "several"
  | "lost-code"
  | "another-record"
  | "journal-record"
  | "decide"
  | "work-tree"
  | "invalid-lines"
  | "unreadable-entry"
  | "cannot-write"
  | "wrong-address"
  | "wrong-organization"
  | "not-visible"
  | "unreachable"
  | "unavailable"
  | "configuration"
  | "sign-in"
  | "denied"
  | "refused"
  | "blocked";

/** By code, the section of an error of the API about which no other one says more. Undefined where the error names each wrong field. */
export const SECTION_OF_CODE: Readonly<Record<Code, RecoverySection | undefined>> = {
  PERMISSION_DENIED: "denied",
  UNAUTHENTICATED: "sign-in",
  NOT_FOUND: "refused",
  ALREADY_EXISTS: "refused",
  FAILED_PRECONDITION: "refused",
  UNIMPLEMENTED: "refused",
  UNAVAILABLE: "unavailable",
  DEADLINE_EXCEEDED: "unavailable",
  RESOURCE_EXHAUSTED: "unavailable",
  ABORTED: "unavailable",
  CANCELLED: "unavailable",
  INTERNAL: "unavailable",
  DATA_LOSS: "unavailable",
  UNKNOWN: "unavailable",
  INVALID_ARGUMENT: undefined,
  OUT_OF_RANGE: undefined,
};

const LINE = /\nSee docs\/troubleshooting\.md#[a-z-]+(?=\n|$)/g;

/** The text of an error, with the address of its section at the end. An address inside, of another error that it quotes, goes. */
export const withSection = (text: string, section: RecoverySection): string =>
  `${withoutSection(text)}\nSee docs/troubleshooting.md#${section}`;

export const withoutSection = (text: string): string => text.replace(LINE, "");

/** One text of several errors. Their addresses come last, each once. */
export const quoting = (errors: readonly string[], compose: (errors: readonly string[]) => string): string => {
  const addresses = new Set(errors.flatMap((text) => text.match(LINE) ?? []));
  return compose(errors.map(withoutSection)) + [...addresses].join("");
};

// Removes the tokens of this process from texts: a proxy's page or a server's message may echo a header.

export type Redactor = ReturnType<typeof redactor>;

// Anything shorter would remove ordinary words from texts.
const MIN_LENGTH = 8;

export const redactor = () => {
  const secrets = new Set<string>();
  return {
    /** remembers a secret and returns it */
    note(secret: string) {
      if (secret.length >= MIN_LENGTH) secrets.add(secret);
      return secret;
    },
    /** the text without the remembered secrets */
    redact(text: string) {
      let clean = text;
      for (const secret of secrets) clean = clean.replaceAll(secret, "[secret]");
      return clean;
    },
  };
};
