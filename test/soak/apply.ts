// Applies of reviewed changes: random organizations and programs, edits by hand between review and apply, runs that are killed, disturbed and run
// again, and programs that misbehave. What an apply has brought, the tables of the server say.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Change } from "../../access/change/change.ts";
import type { OperationName } from "../../schema/index.ts";
import { faultsOf } from "../harness/api-process.ts";
import type { Program, Workplace } from "../harness/engine-workplace.ts";
import { temporaryFolder } from "../support/command.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type Applied, startApply, VICTIMS } from "./apply/command.ts";
import { differences, gainsBeyond } from "./change/compare.ts";
import { sourceFor } from "./change/described.ts";
import { editThatDoesNotMatter, editThatMatters } from "./change/edits.ts";
import { type Case, type Group, isAbout, openGroup } from "./change/group.ts";
import { prepare } from "./change/groups.ts";
import { rowsOf, type Snapshot } from "./change/oracle.ts";
import {
  changePrograms,
  momentsOf,
  type Reviewed,
  resourceNames,
  reviewWhole,
  snapshotsOf,
  type Teller,
  tellStories,
  update,
} from "./change/teller.ts";
import type { PartOptions, PartResult } from "./part.ts";

/** `rounds`: cases, dynamic resources and the plugin in turn. */
export const applies = async (options: PartOptions): Promise<PartResult> => {
  const plugin = await prepare(options);
  const folder = temporaryFolder();
  const given = {
    plugin,
    server: ["--faults", folder.write("faults.yaml", "rules: []\n")],
    mayBeInPart: false,
    // A change has no such writes (docs/change.md#apply-limits).
    mayWait: false,
    sourceOf: sourceWithTricks,
  };
  // Processes of its own double the processor time.
  const open = (seeds: readonly number[]) =>
    openGroup(seeds, { ...given, ownProcess: createRandom(-(seeds[0] as number)).below(3) === 0 });
  return tellStories("apply", options, { figures: newFigures(), open }, runStory).finally(folder.remove);
};

const newFigures = () => ({
  "changes that were applied": 0,
  "organizations that changed in what matters": 0,
  "of these, a reason why nothing was applied": 0,
  "organizations that changed in something else": 0,
  "programs that a group goes on without": 0,
  "programs without a review that goes through": 0,
  "applies: usual": 0,
  "applies: lost": 0,
  "applies: throttled": 0,
  "applies: killed": 0,
  "applies: twice": 0,
  "applies: misbehaves": 0,
  "of these, refused": 0,
  "applies that were run again": 0,
  "programs that were applied as reviewed": 0,
  "rows of access of identities": 0,
  "rows of access of people": 0,
  "rows that the review does not show, or shows wrongly": 0,
  "refusals where nothing relevant moved": 0,
});

const WAYS = ["usual", "lost", "throttled", "killed", "twice"] as const;
/** Of a program with processes of its own. Another one runs in the process of all groups, whose environment has no run. */
const OWN_WAYS = ["killed", "misbehaves", "misbehaves"] as const;
type Way = (typeof WAYS)[number] | (typeof OWN_WAYS)[number];

type Told = Teller & { figures: ReturnType<typeof newFigures> };

/** Returns what is wrong. */
const runStory = async (told: Told): Promise<string[]> => {
  const { random, program, figures } = told;
  changePrograms(told, (one) => 2 + one.below(6));
  await update(program);
  changePrograms(told, (one) => 1 + one.below(5));
  const first = await reviewed(told);
  const isApplied = first && (await afterEdits(told, first));
  if (isApplied) changePrograms(told, (one) => 1 + one.below(5));
  const way = random.pick<Way>(program.sharedEngine === undefined ? OWN_WAYS : WAYS);
  // The review sees the program as it is then.
  const trick = way === "misbehaves" ? random.pick(TRICKS) : undefined;
  if (trick) writeTrick(program, random, told.left[0] as Case, trick);
  const second = told.left.length > 0 ? await reviewed(told) : undefined;
  if (second) {
    for (const one of told.left) if (random.below(2) === 0) await editThatDoesNotMatter(told, one);
    figures[`applies: ${way}`] += 1;
    await disturbed(told, second, way);
  }
  figures["programs that a group goes on without"] += told.cases.length - told.left.length;
  return told.problems.map((text) => `${text}\nway: ${way} ${trick ?? ""}`);
};

const reviewed = async (told: Told): Promise<Reviewed | undefined> => {
  const found = await reviewWhole(told);
  const isWhole =
    found && "report" in found && found.report.steps.every(({ ok }) => ok) && found.report.errors.length === 0;
  if (isWhole) return found;
  told.figures["programs without a review that goes through"] += told.left.length;
  return undefined;
};

/** Applies a change where some organizations have changed in what matters: a line about each that keeps it from being applied. Returns whether it was. */
const afterEdits = async (told: Told, first: Reviewed): Promise<boolean> => {
  const { figures, random, fail } = told;
  const edited = new Set<Case>();
  for (const one of told.left) {
    if (random.below(2) === 0 && (await editThatMatters(told, one, first.change))) edited.add(one);
    else await editThatDoesNotMatter(told, one);
  }
  figures["organizations that changed in what matters"] += edited.size;
  figures["organizations that changed in something else"] += told.left.length - edited.size;
  const before = snapshotsOf(told);
  const applied = await startApply(told).ended;
  figures["changes that were applied"] += 1;
  const span: Span = [before, snapshotsOf(told)];
  const lines = applied.output.split("\n").filter((line) => line.startsWith("- "));
  // What fails keeps the steps of others from running, and so their access is another one.
  const isBlocked = lines.some((line) => line.includes(" fails: "));
  for (const one of told.left) {
    const own = lines.filter((line) => isAbout(one, line));
    if (edited.has(one)) figures["of these, a reason why nothing was applied"] += own.length > 0 ? 1 : 0;
    else if (own.length > 0 && !isBlocked)
      wrongly(told, `nothing relevant moved, and it is refused:\n${own.join("\n")}`, one);
    if (applied.code !== 0) checkNothing(told, one, span);
    else if (edited.has(one)) checkGains(told, one, first, span);
    else checkWhole(told, one, first, span);
  }
  const others = lines.filter((line) => !told.cases.some((one) => isAbout(one, line)));
  if (edited.size === 0 && applied.code !== 0) wrongly(told, `nothing relevant moved: ${applied.output}`);
  else if (![0, 3].includes(applied.code ?? -1) && !applied.output.includes(PREVIEW_FAILS))
    fail(`it fails after edits: ${applied.output}`);
  else if (others.length > 0 && edited.size === 0) wrongly(told, others.join("\n"));
  return applied.code === 0;
};

/** Somebody has removed what the program adopts. */
const PREVIEW_FAILS = "the preview has errors";

const wrongly = ({ figures, fail }: Told, text: string, one?: Case): void => {
  figures["refusals where nothing relevant moved"] += 1;
  fail(text, one);
};

/** The services before and after. */
type Span = [before: Snapshot[], after: Snapshot[]];

const checkNothing = ({ fail }: Told, one: Case, [before, after]: Span): void => {
  const [old, now] = [momentsOf(one, before), momentsOf(one, after)];
  const rows = old.flatMap((moment, i) => rowsOf(moment, now[i] as (typeof now)[number]));
  if (rows.length > 0) fail(`it is refused, and brings ${JSON.stringify(rows)}`, one);
};

const checkGains = (told: Told, one: Case, { report, change }: Reviewed, [before, after]: Span): void => {
  const found = gainsBeyond({ report, change, before: momentsOf(one, before), after: momentsOf(one, after) });
  told.figures["rows that the review does not show, or shows wrongly"] += found.length;
  for (const text of found) told.fail(text, one);
};

const RUNS_MAX = 8;

/** Applies the change in this way, and again until it is through. */
const disturbed = async (told: Told, second: Reviewed, way: Way): Promise<void> => {
  const { figures, place, program, fail } = told;
  const before = snapshotsOf(told);
  let applied = await applyOnce(told, second.change, way);
  await endFaults(place);
  if (way === "misbehaves") {
    const between = snapshotsOf(told);
    for (const one of told.left) checkGains(told, one, second, [before, between]);
    if (applied.code === 3) figures["of these, refused"] += 1;
    removeTrick(program);
  }
  for (let runs = 1; applied.code !== 0 && runs < RUNS_MAX; runs += 1) {
    // Of an engine that has ended early, writes are missing; a run that was refused something, or all, is not run again.
    if (way !== "misbehaves" && applied.code === 3 && applied.report?.refused.length !== 0) break;
    if (/currently locked/.test(applied.output)) await program.run("cancel", "--yes");
    if (/failed to load checkpoint/.test(applied.output)) removeAttributes(program);
    figures["applies that were run again"] += 1;
    applied = await startApply(told).ended;
    if (way === "misbehaves" && applied.code === 3) break;
  }
  figures["changes that were applied"] += 1;
  const span: Span = [before, snapshotsOf(told)];
  // What a trick has asked for at its review is in the change: without the trick, the change is another one.
  const isOther = way === "misbehaves" && JSON.stringify(second.change.writes).includes("trick");
  for (const one of told.left) (applied.code === 0 ? checkWhole : checkGains)(told, one, second, span);
  if (applied.code === 0) figures["programs that were applied as reviewed"] += told.left.length;
  else if (!isOther) wrongly(told, `nothing relevant moved, and it ends with ${applied.code}: ${applied.output}`);
  if (applied.report && applied.code === 0 && applied.report.missing > 0)
    fail(`it ends with 0 and lacks writes: ${applied.output}`);
};

/** The engine was killed while it wrote the attributes of its state: the file is empty. Without it there are none. */
const removeAttributes = ({ folder }: Group["program"]): void =>
  rmSync(join(folder, "state", ".pulumi", "stacks", "case", "dev.json.attrs"));

const checkWhole = (told: Told, one: Case, { report, change }: Reviewed, [before, after]: Span): void => {
  const moments = { before: momentsOf(one, before), after: momentsOf(one, after) };
  const names = resourceNames(told.program);
  const found = differences({ case: one, report, change, ...moments, names, isInPart: false });
  told.figures["rows of access of identities"] += found.rows;
  told.figures["rows of access of people"] += found.people;
  told.figures["rows that the review does not show, or shows wrongly"] += found.problems.length;
  for (const text of found.problems) told.fail(text, one);
};

const applyOnce = async (told: Told, change: Change, way: Way): Promise<Applied> => {
  const { place, random } = told;
  if (way === "lost") await loseAnswers(place, change);
  if (way === "throttled") await throttle(place, random);
  if (way === "twice") {
    const [one, other] = await Promise.all([startApply(told).ended, startApply(told).ended]);
    // One of them may find that the other has the stack, or has applied the change.
    return one.code === 0 ? one : other;
  }
  if (way !== "killed") return startApply(told).ended;
  const hasWrite = await holdWrite(place, change, random);
  const applying = startApply(told);
  if (!hasWrite) return applying.ended;
  let hasEnded = false;
  void applying.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !(await isHeld(place))) await setTimeout(POLL_MS);
  if (hasEnded) return applying.ended;
  const killed = applying.kill(random.pick(VICTIMS));
  await endFaults(place);
  await killed;
  return applying.ended;
};

const POLL_MS = 50;

type Place = Pick<Workplace, "server">;

const endFaults = async ({ server }: Place): Promise<void> => {
  await faultsOf(server, {});
  await fetch(`${server.baseUrl}/faults/release`, { method: "POST" });
};

const operationsOf = ({ writes }: Change): OperationName[] => {
  const methods = new Set(writes.map(({ method }) => method));
  return [...methods, ...(methods.has("CreateRoleBinding") ? ["BatchCreateRoleBindings"] : [])] as OperationName[];
};

/** The first answer to each kind of write is lost. */
const loseAnswers = async ({ server }: Place, change: Change): Promise<void> => {
  const steps = [{ at: "after" as const, reset: true as const }];
  await faultsOf(server, { rules: operationsOf(change).map((operation) => ({ operation, steps })) });
};

const throttle = async ({ server }: Place, random: Random): Promise<void> => {
  const steps = [{ status: 429, retryAfter: 1 }];
  await faultsOf(server, { random: { rate: 0.1, seed: random.below(1_000_000), steps } });
};

/** One write is held, before the service carries it out or after. Returns whether the change has one. */
const holdWrite = async ({ server }: Place, change: Change, random: Random): Promise<boolean> => {
  const operation = random.pick(operationsOf(change));
  if (operation === undefined) return false;
  const passed = Array.from({ length: random.below(3) }, () => ({ delay: "1ms" }));
  const held = { at: random.pick(["before", "after"] as const), hold: true as const };
  await faultsOf(server, { rules: [{ operation, steps: [...passed, held] }] });
  return true;
};

/** Whether the write is held now. */
const isHeld = async ({ server }: Place): Promise<boolean> => {
  const { faults: script, attempts } = await faultsOf(server);
  const [rule] = script.rules ?? [];
  return rule !== undefined && attempts.some((one) => one.rule === 1 && one.step === rule.steps.length);
};

const TRICK = "trick.json";

/**
 * `dry`: whenever it is no preview; `file`: once the run's file says that it is an apply; `runs`: once it has run often enough, as by a clock;
 * `more`: it gives a role more; `call`: it calls the API itself, with every bearer that it finds.
 */
const TRICKS = ["dry", "file", "runs", "more", "call"] as const;
type Trick = (typeof TRICKS)[number];

/** Of a review and an apply: a preview and an update each on a copy. */
const RUNS_BEFORE = 4;

const writeTrick = (program: Program, random: Random, { made }: Case, trick: Trick): void => {
  const [identity, role, parent] = [random.pick(made.identities), random.pick(made.roles), random.pick(made.groups)];
  writeFileSync(join(program.folder, TRICK), JSON.stringify({ trick, identity, role, parent, runs: 0 }));
};

const removeTrick = ({ folder }: Program): void => rmSync(join(folder, TRICK), { force: true });

const sourceWithTricks = (module: string): string => `${sourceFor(module)}
import { existsSync, writeFileSync } from "node:fs";
const withTrick = async (): Promise<void> => {
  if (!existsSync("${TRICK}")) return;
  const trick = JSON.parse(readFileSync("${TRICK}", "utf8"));
  writeFileSync("${TRICK}", JSON.stringify({ ...trick, runs: trick.runs + 1 }));
  const isDry = pulumi.runtime.isDryRun();
  const file = process.env.IRM_RUN ? readFileSync(process.env.IRM_RUN, "utf8") : "{}";
  const { kind = "none", services = [] } = JSON.parse(file);
  const { identity, role, parent } = trick;
  const own = () => new irm.RoleBinding("o1-trick", { parent, identity, role: "owner" });
  if (trick.trick === "dry" && !isDry) own();
  if (trick.trick === "file" && kind !== "review" && !isDry) own();
  if (trick.trick === "runs" && trick.runs >= ${RUNS_BEFORE}) own();
  if (trick.trick === "more" && kind !== "review" && !isDry)
    new irm.Role("o1-trick", { adopt: role, parent: role.split("/")[0], name: "o1-trick", capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE"] });
  if (trick.trick !== "call" || kind === "review" || isDry) return;
  const owner = { identityUid: identity, roleUid: role };
  const texts = [...Object.values(process.env), ...services.map(({ token }: any) => token)] as string[];
  const bearers = new Set(texts.filter((one) => one && /^[\\w.~+/=-]{20,}$/.test(one)));
  const addresses = [process.env.IRM_BASE_URL, ...services.flatMap(({ address, url }: any) => [address, url])];
  for (const address of addresses.filter(Boolean))
    for (const bearer of bearers)
      await fetch(address + "/iam/v2beta1/roleBindings/" + parent, {
        method: "POST",
        headers: { authorization: "Bearer " + bearer, "content-type": "application/json" },
        body: JSON.stringify(owner),
      }).catch(() => undefined);
};
await withTrick();
`;
