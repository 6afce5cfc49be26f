// Which section of docs/recovery.md treats an error. The page is part of the package.
import type { Code } from "../schema/index.ts";

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

const LINE = /\nSee docs\/recovery\.md#[a-z-]+(?=\n|$)/g;

/** The text of an error, with the address of its section at the end. An address inside, of another error that it quotes, goes. */
export const withSection = (text: string, section: RecoverySection): string =>
  `${withoutSection(text)}\nSee docs/recovery.md#${section}`;

export const withoutSection = (text: string): string => text.replace(LINE, "");

/** One text of several errors. Their addresses come last, each once. */
export const quoting = (errors: readonly string[], textOf: (errors: readonly string[]) => string): string => {
  const addresses = new Set(errors.flatMap((text) => text.match(LINE) ?? []));
  return textOf(errors.map(withoutSection)) + [...addresses].join("");
};
