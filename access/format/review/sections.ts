// The lists of a review besides findings and identities.
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
  section,
} from "../document/document.ts";
import { pullTokenParts } from "../pull-token.ts";
import { roleItems, rolesTitle } from "../roles.ts";
import { countText, notVisibleItems } from "../words.ts";

/** Failures, and the limits of this review. They come first: a reader must not take silence for safety. */
export const limitsOf = ({ notPart = [], differs, steps, errors, unknown, notVisible }: Report): Section[] => [
  section(
    "not-part",
    "Not part of this review: the change edits these files too, and the program is that of the base",
    quotedItems(notPart),
    { isLong: true },
  ),
  section("differs", "Access that is not as it was recorded", differs.map(differsItem)),
  section("failed", "Steps that fail", steps.filter(({ ok }) => !ok).map(failedItem)),
  section("run-errors", "What else fails", quotedItems(errors)),
  section("unknown", "Not known", unknown.map(unknownItem)),
  section("not-visible", "Not visible to the caller, so in neither gains nor losses", notVisibleItems(notVisible), {
    isFolded: true,
  }),
];

/** A page names the resource and the property, which most messages do by themselves. */
const unknownItem = ({ subject, property, message }: Report["unknown"][number]): Item => {
  const item = quotedItem(message);
  const about = line`${subject}${property !== undefined && say` ${property}`}`;
  return subject === "" ? item : { ...item, lines: [...(item.lines ?? []), { ...about, isDetail: true }] };
};

/** The sections after the identities. */
export const sectionsOf = (report: Report): Section[] =>
  [
    section(
      "deleted",
      "Deleted groups, and what disappears with them",
      report.deletedGroups.map(({ groupName, contents }) => ({
        parts: say`${groupName}: ${[contents.length === 0 ? "it is empty" : ""]}${contentsPart(contents)}`,
        lines: contents.map(
          ({ kind, name, uid }): Line => ({ ...line`${[kind]} ${name} has the uid ${uid}`, isDetail: true }),
        ),
      })),
    ),
    section("forced", "forceDestroy", report.forceDestroy.map(forcedItem)),
    section(
      "adopted",
      "Adopted: existing records that the program adopts",
      report.adopted.map(({ kind, name, uid, resource, deletedLater }) => {
        const end = deletedLater ? "deleted with the resource" : "it stays when the resource goes";
        return line`${[kind]} ${name} ${uid} by ${resource}; ${[end]}`;
      }),
    ),
    section(
      "undeclared",
      "Live access that nothing declares",
      report.undeclared.map(
        ({ identityName, role, groupName, binding }) =>
          line`${identityName} has the role ${role} at ${groupName}, by binding ${binding}`,
      ),
      { isLong: true },
    ),
    section(
      "expiring",
      "Static keys that end within 30 days",
      report.expiringKeys.map(
        ({ name, groupName, expirationTime }) => line`${name} in ${groupName}: ${expirationTime}`,
      ),
    ),
    section("changed-roles", rolesTitle(report.roles ?? []), roleItems(report.roles ?? [])),
    section(
      "pull-tokens",
      "Pull tokens that lose a role",
      report.pullTokens.map((one) => ({ parts: pullTokenParts(one) })),
    ),
    section("passed", "Steps that go through", byOperation(report.steps.filter(({ ok }) => ok))),
    section("others", "Changes of other providers, which a review does not run", byOperation(report.others)),
    section("not-copied", "What the copy lacks", quotedItems(report.notCopied)),
    section("rules", "Rules of this review", rulesItems(report)),
  ].map((one) => ({ ...one, isFolded: true }));

const forcedItem = ({ kind, name, deletes, contents }: Report["forceDestroy"][number]): Item => {
  if (!deletes) return line`${[kind]} ${name} gets forceDestroy: a later deletion takes along what no resource manages`;
  const rest = contents.length === 0 ? "with nothing else in it" : "and with it ";
  return line`${[kind]} ${name} is deleted, ${[rest]}${contentsPart(contents)}`;
};

const contentsPart = (contents: Report["deletedGroups"][number]["contents"]) => ({
  list: contents.map(({ kind, name }) => say`${[kind]} ${name}`),
});

/** In a replayed change, a step is the number of a write. */
const nameOf = (urn: string): Part => (/^\d+$/.test(urn) ? `write ${urn}` : quote(partsOfUrn(urn).name || urn));

/** An item for each operation: a reviewer first reads the access that a change gives, and looks here for the rest. */
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

const failedItem = ({ op, urn, error = "", missing }: Step) => {
  const lacks = missing && say`the identity lacks ${missing.capabilities.join(", ")} at ${missing.groupName}: `;
  return quotedItem(error, ...say`${[op]} ${[nameOf(urn)]}: ${lacks}`);
};

const differsItem = ({ row, identity, message }: Differs) =>
  row === undefined
    ? line`access of ${recordText(identity)}, or who can act as it: ${message}`
    : line`${recordText(row.identity)} ${[row.change === "gain" ? "gains" : "loses"]} ${row.capability} at ${recordText(row.group)} and below: ${message}`;

const recordText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** The source of the rules, and the results of the tests: a reader must see if there are none. */
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
