// What a review says of the run that its rows come from, the same in every format.
import { partsOfUrn } from "../../preview/urn.ts";
import type { Report } from "../../review/report.ts";
import type { Differs, RunReport, Step } from "../../review/run-report.ts";
import type { Part, Section } from "./section.ts";

const quote = (quoted: string): Part => ({ quoted });

const quoteLines = (text: string): Part => {
  const [first = "", ...more] = text.trim().split(/\s*\n/);
  return { lines: [first, ...more] };
};

/** Of a change that is replayed, a step is the number of a write. */
const nameOf = (urn: string): Part => (/^\d+$/.test(urn) ? `write ${urn}` : quote(partsOfUrn(urn).name || urn));

/** Who acted, and what the run has sent. */
export const runFacts = ({ as, writes, digest }: RunReport): { name: string; value: string }[] =>
  as === null
    ? []
    : [
        { name: "As", value: actorText(as) },
        { name: "Writes", value: String(writes) },
        ...(digest === "" ? [] : [{ name: "Change", value: digest }]),
      ];

const actorText = ({ uid, name, rights }: NonNullable<RunReport["as"]>): string => {
  const shown = uid === null ? "an identity that is not known" : name === null ? uid : `${name} (${uid})`;
  return `${shown}, with ${rights === "own" ? "its own rights" : "the rights of an operator"}`;
};

/** What fails, and what is not as it was: a reader must not take silence for safety. */
export const runLimits = ({ differs, steps, errors, notPart = [] }: Report): Section[] => [
  {
    id: "not-part",
    title: "Not part of this review: the change edits these files too, and the program is that of the base",
    items: notPart.map((path) => ({ parts: [quote(path)] })),
  },
  {
    id: "differs",
    title: "Access that is not as it was recorded",
    items: differs.map((one) => ({ parts: differsParts(one) })),
  },
  {
    id: "failed",
    title: "Steps that fail",
    items: steps.filter(({ ok }) => !ok).map((step) => ({ parts: stepParts(step) })),
  },
  { id: "run-errors", title: "What else fails", items: errors.map((text) => ({ parts: [quoteLines(text)] })) },
];

export const runNotes = ({ steps, others, notCopied }: Report): Section[] => [
  {
    id: "passed",
    title: "Steps that go through",
    items: byOperation(steps.filter(({ ok }) => ok)),
  },
  {
    id: "others",
    title: "Changes of other providers, which a review does not run",
    items: byOperation(others),
  },
  { id: "not-copied", title: "What the copy lacks", items: notCopied.map((text) => ({ parts: [quote(text)] })) },
];

const NAMES_SHOWN = 20;

/** An item for each operation: who reviews a change reads what it gives, and looks here for the rest. */
const byOperation = (steps: readonly Pick<Step, "op" | "urn">[]): Section["items"] => {
  const replaced = new Set(steps.flatMap(({ op, urn }) => (op === "replace" ? [urn] : [])));
  const shown = steps.filter(({ op, urn }) => !replaced.has(urn) || !PARTS_OF_REPLACEMENT.includes(op));
  return [...Map.groupBy(shown, ({ op }) => op)].map(([op, own]) => {
    const names = own.slice(0, NAMES_SHOWN).flatMap(({ urn }, i) => [i === 0 ? "" : ", ", nameOf(urn)]);
    const rest = own.length - NAMES_SHOWN;
    const lead = own.length === 1 ? `${op} ` : `${op} ${own.length}: `;
    return { parts: [lead, ...names, ...(rest > 0 ? [` and ${rest} more`] : [])] };
  });
};

/** The engine shows a replacement as three steps. */
const PARTS_OF_REPLACEMENT = ["create-replacement", "delete-replaced"];

const stepParts = ({ op, urn, error = "", missing }: Step): Part[] => [
  `${op} `,
  nameOf(urn),
  ": ",
  ...(missing
    ? ["the identity lacks ", quote(missing.capabilities.join(", ")), " at ", quote(missing.groupName), ": "]
    : []),
  quoteLines(error),
];

const differsParts = ({ row, identity, message }: Differs): Part[] =>
  row === undefined
    ? ["access of ", quote(textOf(identity)), ", or who can act as it: ", quote(message)]
    : [
        quote(textOf(row.identity)),
        row.change === "gain" ? " gains " : " loses ",
        quote(row.capability),
        " at ",
        quote(textOf(row.group)),
        " and below: ",
        quote(message),
      ];

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
