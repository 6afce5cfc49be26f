// Reviews against updates: random organizations and programs, each reviewed, replayed and then run by a real engine.
import { writesOf } from "../harness/api-process.ts";
import { differences, ofWrites, type Sent, waits } from "./change/compare.ts";
import { editByHand } from "./change/edits.ts";
import { type Case, isAbout, openGroup } from "./change/group.ts";
import { type EngineOptions, prepare } from "./change/groups.ts";
import {
  changePrograms,
  momentsOf,
  nameIn,
  placesOf,
  type Reviewed,
  replay,
  resourceNames,
  review,
  reviewWhole,
  snapshotsOf,
  type Teller,
  tellStories,
  type Updated,
  update,
} from "./change/teller.ts";
import type { PartResult } from "./part.ts";

/** `rounds`: cases, dynamic resources and the plugin in turn. */
export const changes = async (options: EngineOptions): Promise<PartResult> => {
  const plugin = await prepare(options);
  const open = (seeds: readonly number[]) => openGroup(seeds, { plugin });
  return tellStories("change", options, { figures: newFigures(), open }, runStory);
};

const newFigures = () => ({
  reviews: 0,
  "reviews of a case by one who sees a part": 0,
  "updates of a case that went through, as reviewed": 0,
  "updates of a case that fail, as reviewed": 0,
  "updates of a case whose program the engine ended": 0,
  "programs that neither a review nor an update takes": 0,
  "programs that a group goes on without": 0,
  "writes of the changes": 0,
  "changes that were replayed": 0,
  "rows of access of identities": 0,
  "rows of access of people": 0,
  "reviews of an unchanged case, without a write": 0,
});

type Told = Teller & { figures: ReturnType<typeof newFigures> };

/** Returns what is wrong. */
const runStory = async (told: Told): Promise<string[]> => {
  const { random, program, figures } = told;
  changePrograms(told, (one) => 2 + one.below(6));
  if (random.below(2) === 0) await reviewAndUpdate(told);
  else await update(program);
  for (const one of told.left) await editByHand(told, one);
  changePrograms(told, (one) => 1 + one.below(5));
  const whole = await reviewAndUpdate(told);
  if (whole.length > 0 && told.inPart === undefined) {
    // The first update of an exclusive set removes nothing that it did not create (provider/set/plan.ts).
    if (JSON.stringify(told.cases.map(({ described }) => described)).includes('"exclusive":true'))
      await update(program);
    await unchanged(told, whole);
  }
  figures["programs that a group goes on without"] += told.cases.length - told.left.length;
  return told.problems;
};

/** Returns the cases whose update went through. */
const reviewAndUpdate = async (told: Told): Promise<readonly Case[]> => {
  const { program, figures, fail } = told;
  const isInPart = told.inPart !== undefined;
  const reviewed = await reviewWhole(told);
  if (reviewed === undefined) return [];
  if ("report" in reviewed) figures.reviews += 1;
  const replayed = "report" in reviewed && !isInPart ? await replayOf(told, reviewed) : undefined;
  const before = snapshotsOf(told);
  await writesSent(told);
  const updated = await update(program);
  const after = snapshotsOf(told);
  if (!("report" in reviewed)) {
    if (updated.code === 0 && !isInPart) fail(`there is no review, and the update goes through: ${reviewed.problem}`);
    figures["programs that neither a review nor an update takes"] += told.left.length;
    return [];
  }
  // An engine that ends its program early says nothing of the review (https://github.com/pulumi/pulumi/issues/13616).
  if (updated.output.includes("Resource monitor is terminating")) {
    figures["updates of a case whose program the engine ended"] += told.left.length;
    return [];
  }
  const { report, change } = reviewed;
  for (const differs of report.differs) fail(`differs: ${JSON.stringify(differs)}`);
  const whole = told.left.filter((one) => goesThrough(told, one, reviewed, updated));
  const [sent, names] = [await writesSent(told), resourceNames(program)];
  const figure = isInPart
    ? "reviews of a case by one who sees a part"
    : "updates of a case that went through, as reviewed";
  for (const one of whole) {
    const moments = { before: momentsOf(one, before), after: momentsOf(one, after) };
    const found = differences({ case: one, report, change, ...moments, names, sent, isInPart });
    for (const text of [...found.problems, ...(replayed?.(one) ?? [])]) fail(text, one);
    figures["rows of access of identities"] += found.rows;
    figures["rows of access of people"] += found.people;
    figures["writes of the changes"] += found.writes;
    figures[figure] += 1;
  }
  return whole;
};

/** Whether review and update say that all steps of the case go through. What only one of them says is a difference. */
const goesThrough = ({ figures, inPart, fail }: Told, one: Case, { report }: Reviewed, updated: Updated): boolean => {
  const failing = [
    ...report.steps.flatMap(({ ok, urn, error }) => (ok || !isAbout(one, nameIn(urn)) ? [] : [`${urn}: ${error}`])),
    ...report.errors.filter((text) => isAbout(one, text)),
  ];
  const failed = updated.failed.filter((urn) => isAbout(one, nameIn(urn)));
  const hasFailed = failed.length > 0 || (updated.code !== 0 && updated.failed.length === 0);
  const isUnknown = failing.length === 0 && waits(one, report);
  const said = failing.join("\n") || "goes through";
  if (failing.length > 0 !== hasFailed && inPart === undefined && !isUnknown)
    fail(`the review: ${said}\nthe update: ${failed.join("\n")}\n${updated.output}`, one);
  if (failing.length === 0 && !hasFailed) return true;
  figures["updates of a case that fail, as reviewed"] += 1;
  return false;
};

/** The requests since the last time that changed something. */
const writesSent = async (told: Told): Promise<Sent[]> => {
  const all = await Promise.all(placesOf(told).map(({ server }) => server.takeRequests()));
  return writesOf(all.flat()).flatMap(({ status, path, operation }) =>
    status < 300 ? [{ path, operation: String(operation) }] : [],
  );
};

/** What is wrong with the replay of a case. */
const replayOf = async (told: Told, { change }: Reviewed): Promise<(one: Case) => string[]> => {
  const replayed = await replay(told);
  if ("problem" in replayed) {
    told.fail(`there is no replay: ${replayed.problem}`);
    return () => [];
  }
  told.figures["changes that were replayed"] += 1;
  const isOfWrite = ofWrites(change);
  for (const row of replayed.differs) told.fail(`replayed: ${JSON.stringify(row)}`);
  return (one) =>
    replayed.steps.flatMap(({ urn, ok, op, error }) => {
      const write = change.writes[Number(urn) - 1];
      return ok || write === undefined || !isOfWrite(one, write) ? [] : [`replayed ${op}: ${error}`];
    });
};

/** Reviews the same program again, which has nothing to do for these cases. */
const unchanged = async (told: Told, whole: readonly Case[]): Promise<void> => {
  const again = await review(told);
  if (!("report" in again)) return told.fail(`the same program has no review: ${again.problem}`);
  const { report, change } = again;
  const isOfWrite = ofWrites(change);
  for (const one of whole) {
    told.figures["reviews of an unchanged case, without a write"] += 1;
    const writes = change.writes.filter((write) => isOfWrite(one, write));
    const steps = report.steps.filter(({ urn }) => isAbout(one, nameIn(urn)));
    const rows = [...report.identities, ...report.people].filter((shown) => {
      const name = "subject" in shown ? shown.subject : shown.name;
      return isAbout(one, shown.uid ?? name) && shown.gains.length + shown.losses.length > 0;
    });
    if (writes.length + rows.length + steps.length > 0)
      told.fail(`the same program again: ${JSON.stringify({ steps, rows, writes })}`, one);
  }
};
