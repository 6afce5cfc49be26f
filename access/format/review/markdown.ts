// A report as Markdown, for a comment on a pull request: at most 60,000 bytes, and what is left out is counted. Texts of the API and of
// a preview stand in code, where they are neither markup nor mention.
import type { Assumption, Finding, IdentityReview, Report } from "../../review/report.ts";
import { code, htmlCode } from "../markdown-text.ts";
import { counted } from "../words.ts";
import { CHANGES, changesOf, sectionsOf, titleOf } from "./blocks.ts";

/** GitHub takes 65,536 characters: https://github.com/orgs/community/discussions/27190 */
const BYTES_MAX = 60_000;
const CAPABILITIES_SHOWN = 30;
const CHANGES_SHOWN = 20;
const CLAIMS_MAX = 500;

interface Block {
  head: string;
  items: string[];
  foot: string;
  /** `3 findings` */
  count: (items: number) => string;
}

export const reportAsMarkdown = (report: Report): string => {
  const title = `## ${titleOf(report)}\n\n`;
  const blocks = [
    findingsBlock(report.findings),
    identitiesBlock(report.identities),
    ...sectionsOf(report).map(sectionBlock),
  ];
  const used = blocks.filter(({ items }) => items.length > 0);
  return title + fitted(used, BYTES_MAX - Buffer.byteLength(title));
};

const findingsBlock = (findings: readonly Finding[]): Block => ({
  head: "| | Rule | Subject | Finding |\n| --- | --- | --- | --- |\n",
  items: findings.map(({ rule, subject, name, message, allowed, denied }) => {
    const mark = allowed ? "allowed" : denied ? ":no_entry: denied" : ":warning:";
    const whom = name === subject ? cell(name) : `${cell(name)} ${cell(subject)}`;
    return `| ${mark} | \`${rule}\` | ${whom} | ${cell(message)} |\n`;
  }),
  foot: "",
  count: (items) => counted(items, "finding"),
});

/** In a table a bar ends the cell, also in code. */
const cell = (text: string): string => code(text, CLAIMS_MAX).replaceAll("|", "\\|");

const identitiesBlock = (identities: readonly IdentityReview[]): Block => ({
  head: "",
  items: identities.map(identityText),
  foot: "",
  count: (items) => counted(items, "identity", "identities"),
});

const identityText = (identity: IdentityReview): string => {
  const { name, uid, groupName, gains, losses, change, before, after, assumableBefore, assumableAfter } = identity;
  const counts = [gains.length > 0 && `gains ${gains.length}`, losses.length > 0 && `loses ${losses.length}`];
  const facts = [CHANGES[change], ...counts].filter(Boolean).join(", ");
  const isSame = JSON.stringify(assumableBefore) === JSON.stringify(assumableAfter);
  const changes = changesOf(identity);
  const lines = [
    `In ${code(groupName)}, ${uid === null ? "no uid yet" : `uid ${code(uid)}`}.`,
    ...(isSame ? [] : [...assumed("before", before), ...assumed("after", after)]),
    ...changes.slice(0, CHANGES_SHOWN).map(({ sign, place, role, capabilities }) => {
      const verb = sign === "+" ? "**gains**" : "**loses**";
      const rest = capabilities.length - CAPABILITIES_SHOWN;
      const list = capabilities
        .slice(0, CAPABILITIES_SHOWN)
        .map((one) => code(one))
        .join(", ");
      return `${verb} at ${code(place)} and below, through ${code(role)}: ${list}${rest > 0 ? ` and ${rest} more` : ""}`;
    }),
    ...(changes.length > CHANGES_SHOWN ? [`and ${changes.length - CHANGES_SHOWN} more groups and roles`] : []),
  ];
  const summary = `<summary>${htmlCode(name)} ${facts}</summary>`;
  return `<details>${summary}\n\n${lines.map((line) => `- ${line}\n`).join("")}\n</details>\n`;
};

const assumed = (when: string, assumption: Assumption | null): string[] => {
  if (!assumption) return [];
  const examples = assumption.patterns.flatMap(({ claim, matches, differs }) => [
    ...(matches.length === 0
      ? []
      : [`  - ${code(claim)} may be ${matches.map((one) => code(one, CLAIMS_MAX)).join(", ")}`]),
    ...(differs.length === 0 ? [] : [`  - but not ${differs.map((one) => code(one, CLAIMS_MAX)).join(", ")}`]),
  ]);
  return [[`can be assumed ${when} by ${code(assumption.text, CLAIMS_MAX)}`, ...examples].join("\n")];
};

const sectionBlock = ({ title, items }: ReturnType<typeof sectionsOf>[number]): Block => ({
  head: `<details><summary>${title} (${items.length})</summary>\n\n`,
  items: items.map(
    ({ parts }) =>
      `- ${parts.map((part) => (typeof part === "string" ? part : code(part.quoted, CLAIMS_MAX))).join("")}\n`,
  ),
  foot: "\n</details>\n",
  count: (count) => counted(count, "entry", "entries"),
});

// The first two blocks are what a reviewer must see; the others share what is left.
const SHARES = [4, 4];

const fitted = (blocks: readonly Block[], room: number): string => {
  const fixed = blocks.map(({ head, foot }) => Buffer.byteLength(head + foot) + OMITTED_MAX);
  let left = room - fixed.reduce((sum, size) => sum + size, 0);
  const sizes = blocks.map(({ items }) => items.reduce((sum, item) => sum + Buffer.byteLength(item), 0));
  let shares = blocks.reduce((sum, _, i) => sum + (SHARES[i] ?? 1), 0);
  // The small blocks first: what they do not need is for the others.
  const budgets = new Map<number, number>();
  for (const i of sizes
    .map((_, at) => at)
    .sort((a, b) => (sizes[a] as number) / (SHARES[a] ?? 1) - (sizes[b] as number) / (SHARES[b] ?? 1))) {
    const own = Math.min(sizes[i] as number, Math.floor((left * (SHARES[i] ?? 1)) / shares));
    budgets.set(i, own);
    left -= own;
    shares -= SHARES[i] ?? 1;
  }
  return blocks.map((block, i) => blockText(block, budgets.get(i) as number)).join("\n");
};

const OMITTED_MAX = 120;

const blockText = ({ head, items, foot, count }: Block, budget: number): string => {
  let left = budget;
  const kept = items.filter((item) => {
    const size = Buffer.byteLength(item);
    if (size > left) return false;
    left -= size;
    return true;
  });
  const omitted = items.length - kept.length;
  return (
    head +
    kept.join("") +
    (omitted === 0 ? "" : `\n${count(omitted)} left out here; \`--format json\` has all.\n`) +
    foot
  );
};
