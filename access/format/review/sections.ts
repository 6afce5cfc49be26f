// The lists of a review beside findings and identities.
import { partsOfUrn } from "../../../pulumi/urn.ts";
import type { Differs, Report, Step } from "../../review/report.ts";
import {
  type Item,
  type Line,
  line,
  type Part,
  quote,
  quotedItem,
  quotedItems,
  type Section,
  say,
} from "../document/document.ts";
import { pullTokenParts } from "../pull-token.ts";
import { roleItems, rolesTitle } from "../roles.ts";
import { countText, notVisibleItems } from "../words.ts";

/** What fails, and what this review cannot tell. It comes first: a reader must not take silence for safety. */
export const limitsOf = ({ notPart = [], differs, steps, errors, unknown, notVisible }: Report): Section[] => [
  {
    id: "not-part",
    isLong: true,
    items: quotedItems(notPart),
    title: "Not part of this review: the change edits these files too, and the program is that of the base",
  },
  { id: "differs", title: "Access that is not as it was recorded", items: differs.map(differsItem) },
  { id: "failed", title: "Steps that fail", items: steps.filter(({ ok }) => !ok).map(failedItem) },
  { id: "run-errors", title: "What else fails", items: quotedItems(errors) },
  { id: "unknown", title: "Not known", items: unknown.map(unknownItem) },
  {
    id: "not-visible",
    isFolded: true,
    items: notVisibleItems(notVisible),
    title: "Not visible to the caller, so in neither gains nor losses",
  },
];

/** A page names the resource and the property, which most messages do by themselves. */
const unknownItem = ({ subject, property, message }: Report["unknown"][number]): Item => {
  const item = quotedItem(message);
  const about = line`${subject}${property !== undefined && say` ${property}`}`;
  return subject === "" ? item : { ...item, lines: [...(item.lines ?? []), { ...about, isDetail: true }] };
};

/** What follows the identities. */
export const sectionsOf = (report: Report): Section[] =>
  [
    {
      id: "deleted",
      title: "Deleted groups, and what disappears with them",
      items: report.deletedGroups.map(({ groupName, contents }) => ({
        parts: say`${groupName}: ${[contents.length === 0 ? "it is empty" : ""]}${contentsPart(contents)}`,
        lines: contents.map(
          ({ kind, name, uid }): Line => ({ ...line`${[kind]} ${name} has the uid ${uid}`, isDetail: true }),
        ),
      })),
    },
    section("forced", "forceDestroy", report.forceDestroy, ({ kind, name, deletes, contents }) => {
      if (!deletes)
        return say`${[kind]} ${name} gets forceDestroy: a later deletion takes along what no resource manages`;
      const rest = contents.length === 0 ? "with nothing else in it" : "and with it ";
      return say`${[kind]} ${name} is deleted, ${[rest]}${contentsPart(contents)}`;
    }),
    section("adopted", "Adopted: existing records that the program takes over", report.adopted, (one) => [
      ...say`${[one.kind]} ${one.name} ${one.uid} by ${one.resource}`,
      one.deletedLater ? "; deleted with the resource" : "; it stays when the resource goes",
    ]),
    {
      ...section(
        "undeclared",
        "Live access that nothing declares",
        report.undeclared,
        ({ identityName, role, groupName, binding }) =>
          say`${identityName} has the role ${role} at ${groupName}, by binding ${binding}`,
      ),
      isLong: true,
    },
    section(
      "expiring",
      "Static keys that end within 30 days",
      report.expiringKeys,
      (one) => say`${one.name} in ${one.groupName}: ${one.expirationTime}`,
    ),
    { id: "changed-roles", title: rolesTitle(report.roles ?? []), items: roleItems(report.roles ?? []) },
    section("pull-tokens", "Pull tokens that lose a role", report.pullTokens, pullTokenParts),
    { id: "passed", title: "Steps that go through", items: byOperation(report.steps.filter(({ ok }) => ok)) },
    {
      id: "others",
      items: byOperation(report.others),
      title: "Changes of other providers, which a review does not run",
    },
    { id: "not-copied", title: "What the copy lacks", items: quotedItems(report.notCopied) },
    { id: "rules", title: "Rules of this review", items: rulesItems(report) },
  ].map((one) => ({ ...one, isFolded: true }));

const section = <T>(id: string, title: string, rows: readonly T[], partsOf: (row: T) => Part[]): Section => ({
  id,
  title,
  items: rows.map((row) => ({ parts: partsOf(row) })),
});

const contentsPart = (contents: Report["deletedGroups"][number]["contents"]): Part => ({
  list: contents.map(({ kind, name }) => say`${[kind]} ${name}`),
});

/** Of a change that is replayed, a step is the number of a write. */
const nameOf = (urn: string): Part => (/^\d+$/.test(urn) ? `write ${urn}` : quote(partsOfUrn(urn).name || urn));

/** An item for each operation: who reviews a change reads what it gives, and looks here for the rest. */
const byOperation = (steps: readonly Pick<Step, "op" | "urn">[]): Item[] => {
  const replaced = new Set(steps.flatMap(({ op, urn }) => (op === "replace" ? [urn] : [])));
  const shown = steps.filter(({ op, urn }) => !replaced.has(urn) || !PARTS_OF_REPLACEMENT.includes(op));
  return [...Map.groupBy(shown, ({ op }) => op)].map(
    ([op, own]) =>
      line`${[op]} ${[own.length === 1 ? "" : `${own.length}: `]}${{ list: own.map(({ urn }) => [nameOf(urn)]) }}`,
  );
};

/** The engine shows a replacement as three steps. */
const PARTS_OF_REPLACEMENT = ["create-replacement", "delete-replaced"];

const failedItem = ({ op, urn, error = "", missing }: Step): Item => {
  const lacks = missing && say`the identity lacks ${missing.capabilities.join(", ")} at ${missing.groupName}: `;
  return quotedItem(error, ...say`${[op]} ${[nameOf(urn)]}: ${lacks}`);
};

const differsItem = ({ row, identity, message }: Differs): Line =>
  row === undefined
    ? line`access of ${recordText(identity)}, or who can act as it: ${message}`
    : line`${recordText(row.identity)} ${[row.change === "gain" ? "gains" : "loses"]} ${row.capability} at ${recordText(row.group)} and below: ${message}`;

const recordText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Where the rules come from, and how the tests went: a reader must see that there are none. */
const rulesItems = ({ rules, tests }: Report): Item[] => {
  const items: Item[] = [];
  if (rules) {
    const { file, isThere, base, commit = "" } = rules;
    const place = base === undefined ? say`in the work tree` : say`at ${base} (${[commit.slice(0, 12)]})`;
    items.push(isThere ? line`${file} ${place}` : line`there is no ${file} ${place}: only flags count`);
  }
  if (tests) {
    const old = tests.filter(({ failedBefore }) => failedBefore);
    const failed = tests.filter(({ passed }) => !passed).length - old.length;
    const counts = [
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(old.length > 0 ? [`${old.length} failed before this change too`] : []),
    ];
    items.push(line`${[countText(tests.length, "test")]} of access: ${[counts.join(", ") || "all passed"]}`);
    for (const { name, reason = "" } of old) items.push(line`test ${name} failed before this change too: ${reason}`);
  }
  return items;
};
