// A review in the parts that people read: its head, its limits, findings, and the gains and losses of each subject.
import { equalityKey } from "../../canonical.ts";
import { byEffect, changesAssumption, subjectsInOrder } from "../../graph/danger.ts";
import type { Assumption, Finding, IdentityReview, PeopleReview, Report, Row } from "../../review/report.ts";
import { differences, type Segment } from "../differences.ts";
import {
  type Document,
  type Fact,
  type Item,
  jsonText,
  type Line,
  line,
  originFacts,
  type Part,
  quote,
  say,
  section,
} from "../document/document.ts";
import { pathItem, reviewedPathText } from "../paths.ts";
import { countText, organizationParts, placeText } from "../words.ts";
import { limitsOf, sectionsOf } from "./sections.ts";

export const reviewDocument = (report: Report): Document => {
  const subjects = subjectsInOf(report);
  const ids = new Map(
    subjects.map((one, i) => ["subject" in one ? one.subject : (one.uid ?? one.name), `identities-${i + 1}`]),
  );
  const pathsOf = (kind: "opens" | "closes", title: string) => {
    const items = report[kind].map((path) => pathItem(reviewedPathText(path), kind === "opens"));
    return section(kind, title, items, { isBlocks: true, isLong: true, share: 2 });
  };
  return {
    title: titleOf(report),
    facts: [...originFacts(report.origin), ...runFacts(report)],
    sections: [
      ...limitsOf(report),
      section(
        "findings",
        "Findings",
        report.findings.map((one) => findingItem(one, ids.get(one.subject))),
        { share: 6 },
      ),
      section(
        "identities",
        "What each of them gains and loses",
        subjects.map((one) => ("subject" in one ? peopleItem(one) : identityItem(one))),
        {
          isBlocks: true,
          isMain: true,
          share: 22,
          none: `Nobody gains or loses anything${report.unknown.length + report.notVisible.length > 0 ? " that this review can see" : ""}.`,
        },
      ),
      pathsOf("opens", "Opens: paths to more access, by requests that were not possible before"),
      pathsOf("closes", "Closes: paths to more access that end"),
      ...sectionsOf(report),
    ],
    isWrapped: true,
    foot: report.deletedGroups.length > 0 ? `${CAN_DIFFER} ${SUBSCRIPTIONS}` : CAN_DIFFER,
  };
};

/** In the form of schema/generated/review.schema.json. */
export const reportAsJson = (report: Report): string =>
  jsonText({
    ...report,
    identities: report.identities.map((one) => ({
      ...one,
      assumable: { before: one.assumableBefore, after: one.assumableAfter },
      changed: changesAssumption(one),
    })),
  });

export type Subject = IdentityReview | PeopleReview;

export const subjectsInOf = ({ identities, people, findings }: Report): Subject[] =>
  subjectsInOrder<Subject>([...identities, ...people], findings);

/** Why the run may differ from the review. */
const CAN_DIFFER =
  "A program is code: it can act differently on a copy than in the update, and a pull request can replace the tool, the package and the workflow. Only npx pulumi-irm apply binds the update to this review (docs/change.md#apply).";

/** They also block a deletion (docs/internals/contract.md#d7). */
const SUBSCRIPTIONS = "It does not list event subscriptions, which would block the deletion of their group.";

/** Who acted, and the requests of the run. */
const runFacts = ({ as, writes, digest }: Report): Fact[] => {
  if (as === null) return [];
  const { uid, name, rights } = as;
  const actor = uid === null ? "an identity that is not known" : name === null ? uid : `${name} (${uid})`;
  return [
    { name: "As", value: `${actor}, with ${rights === "own" ? "its own rights" : "the rights of an operator"}` },
    { name: "Writes", value: String(writes) },
    ...(digest === "" ? [] : [{ name: "Change", value: digest }]),
  ];
};

/** A number that a headline or a badge shows. */
interface Count {
  kind: "alert" | "gain" | "loss";
  count: number;
  one: string;
  many: string;
  /** a page shows it even if there are none */
  isAlways?: true;
}

/** The changes, the worst first. */
export const countsOf = (report: Report): Count[] => {
  const { identities, people, deletedGroups, steps, errors, differs, adopted, opens, closes } = report;
  const among = (is: (identity: IdentityReview) => boolean) => identities.filter(is).length;
  const hasGains = ({ gains }: Pick<Subject, "gains">) => gains.length > 0;
  const hasLosses = ({ losses }: Pick<Subject, "losses">) => losses.length > 0;
  const hasRows = (one: Subject) => hasGains(one) || hasLosses(one);
  const only = (...changes: IdentityReview["change"][]) =>
    among((one) => changes.includes(one.change) && !hasRows(one) && !changesAssumption(one));
  // With the groups in them.
  const deleted = deletedGroups.flatMap(({ contents }) => ["group", ...contents.map(({ kind }) => kind)]);
  const rows: [Count["kind"], number, one: string, many: string, isAlways?: true][] = [
    [
      "alert",
      among(changesAssumption),
      "identity: who can assume it changes",
      "identities: who can assume them changes",
    ],
    ["gain", among(hasGains), "identity gains access", "identities gain access", true],
    [
      "gain",
      people.filter(hasGains).length,
      "subject without an identity gains access",
      "subjects without an identity gain access",
    ],
    ["loss", among(hasLosses), "identity loses access", "identities lose access", true],
    [
      "loss",
      people.filter(hasLosses).length,
      "subject without an identity loses access",
      "subjects without an identity lose access",
    ],
    [
      "alert",
      people.filter((one) => !hasRows(one)).length,
      "subject without an identity changes",
      "subjects without an identity change",
    ],
    ["alert", opens.length, "path to more access opens", "paths to more access open"],
    ["loss", closes.length, "path to more access closes", "paths to more access close"],
    ["gain", only("created"), "new identity without access", "new identities without access"],
    ["loss", only("deleted", "replaced"), "identity without access goes", "identities without access go"],
    ["loss", only("updated"), "identity is renamed", "identities are renamed"],
    ["loss", deleted.filter((kind) => kind === "group").length, "group is deleted", "groups are deleted"],
    ["alert", steps.filter(({ ok }) => !ok).length, "step fails", "steps fail"],
    ["alert", errors.length, "other error", "other errors"],
    ["alert", differs.length, "row differs", "rows differ"],
    ["gain", adopted.length, "record is adopted", "records are adopted"],
  ];
  return rows.map(([kind, count, one, many, isAlways]) => ({ kind, count, one, many, isAlways }));
};

/** The organizations of the report, and its stack. */
export const subjectOf = ({ organizations = [], origin }: Report): Part[] =>
  say`Change in access${organizationParts(" of ", organizations)} by ${origin?.stack ?? ["this program"]}`;

const titleOf = (report: Report): Part[] => {
  const { findings, unknown, notVisible } = report;
  const parts = countsOf(report).flatMap(({ count, one, many }) => (count > 0 ? [countText(count, one, many)] : []));
  // Seeing nothing does not prove that nothing exists.
  const none = unknown.length + notVisible.length > 0 ? "no change that this review can see" : "no change";
  const denied = findings.filter((one) => one.denied).length;
  const found = countText(findings.length, "finding") + (denied > 0 ? `, ${denied} denied` : "");
  return [...subjectOf(report), `: ${parts.join(", ") || none}; ${found}`];
};

/** The service of a subject, if there are several services. */
const serviceParts = ({ service }: { service?: string | undefined }) =>
  service === undefined ? [] : say` at ${service}`;

const findingItem = (finding: Finding, to: string | undefined): Item => {
  const { rule, subject, name, message, list, allowed, denied } = finding;
  const { lead, items } = list ?? { lead: message, items: [] };
  const parts = items.map((one) => line`${one}`);
  return {
    parts: [
      ...say`${{ mark: denied ? "denied" : allowed ? "allowed" : "open" }} ${{ rule }}  ${{ name, to }}`,
      ...say`${name !== subject && say`  ${subject}`}${serviceParts(finding)}`,
    ],
    lines: lead === "" ? parts : [{ ...line`${lead}`, lines: parts }],
  };
};

/** Rows of one role, at the groups where it grants equal capabilities. */
interface Change {
  sign: "+" | "-";
  places: Part[][];
  role: string;
  /** the worst first */
  capabilities: string[];
}

/** Keeps the order of the report: gains before losses, the worst first. */
const changesOf = (sign: "+" | "-", rows: readonly Row[]): Change[] => {
  const changes = new Map<string, Change>();
  // A review may have hundreds of thousands of rows. The length distinguishes a role "b c" at "a" from a role "c" at "a b".
  const placed = Map.groupBy(
    rows,
    ({ group, groupName, role }) => `${role.length} ${role} ${group === null} ${group ?? groupName}`,
  );
  for (const own of placed.values()) {
    const { role, group, groupName } = own[0] as Row;
    const capabilities = own.map(({ capability }) => capability).sort(byEffect);
    const key = `${role.length} ${role} ${capabilities.join()}`;
    const change = changes.get(key) ?? { sign, places: [], role, capabilities };
    change.places.push([quote(placeText(groupName, group === null))]);
    changes.set(key, change);
  }
  return [...changes.values()];
};

const changeLines = ({ gains, losses }: Pick<Subject, "gains" | "losses">): Line[] =>
  [...changesOf("+", gains), ...changesOf("-", losses)].map(({ sign, places, role, capabilities }) => ({
    sign,
    parts: say`${[sign === "+" ? "gains" : "loses"]} at ${{ list: places }} and below, through ${role}${{ capabilities, role }}`,
  }));

const summaryOf = ({ gains, losses }: Pick<Subject, "gains" | "losses">) => {
  const counts = [[gains, "gains"] as const, [losses, "loses"] as const].flatMap(([rows, verb]) =>
    rows.length > 0 ? [`${verb} ${countText(rows.length, "capability")}`] : [],
  );
  return counts.join("; ") || "no capability changes";
};

const CHANGES: Readonly<Record<IdentityReview["change"], string>> = {
  created: "new",
  deleted: "deleted",
  replaced: "replaced",
  updated: "changed",
  none: "",
};

const identityItem = (identity: IdentityReview): Item => {
  const { name, nameBefore, uid, groupName, change } = identity;
  const isReassumed = changesAssumption(identity);
  const isNamed = isReassumed || nameBefore !== undefined;
  return {
    parts: [
      ...say`${{ name }}${nameBefore !== undefined && say`, renamed from ${nameBefore}`}`,
      ...(change === "none" || (change === "updated" && isNamed) ? [] : [`, ${CHANGES[change]}`]),
      ...say`${isReassumed && say`, ${{ tag: "who can assume it changes" }}`}  in ${placeText(groupName)}`,
      ...say`${serviceParts(identity)}  ${uid ?? ["no uid yet"]}`,
    ],
    lines: [...assumptionLines(identity, isReassumed), ...changeLines(identity)],
    summary: summaryOf(identity),
    // A reader must see who may become this identity without opening the item.
    isOpen: isReassumed,
  };
};

const assumptionLines = (identity: IdentityReview, isReassumed: boolean): Line[] => {
  const { before, after, assumableBefore, assumableAfter } = identity;
  if (equalityKey(assumableBefore) === equalityKey(assumableAfter))
    return after === null
      ? []
      : [{ ...assumptionLine("can be assumed, before and after,", after, null), isDetail: true }];
  const marked = before && after ? differences(before.text, after.text) : undefined;
  const missing = `who can assume it ${before ? "after" : "before"} the change is not known`;
  return [
    ...(before
      ? [{ ...assumptionLine("can be assumed", before, assumableBefore, marked?.before), sign: "-" as const }]
      : []),
    ...(after
      ? [{ ...assumptionLine("can be assumed", after, assumableAfter, marked?.after), sign: "+" as const }]
      : []),
    // A text that is missing on one side is itself a change.
    ...(isReassumed && !(before && after) ? [line`! ${[missing]}`] : []),
  ];
};

const assumptionLine = (
  verb: string,
  { text, patterns }: Assumption,
  json: object | null,
  marked?: readonly Segment[],
) => ({
  parts: say`${[verb]} by ${marked ? { differs: marked } : text}${json !== null && { json }}`,
  lines: patterns.flatMap(({ claim, matches, differs }) => [
    ...matches.map((one) => line`matching ${claim}: ${one}`),
    ...differs.map((one) => line`not matching: ${one}`),
  ]),
});

const peopleItem = (people: PeopleReview): Item => {
  const { subject, groupName, before, after } = people;
  const fact = before === after ? "" : before === null ? "new" : after === null ? "ends" : "who it is changes";
  const marked = before !== null && after !== null ? differences(before, after) : undefined;
  const who = (sign: "+" | "-", text: string | null, segments?: readonly Segment[]): Line[] =>
    text === null || before === after ? [] : [{ ...line`${segments ? { differs: segments } : text}`, sign }];
  return {
    parts: say`${{ name: subject }}${fact !== "" && say`, ${{ tag: fact }}`}  in ${groupName}${serviceParts(people)}`,
    summary: summaryOf(people),
    lines: [...who("-", before, marked?.before), ...who("+", after, marked?.after), ...changeLines(people)],
    isOpen: marked !== undefined && before !== after,
  };
};
