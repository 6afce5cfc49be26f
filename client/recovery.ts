// Which section of docs/recovery.md treats an error: one table for the errors, for `irm explain` and for the page, which a test compares.
// The page is part of the package.
import type { Code } from "../schema/index.ts";

/**
 * By anchor of the page, the messages that its section treats, as its table has them. "…" is what differs from run to run. An error says
 * its section itself (`withSection`). The messages find it also in logs that are cut, and for what the engine says.
 */
export const RECOVERY = {
  killed: ["the stack is currently locked by … lock(s)", "interrupted while creating"],
  waiting: ["…, which is creating records of this stack", "is creating records of this stack and does not finish"],
  "recovery-waits": [
    "waiting for what an earlier request may still create, … s so far",
    "the next update continues from the intent journal",
  ],
  recovered: ["adopting …, created by an earlier run", "takes over …, created by an earlier run"],
  unknown: ["It is unknown whether … created. The intent journal keeps the create as pending"],
  open: ["the outcome of a create at … is unknown: it may have created"],
  "no-journal": [
    "a run was interrupted while creating this",
    "a run was killed while it was changing …, and there is no journal of it here",
    "a run was killed while it created … for it",
  ],
  equal: [
    "with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent",
    "is new, and … with the same parent and fields already exists",
    "and one with the same parent and fields exists; no intent journal here shows which create produced it",
  ],
  "open-stack": [
    "a run without checkpoints … did not end",
    "a run without checkpoints may not have ended",
    "what a run without checkpoints created, and this program does not declare",
  ],
  unchecked: ["PULUMI_SKIP_CHECKPOINTS: this run is refused, and nothing is sent"],
  several: ["the response to a create was lost, and … it:"],
  "lost-code": ["was created, but the response that shows its … was lost"],
  "another-record": ["the response to … names … it is not adopted, and the search for the created record continues"],
  "journal-record": ["the intent journal names … for it, which …: it is ignored"],
  decide: [
    "the response to its create names …, which …, and no other record matches",
    "the intent journal of an earlier run names …, which",
  ],
  "work-tree": ["the folder of the intent journals, …, is in the work tree"],
  "invalid-lines": [
    "the intent journal … a line that is not an entry",
    "the intent journal … lines that are not entries",
  ],
  "unreadable-entry": [
    "the intent journal …, and the record cannot be read",
    "Its entries are dropped where they are in the way, and kept in",
  ],
  "cannot-write": ["the intent journal … cannot be written", "free some space or choose another folder: irm:journal"],
  "wrong-address": ["wrong service? The records of this stack are at …, as of its last up"],
  "wrong-organization": [
    "wrong service? The records of this stack are in the organization",
    "neither it nor its organization … is known",
  ],
  "not-visible": ["the organization … is not visible to you at"],
  unreachable: [
    "Is the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?",
    "no response from … connect E",
    "no response from … getaddrinfo E",
    "this port does not speak TLS",
    "if this port speaks https, write",
  ],
  unavailable: [],
  configuration: ["pulumi-irm is not configured:"],
  "sign-in": [
    "no credentials in the environment",
    "PERMISSION_DENIED … exchanging the token of",
    "UNAUTHENTICATED … exchanging the token of",
    "The API token was refused",
  ],
  denied: ["Permission denied is not treated as deletion."],
  refused: ["the API returned a different value for … than requested"],
  seal: ["the seal … does not contain this, and nothing is sent", "IRM_SEAL: this run is refused, and nothing is sent"],
  blocked: [
    "No progress for … s",
    "forceDestroy … nothing was deleted",
    "would be deleted with it, and this run deletes none of them",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RecoverySection = keyof typeof RECOVERY;

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

/** The page, in the clone and in the package. */
export const PAGE = "docs/recovery.md";

const LINE = /\nSee docs\/recovery\.md#[a-z-]+(?=\n|$)/g;

/** The text of an error, with the address of its section at the end. An address inside, of another error that it quotes, goes. */
export const withSection = (text: string, section: RecoverySection): string =>
  `${withoutSection(text)}\nSee ${PAGE}#${section}`;

export const withoutSection = (text: string): string => text.replace(LINE, "");

/** One text of several errors. Their addresses come last, each once. */
export const quoting = (errors: readonly string[], textOf: (errors: readonly string[]) => string): string => {
  const addresses = new Set(errors.flatMap((text) => text.match(LINE) ?? []));
  return textOf(errors.map(withoutSection)) + [...addresses].join("");
};
