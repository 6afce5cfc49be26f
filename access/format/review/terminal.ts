// A report for a terminal.
import { styleText } from "node:util";
import { printable } from "../../../schema/index.ts";
import { textOf } from "../../graph/same.ts";
import { changesAssumption, subjectsInOrder } from "../../review/danger.ts";
import type { Assumption, Finding, IdentityReview, PathReview, PeopleReview, Report } from "../../review/report.ts";
import { differences, type Segment, withArrows } from "../differences.ts";
import { pathOfRule } from "../docs.ts";
import { reviewedPathText } from "../paths/rows.ts";
import { pathLines } from "../paths/terminal.ts";
import {
  CHANGES,
  type Change,
  changesOf,
  footOf,
  headFacts,
  peopleFactOf,
  placeOf,
  serviceText,
  titleOf,
  whoOf,
} from "./blocks.ts";
import type { Part, Section } from "./section.ts";
import { inLine, limitsOf, sectionsOf, TITLES } from "./sections.ts";

export interface TerminalOptions {
  color: boolean;
  /** columns */
  width: number;
}

type Format = "bold" | "dim" | "red" | "yellow";
type Style = (format: Format, text: string) => string;

export const styleOf =
  (color: boolean): Style =>
  (format, text) =>
    color ? styleText(format, text, { validateStream: false }) : text;

// A built-in role has up to two hundred.
const CAPABILITIES_SHOWN = 24;

export const reportAsText = (report: Report, { color, width }: TerminalOptions): string => {
  const style = styleOf(color);
  const lines = [
    ...wrapText(titleOf(report), "", width).map((line) => style("bold", line)),
    ...headFacts(report).map(({ name, value }) => style("dim", printable(`${name}: ${value}`))),
    "",
    ...limitsOf(report).flatMap((section) => sectionLines(shortened(section), width, style)),
    ...(report.findings.length === 0 ? [] : [style("bold", "Findings")]),
    ...report.findings.flatMap((finding) => [...findingLines(finding, width, style), ""]),
    ...subjectsInOrder([...report.identities, ...report.people], report.findings).flatMap((one) => [
      ...("subject" in one ? peopleLines(one, width, style) : identityLines(one, width, style)),
      "",
    ]),
    ...(["opens", "closes"] as const).flatMap((kind) => pathsLines(TITLES[kind], report[kind], width, style)),
    ...sectionsOf(report).flatMap((section) => sectionLines(shortened(section), width, style)),
    ...wrapText(footOf(report), "", width).map((line) => style("dim", line)),
    "",
  ];
  return lines.join("\n");
};

/** What the change leaves as it is may be long. */
const shortened = (section: ReturnType<typeof sectionsOf>[number]): Section => {
  const rest = section.items.length - LONG_SHOWN;
  if (!["undeclared", "not-part"].includes(section.id) || rest <= 0) return section;
  const more: Section["items"] = [{ parts: [`and ${rest} more (--format json lists all)`] }];
  return { ...section, items: [...section.items.slice(0, LONG_SHOWN), ...more] };
};

const LONG_SHOWN = 20;

export const sectionLines = ({ title, items }: Section, width: number, style: Style): string[] => {
  if (items.length === 0) return [];
  const texts = items.flatMap(({ parts }) => {
    const [first, ...more] = linesOf(parts);
    return [
      ...wrapText(`- ${first}`, "  ", width),
      ...more.flatMap((line) => wrapText(line, `${LINE_INDENT}  `, width, LINE_INDENT)),
    ];
  });
  return [style("bold", title), ...texts, ""];
};

/** Deeper than any entry: a text of others must not look like one. */
const LINE_INDENT = "    ";

const linesOf = (parts: readonly Part[]): string[] => {
  const lines = [""];
  for (const part of inLine(parts)) {
    const [first, ...more] = typeof part === "string" ? [part] : "quoted" in part ? [part.quoted] : part.lines;
    lines.push(`${lines.pop()}${first}`, ...more);
  }
  return lines;
};

/** The last in a long list are longer paths. */
const PATHS_SHOWN = 20;

const pathsLines = (title: string, paths: readonly PathReview[], width: number, style: Style): string[] => {
  if (paths.length === 0) return [];
  const rest = paths.length - PATHS_SHOWN;
  return [
    style("bold", title),
    ...paths.slice(0, PATHS_SHOWN).flatMap((path) => [...pathLines(reviewedPathText(path), width, style), ""]),
    ...(rest > 0 ? [`and ${rest} more (--format json lists all)`, ""] : []),
  ];
};

const findingLines = (finding: Finding, width: number, style: Style): string[] => {
  const { rule, subject, name, message, list, allowed, denied } = finding;
  const mark = allowed ? style("dim", "allowed") : denied ? style("red", "DENIED") : style("yellow", "!");
  const whom = name === subject ? printable(name) : `${printable(name)}  ${style("dim", printable(subject))}`;
  const { lead, items } = list ?? { lead: message, items: [] };
  return [
    `  ${mark} ${style("bold", rule)}  ${whom}${printable(serviceText(finding))}`,
    ...(lead === "" ? [] : wrapText(lead, "      ", width)),
    ...items.flatMap((item) => wrapText(`- ${item}`, "        ", width, "      ")),
    style("dim", `      ${pathOfRule(rule)}`),
  ];
};

const identityLines = (identity: IdentityReview, width: number, style: Style): string[] => {
  const { name, nameBefore, uid, groupName, change, before, after, assumableBefore, assumableAfter } = identity;
  const isReassumed = changesAssumption(identity);
  const facts = [
    nameBefore !== undefined && `renamed from ${printable(nameBefore)}`,
    !(change === "updated" && (isReassumed || nameBefore !== undefined)) && CHANGES[change],
    isReassumed && style("yellow", "who can assume it changes"),
  ];
  const head = [style("bold", printable(name)), ...facts.filter(Boolean)].join(", ");
  const place = style(
    "dim",
    printable(`in ${placeOf(groupName, groupName)}${serviceText(identity)}  ${uid ?? "no uid yet"}`),
  );
  const isSame = textOf(assumableBefore) === textOf(assumableAfter);
  const marked = before && after ? differences(before.text, after.text) : undefined;
  return [
    `${head}  ${place}`,
    ...(isSame ? [] : assumptionLines("-", before, marked?.before, width, style)),
    ...(isSame ? [] : assumptionLines("+", after, marked?.after, width, style)),
    ...(isReassumed && !(before && after)
      ? [`  ! who can assume it ${before ? "after" : "before"} the change is not known`]
      : []),
    ...changesOf(identity).flatMap((one) => changeLines(one, width, style)),
  ];
};

const peopleLines = (people: PeopleReview, width: number, style: Style): string[] => {
  const head = [style("bold", printable(people.subject)), peopleFactOf(people)].filter(Boolean).join(", ");
  const who = whoOf(people).flatMap(({ when, text }) => {
    const sign = when === "before" ? "-" : "+";
    return wrapText(`${sign} ${text}`, "    ", width, "  ").map((line) => style(formatOf(sign), line));
  });
  const changes = changesOf(people).flatMap((one) => changeLines(one, width, style));
  return [`${head}  ${style("dim", printable(`in ${people.groupName}${serviceText(people)}`))}`, ...who, ...changes];
};

/** Gaining access is a warning; losing it is not. */
const formatOf = (sign: "+" | "-"): Format => (sign === "+" ? "yellow" : "dim");

const assumptionLines = (
  sign: "+" | "-",
  assumption: Assumption | null,
  marked: readonly Segment[] | undefined,
  width: number,
  style: Style,
): string[] => {
  if (!assumption) return [];
  const head = wrapText(
    `${sign} can be assumed by ${marked ? withArrows(marked) : assumption.text}`,
    "    ",
    width,
    "  ",
  );
  const examples = assumption.patterns.flatMap(({ claim, matches, differs }) => [
    ...matches.map((text) => `matching ${claim}: ${text}`),
    ...differs.map((text) => `not matching: ${text}`),
  ]);
  return [
    ...head.map((line) => style(formatOf(sign), line)),
    ...(sign === "+" ? examples.flatMap((text) => wrapText(text, "        ", width, "      ")) : []),
  ];
};

const changeLines = ({ sign, place, role, capabilities }: Change, width: number, style: Style): string[] => {
  const verb = sign === "+" ? "gains" : "loses";
  const rest = capabilities.length - CAPABILITIES_SHOWN;
  const shown = capabilities.slice(0, CAPABILITIES_SHOWN).join(", ");
  const more = rest > 0 ? ` and ${rest} more (--format json lists all)` : "";
  const head = wrapText(`${sign} ${verb} at ${place} and below, through ${role}`, "    ", width, "  ");
  return [...head.map((line) => style(formatOf(sign), line)), ...wrapText(shown + more, "      ", width)];
};

/** A word that is longer than a line has a line of its own. */
export const wrapText = (
  text: string,
  indent: string,
  width: number,
  first = indent.startsWith("  ") && text.startsWith("- ") ? "" : indent,
): string[] => {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of printable(text).split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
};
