// A rehearsal in the parts that people read, the same in every format.
import { partsOfUrn } from "../../preview/urn.ts";
import type { Difference, IdentityRow, Rehearsal, Step } from "../../rehearsal/report.ts";
import { goesThrough } from "../../rehearsal/report.ts";
import { changesOf } from "../review/blocks.ts";
import type { Part, Section } from "../review/section.ts";
import { countText } from "../words.ts";

const quote = (quoted: string): Part => ({ quoted });

const quoteLines = (text: string): Part => {
  const [first = "", ...more] = text.trim().split(/\s*\n/);
  return { lines: [first, ...more] };
};

const nameOf = (urn: string): Part => quote(partsOfUrn(urn).name || urn);

/** `3 steps go through, 1 step fails` */
export const outcomeText = (rehearsal: Rehearsal): string => {
  const { steps, errors, notRehearsed, agrees, secondPreviewEmpty } = rehearsal;
  const failed = steps.filter(({ ok }) => !ok).length;
  const passed = steps.length - failed;
  const parts = [
    passed > 0 && (passed === 1 ? "1 step goes through" : `${passed} steps go through`),
    failed > 0 && (failed === 1 ? "1 step fails" : `${failed} steps fail`),
    notRehearsed.length > 0 && `${countText(notRehearsed.length, "change")} not rehearsed`,
    steps.length + notRehearsed.length === 0 && "nothing to do",
    errors.length > 0 && countText(errors.length, "other error"),
    !agrees && "review and twin disagree",
    !secondPreviewEmpty && !hasFailed(rehearsal) && "a second preview is not empty",
  ];
  return parts.filter(Boolean).join(", ");
};

const hasFailed = (rehearsal: Rehearsal): boolean => !goesThrough({ ...rehearsal, secondPreviewEmpty: true });

export const titleOf = (rehearsal: Rehearsal): string => `Rehearsal of the update: ${outcomeText(rehearsal)}`;

/** Who, and how many requests. */
export const factsOf = ({ as, requests, seconds }: Rehearsal): { name: string; value: string }[] => [
  { name: "As", value: actorText(as) },
  {
    name: "Requests",
    value: seconds === null ? `${requests}` : `${requests}, which take ${countText(seconds, "second")} at the limit`,
  },
];

/** What is wrong, or not known: a reader must not take silence for safety. */
export const rehearsalLimits = (rehearsal: Rehearsal): Section[] => [
  {
    id: "disagrees",
    title: "Review and twin disagree: the program acts differently in an update, or irm is wrong",
    items: differenceItems(rehearsal.differences),
  },
  {
    id: "failed",
    title: "Steps that fail",
    items: rehearsal.steps.filter(({ ok }) => !ok).map((step) => ({ parts: stepParts(step) })),
  },
  {
    id: "run-errors",
    title: "What else fails",
    items: rehearsal.errors.map((text) => ({ parts: [quoteLines(text)] })),
  },
  {
    id: "not-rehearsed",
    title: "Not rehearsed, so it may fail",
    items: rehearsal.notRehearsed.map(({ urn, op, why }) => ({ parts: [`${op} `, nameOf(urn), ": ", quote(why)] })),
  },
  {
    id: "undecided",
    title: "Access that was not decided",
    items: differenceItems(rehearsal.undecided),
  },
  {
    id: "second-preview",
    title: "What a second preview would change",
    // After a failure it only repeats what is above.
    items: (hasFailed(rehearsal) ? [] : rehearsal.secondPreview).map(({ urn, op }) => ({
      parts: urn === "" ? [quoteLines(op)] : [`${op} `, nameOf(urn)],
    })),
  },
];

/** The change in access as the twin decides it, and what is not in the twin. */
export const rehearsalSections = (rehearsal: Rehearsal): Section[] => [
  {
    id: "rehearsed-gains",
    title: "Who gains access, as the twin decides it",
    items: rowItems(rehearsal.gains, "gain"),
  },
  {
    id: "rehearsed-losses",
    title: "Who loses access, as the twin decides it",
    items: rowItems(rehearsal.losses, "loss"),
  },
  ...rehearsalNotes(rehearsal),
];

export const rehearsalNotes = ({ steps, others, notCopied }: Rehearsal): Section[] => [
  {
    id: "passed",
    title: "Steps that go through",
    items: steps.filter(({ ok }) => ok).map(({ op, urn }) => ({ parts: [`${op} `, nameOf(urn)] })),
  },
  {
    id: "others",
    title: "Changes of other providers, which a rehearsal does not run",
    items: others.map(({ urn, op }) => ({ parts: [`${op} `, nameOf(urn)] })),
  },
  { id: "not-copied", title: "What the twin lacks", items: notCopied.map((text) => ({ parts: [quote(text)] })) },
];

export const FOOT =
  "A program can tell the twin from the service, and act differently. People have no sign-in in a twin, so their access is not compared (docs/rehearsal.md).";

const stepParts = ({ op, urn, error = "", missing }: Step): Part[] => [
  `${op} `,
  nameOf(urn),
  ": ",
  ...(missing
    ? ["the identity lacks ", quote(missing.capabilities.join(", ")), " at ", quote(missing.groupName), ": "]
    : []),
  quoteLines(error),
];

const differenceItems = (all: readonly Difference[]): Section["items"] =>
  [...Map.groupBy(all, (one) => `${one.in} ${one.change}`).values()].flatMap((own) => {
    const { change, in: where } = own[0] as Difference;
    const head = where === "review" ? "only the review: " : "only the twin: ";
    const rows = own.map(({ row }) => row);
    return rowParts(rows, change).map((parts) => ({ parts: [head, ...parts] }));
  });

const rowItems = (rows: readonly IdentityRow[], change: Difference["change"]): Section["items"] =>
  rowParts(rows, change).map((parts) => ({ parts }));

/** Of an identity, a group and a role. */
const rowParts = (rows: readonly IdentityRow[], change: Difference["change"]): Part[][] =>
  [...Map.groupBy(rows, ({ uid, name }) => `${uid} ${name}`).values()].flatMap((own) => {
    const { name, uid } = own[0] as IdentityRow;
    const isGain = change === "gain";
    return changesOf({ gains: isGain ? own : [], losses: isGain ? [] : own }).map(({ place, role, capabilities }) => [
      quote(name),
      `${uid === null ? " (new)" : ""} ${isGain ? "gains" : "loses"} at `,
      quote(place),
      " and below, through ",
      quote(role),
      ": ",
      quote(shortList(capabilities)),
    ]);
  });

// A built-in role has up to two hundred.
const CAPABILITIES_SHOWN = 24;

const shortList = (capabilities: readonly string[]): string => {
  const rest = capabilities.length - CAPABILITIES_SHOWN;
  const shown = capabilities.slice(0, CAPABILITIES_SHOWN).join(", ");
  return rest > 0 ? `${shown} and ${rest} more (--format json lists all)` : shown;
};

const actorText = ({ uid, name, rights }: Rehearsal["as"]): string => {
  const shown = uid === null ? "an identity that is not known" : name === null ? uid : `${name} (${uid})`;
  return `${shown}, with ${rights === "own" ? "its own rights" : "the rights of an operator"}`;
};
