// A report as Markdown, for a comment on a pull request: at most 60,000 bytes. Long lists of capabilities are cut first, then what is
// least dangerous; what is left out is counted. Texts of the API and of a preview stand in code, where they are neither markup nor
// mention.
import { textOf } from "../../graph/same.ts";
import { joinWithAnd } from "../../list-text.ts";
import { changesAssumption, subjectsInOrder } from "../../review/danger.ts";
import type { Assumption, Finding, FindingList, IdentityReview, PeopleReview, Report } from "../../review/report.ts";
import { differences, type Segment } from "../differences.ts";
import { docsAddress, pathOfRule } from "../docs.ts";
import { COMMENT_BYTES_MAX, code, codeLines, codeWithMarks, htmlCode } from "../markdown-text.ts";
import { pathMarkdown } from "../paths/markdown.ts";
import { reviewedPathText } from "../paths/rows.ts";
import { countText } from "../words.ts";
import {
  CHANGES,
  type Change,
  changesOf,
  footOf,
  headFacts,
  kindsOf,
  peopleFactOf,
  serviceText,
  titleOf,
  whoOf,
} from "./blocks.ts";
import { type Block, fitBlocks, type Item, LazyLine, type Line, plainItem, whole } from "./fit.ts";
import type { Section } from "./section.ts";
import { inLine, limitsOf, sectionsOf, TITLES } from "./sections.ts";

/** Capabilities of one group and role, from the review that has room for all to the one that has least. */
const CAPABILITIES_SHOWN = [Number.POSITIVE_INFINITY, 60, 30, 10];
const CLAIMS_MAX = 500;

/** What is left out last. */
const DANGER = { finding: 0, assumable: 1, grant: 2, write: 3, section: 4, use: 5, read: 6, loss: 7, excused: 7 };

export const reportAsMarkdown = (report: Report): string => {
  const facts = headFacts(report).map(({ name, value }) => `${name} ${code(value)}`);
  const title = `## ${titleOf(report, code)}\n\n${facts.length > 0 ? `${facts.join(" · ")}\n\n` : ""}`;
  const foot = `\n<sub>${footOf(report)}</sub>\n`;
  const room = COMMENT_BYTES_MAX - Buffer.byteLength(title + foot);
  const limits = limitsOf(report).map((section) =>
    sectionBlock(section, DANGER.write, section.title !== TITLES.notVisible),
  );
  const sections = sectionsOf(report).map((section) => sectionBlock(section, DANGER.section));
  const subjects = subjectsInOrder([...report.identities, ...report.people], report.findings).map((subject) => ({
    subject,
    changes: changesOf(subject),
  }));
  let blocks: Block[] = [];
  for (const shown of CAPABILITIES_SHOWN) {
    blocks = [...limits, findingsBlock(report.findings), subjectsBlock(subjects, shown)];
    blocks.push(pathsBlock("opens", report), pathsBlock("closes", report), ...sections);
    blocks = blocks.filter(({ items }) => items.length > 0);
    const text = whole(blocks, room);
    if (text !== undefined) return title + text + foot;
  }
  return title + fitBlocks(blocks, room) + foot;
};

const omissionLine = (count: string, detail = ""): string =>
  `\n${count} left out here${detail && ` (${detail})`}; \`--format json\` has all.\n`;

const findingsBlock = (findings: readonly Finding[]): Block => ({
  head: "| | Rule | Subject | Finding |\n| --- | --- | --- | --- |\n",
  items: findings.map((finding) => {
    const { rule, subject, name, message, list, allowed, denied } = finding;
    const mark = allowed ? "allowed" : denied ? ":no_entry: denied" : ":warning:";
    const whom = name === subject ? cell(name) : `${cell(name)} ${cell(subject)}`;
    const at = serviceText(finding);
    const text = list ? listCell({ ...list, lead: list.lead + at }) : cell(message + at);
    const row = `| ${mark} | [\`${rule}\`](${docsAddress(pathOfRule(rule))}) | ${whom} | ${text} |\n`;
    return plainItem(allowed ? DANGER.excused : DANGER.finding, row);
  }),
  foot: "",
  share: 4,
  omittedText: (items) => omissionLine(countText(items.length, "finding")),
});

/** A cell has one line, so its list is of lines. */
const listCell = ({ lead, items }: FindingList): string =>
  [...(lead === "" ? [] : [cell(lead)]), ...items.map((item) => `• ${cell(item)}`)].join("<br>");

/** Escapes bars: in a table a bar ends the cell, also within code. */
const cell = (text: string): string => code(text, CLAIMS_MAX).replaceAll("|", "\\|");

interface Changed<S = IdentityReview | PeopleReview> {
  subject: S;
  changes: Change[];
}

const subjectsBlock = (subjects: readonly Changed[], shown: number): Block => {
  const items = subjects.map(({ subject, changes }) => ({
    changes,
    item: "subject" in subject ? peopleItem({ subject, changes }, shown) : identityItem({ subject, changes }, shown),
  }));
  const people = new Set(items.flatMap(({ item }, i) => ("subject" in (subjects[i]?.subject ?? {}) ? [item] : [])));
  const changesIn = new Map(items.map(({ changes, item }) => [item, changes]));
  return {
    head: "",
    items: items.map(({ item }) => item),
    foot: "",
    share: 8,
    omittedText: (left) => {
      const worst = left.flatMap((item) => changesIn.get(item)?.slice(0, 1) ?? []);
      const others = left.filter((item) => people.has(item)).length;
      const counts = [
        left.length > others && countText(left.length - others, "identity", "identities"),
        others > 0 && countText(others, "subject without an identity", "subjects without an identity"),
      ];
      return omissionLine(joinWithAnd(counts.filter((one) => one !== false)), kindsOf(worst, "with"));
    },
  };
};

const identityItem = ({ subject: identity, changes }: Changed<IdentityReview>, shown: number): Item => {
  const { name, uid, groupName, gains } = identity;
  const isReassumed = changesAssumption(identity);
  const summary = `<summary>${htmlCode(name)} ${factsOf(identity)}</summary>`;
  const about = `- In ${code(groupName + serviceText(identity))}, ${uid === null ? "no uid yet" : `uid ${code(uid)}`}.\n`;
  const assumptions = assumptionLines(identity);
  const changeOf = new Map<Line, Change>(changes.map((one) => [changeLine(one, shown), one]));
  return {
    danger: isReassumed ? DANGER.assumable : gains.length > 0 ? DANGER.read : DANGER.loss,
    // A reader must not have to open it to see who may become this identity.
    head: `<details${isReassumed ? " open" : ""}>${summary}\n\n${about}`,
    lines: [...assumptions, ...changeOf.keys()],
    foot: "\n</details>\n",
    omittedText: (lines) => {
      const left = lines.flatMap((line) => changeOf.get(line) ?? []);
      const texts = [left.length < lines.length && "who can assume it", kindsOf(left, "groups and roles with")];
      return `- left out here: ${texts.filter(Boolean).join(", ")}\n`;
    },
  };
};

const peopleItem = ({ subject: people, changes: own }: Changed<PeopleReview>, shown: number): Item => {
  const { subject, groupName, gains, losses } = people;
  const counts = [gains.length > 0 && `gains ${gains.length}`, losses.length > 0 && `loses ${losses.length}`];
  const facts = [peopleFactOf(people), ...counts].filter(Boolean).join(", ");
  const who = whoOf(people);
  const isReassumed = who.length > 1;
  const danger = isReassumed ? DANGER.assumable : gains.length > 0 ? DANGER.write : DANGER.loss;
  const changes = own.map((one) => changeLine(one, shown));
  return {
    danger: isReassumed ? danger : gains.length > 0 ? DANGER.read : DANGER.loss,
    head: `<details${isReassumed ? " open" : ""}><summary>${htmlCode(subject)} ${facts}</summary>\n\n- In ${code(groupName + serviceText(people))}.\n`,
    lines: [...who.map(({ when, text }) => ({ danger, text: `- ${when}: ${code(text, CLAIMS_MAX)}\n` })), ...changes],
    foot: "\n</details>\n",
    omittedText: (lines) => `- ${countText(lines.length, "line")} left out here\n`,
  };
};

const factsOf = ({ nameBefore, ...identity }: IdentityReview): string => {
  const { change, gains, losses } = identity;
  const isReassumed = changesAssumption({ ...identity });
  const isNamed = isReassumed || nameBefore !== undefined;
  return [
    nameBefore !== undefined && `renamed from ${htmlCode(nameBefore)}`,
    !(change === "updated" && isNamed) && CHANGES[change],
    isReassumed && "who can assume it changes",
    gains.length > 0 && `gains ${gains.length}`,
    losses.length > 0 && `loses ${losses.length}`,
  ]
    .filter(Boolean)
    .join(", ");
};

const assumptionLines = (identity: IdentityReview): Line[] => {
  const { before, after, assumableBefore, assumableAfter } = identity;
  if (textOf(assumableBefore) === textOf(assumableAfter)) return [];
  const danger = changesAssumption(identity)
    ? DANGER.assumable
    : identity.gains.length > 0
      ? DANGER.write
      : DANGER.loss;
  const marked = before && after ? differences(before.text, after.text) : undefined;
  const lines = [
    ...(before ? [assumptionText("before", before, marked?.before)] : []),
    ...(after ? [assumptionText("after", after, marked?.after)] : []),
  ];
  // A text that is missing on one side is itself a change.
  const missing = before && !after ? "after" : !before && after && changesAssumption(identity) ? "before" : undefined;
  if (missing && changesAssumption(identity)) lines.push(`- who can assume it ${missing} is not known\n`);
  return lines.map((text) => ({ danger, text }));
};

const assumptionText = (when: string, { text, patterns }: Assumption, marked?: readonly Segment[]): string => {
  const shown = marked ? codeWithMarks(marked, CLAIMS_MAX) : code(text, CLAIMS_MAX);
  const examples = patterns.flatMap(({ claim, matches, differs }) => [
    ...(matches.length === 0
      ? []
      : [`  - ${code(claim)} may be ${matches.map((one) => code(one, CLAIMS_MAX)).join(", ")}`]),
    ...(differs.length === 0 ? [] : [`  - but not ${differs.map((one) => code(one, CLAIMS_MAX)).join(", ")}`]),
  ]);
  return [`- can be assumed ${when} by ${shown}`, ...examples].map((line) => `${line}\n`).join("");
};

const changeLine = ({ sign, place, role, capabilities, effect }: Change, most: number): Line =>
  new LazyLine(sign === "+" ? DANGER[effect] : DANGER.loss, () => {
    const verb = sign === "+" ? "**gains**" : "**loses**";
    const rest = capabilities.length - most;
    const list = capabilities
      .slice(0, most)
      .map((one) => code(one))
      .join(", ");
    const more = rest > 0 ? ` and ${rest} more` : "";
    return `- ${verb} at ${code(place)} and below, through ${code(role)}: ${list}${more}\n`;
  });

const pathsBlock = (kind: "opens" | "closes", report: Report): Block => {
  const danger = kind === "opens" ? DANGER.grant : DANGER.loss;
  const paths = report[kind];
  return {
    head: `<details${kind === "opens" ? " open" : ""}><summary>${TITLES[kind]} (${paths.length})</summary>\n`,
    items: paths.map((path) => plainItem(danger, pathMarkdown(reviewedPathText(path)))),
    foot: "\n</details>\n",
    share: 2,
    omittedText: (left) => omissionLine(countText(left.length, "path")),
  };
};

export const sectionBlock = ({ title, items }: Section, danger: number, isOpen = false): Block => ({
  head: `<details${isOpen ? " open" : ""}><summary>${title} (${items.length})</summary>\n\n`,
  items: items.map(({ parts }) => {
    const text = inLine(parts)
      .map((part) => {
        if (typeof part === "string") return part;
        return "quoted" in part ? code(part.quoted, CLAIMS_MAX) : codeLines(part.lines, CLAIMS_MAX);
      })
      .join("");
    return plainItem(danger, `- ${text}\n`);
  }),
  foot: "\n</details>\n",
  share: 1,
  omittedText: (left) => omissionLine(countText(left.length, "entry", "entries")),
});
