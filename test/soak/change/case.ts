// One case: an organization made by hand and a program, which is reviewed and then run, and once more after changes of both. What the update
// brings on its server are the rows that the review has shown before it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../access/change/change.ts";
import { type Report, Report as ReportShape } from "../../../access/review/report.ts";
import { readChange } from "../../../cli/change.ts";
import { mintDevToken } from "../../../cli/token.ts";
import type { Json } from "../../../schema/index.ts";
import { writesOf } from "../../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../../harness/engine-workplace.ts";
import { irmIn } from "../../harness/irm-command.ts";
import { IAM } from "../../harness/small-engine/owner.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { type HandMade, makeByHand } from "../program/hand-made.ts";
import { someCapabilities, someClaims } from "../program/some.ts";
import { differences } from "./compare.ts";
import { DESCRIPTION, type Described, sourceFor } from "./described.ts";
import { type Moment, momentOf } from "./oracle.ts";
import { type CaseProgram, caseProgram } from "./program.ts";

export const newCounts = () => ({
  ...{ cases: 0, reviews: 0, updates: 0, refused: 0, failing: 0, inPart: 0, rows: 0, people: 0, writes: 0, replays: 0 },
  ...{ unchanged: 0, ended: 0 },
});
export type Counts = ReturnType<typeof newCounts>;

interface Case {
  place: Workplace;
  second: Workplace | undefined;
  program: Program;
  made: HandMade;
  random: Random;
  counts: Counts;
  /** the review is that of one who sees a part */
  inPart: NodeJS.ProcessEnv | undefined;
  flags: readonly string[];
  snapshots: number;
}

/** `plugin`: folder of the provider. Returns what is wrong. */
export const runCase = async (seed: number, plugin: string, counts: Counts): Promise<string[]> => {
  const random = createRandom(seed);
  const isNative = random.below(2) === 0;
  const place = await createWorkplace();
  const second = isNative && random.below(5) === 0 ? await createWorkplace() : undefined;
  try {
    const { organization } = place.server;
    const home = (await send(place, "POST", `${IAM}/groups/${organization}`, { name: "home" })).uid as string;
    const call = (method: string, path: string, body?: Json): Promise<Json> => send(place, method, path, body);
    const made = await makeByHand(random, { call, home, organization });
    const module = isNative ? "pulumi-irm/plugin" : "pulumi-irm";
    const env: Record<string, string> = second
      ? { SECOND_TOKEN: second.server.token, IRM_ALLOW_TOKEN_SOURCES: "SECOND_TOKEN" }
      : {};
    const program = await place.program("case", sourceFor(module), env, isNative ? { plugin } : {});
    const other = second && {
      organization: second.server.organization,
      provider: { baseUrl: second.server.baseUrl, authUrl: second.server.authUrl, tokenEnv: "SECOND_TOKEN" },
    };
    const programs = caseProgram(random, made, other);
    const flags = second ? ["--service", `${second.server.baseUrl}=SECOND_TOKEN`] : [];
    const inPart = !second && random.below(4) === 0 ? await readerOf(place, made, random) : undefined;
    const one: Case = { place, second, program, made, random, counts, inPart, flags, snapshots: 0 };
    return await story(one, programs);
  } finally {
    await Promise.all([place.close(), second?.close()]);
  }
};

const story = async (one: Case, programs: CaseProgram): Promise<string[]> => {
  const { random, program } = one;
  write(program, programs.change(2 + random.below(6)), programs.uids());
  const isReviewed = random.below(2) === 0;
  const problems = isReviewed ? (await reviewAndUpdate(one)).problems : [];
  if (!isReviewed) await update(program);
  await editByHand(one);
  write(program, programs.change(1 + random.below(5)), programs.uids());
  const last = await reviewAndUpdate(one);
  problems.push(...last.problems);
  if (last.goesThrough && one.inPart === undefined) {
    // The first update of an exclusive set removes nothing that it did not create (provider/set/plan.ts).
    if (JSON.stringify(programs.current()).includes('"exclusive":true')) await update(program);
    problems.push(...(await unchanged(one)));
  }
  return problems.map((text) => `${text}\n${JSON.stringify(programs.current())}`);
};

const write = (program: Program, described: Described, uids: Json | undefined): void => {
  writeFileSync(join(program.folder, DESCRIPTION), JSON.stringify(described));
  if (uids) writeFileSync(join(program.folder, "adopt.json"), JSON.stringify(uids));
};

const send = async (place: Workplace, method: string, path: string, body?: Json): Promise<Json> => {
  const { status, json } = await place.call(method, path, body);
  if (status >= 400) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`);
  return json;
};

/** As CI runs it (cli/ci-run.ts), and on with what does not depend on a step that failed, as the run of a review. */
const update = (program: Program) => program.run("up", "--yes", "--skip-preview", "--refresh", "--continue-on-error");

/** The environment of an identity that reads some of the organization, or some of the kinds. */
const readerOf = async (place: Workplace, made: HandMade, random: Random): Promise<NodeJS.ProcessEnv> => {
  const claimMatch = { issuer: place.server.issuer, subject: "reader" };
  const create = async (path: string, body: Json): Promise<string> =>
    (await send(place, "POST", `${IAM}/${path}`, body)).uid as string;
  const reader = await create(`identities/${made.organization}`, { name: "reader", claimMatch });
  const [viewer] = place.rows("roles", "name = 'viewer' AND parent IS NULL");
  const all = viewer?.body.capabilities as string[];
  const hidden = random.pick([
    "CAP_IAM_IDENTITY_PROVIDERS_LIST",
    "CAP_IAM_GROUP_INVITES_LIST",
    "CAP_IAM_ROLE_BINDINGS_LIST",
  ]);
  const isOfPlace = random.below(2) === 0;
  // Roles of the organization are named by all programs.
  const capabilities = isOfPlace ? ["CAP_IAM_ROLES_LIST"] : all.filter((name) => name !== hidden);
  const role = await create(`roles/${made.organization}`, { name: "some", capabilities });
  if (isOfPlace) await create(`roleBindings/${made.home}`, { identityUid: reader, roleUid: viewer?.uid });
  await create(`roleBindings/${made.organization}`, { identityUid: reader, roleUid: role });
  const file = join(place.folder, "reader-token");
  writeFileSync(file, await mintDevToken(place.server.issuer, { subject: "reader" }), { mode: 0o600 });
  return { IRM_IDENTITY: reader, IRM_IDENTITY_TOKEN_FILE: file };
};

/** What people do between two updates: they remove what the stack has made, and change and add other things. */
const editByHand = async ({ place, made, random }: Case): Promise<void> => {
  const uidOf = (table: string, where?: string): string | undefined => random.pick(place.rows(table, where))?.uid;
  const EDITS: (() => Promise<unknown> | undefined)[] = [
    () => remove("roleBindings", uidOf("role_bindings", "identity_uid NOT LIKE '%/%' = FALSE")),
    () => remove("identities", uidOf("identities", "name LIKE 'identity-%' OR name LIKE 'p-%'")),
    () => remove("externalGroupRoleMappings", uidOf("external_group_role_mappings")),
    () => remove("groupInvites", uidOf("group_invites")),
    () => {
      const uid = uidOf("roles", "parent IS NOT NULL");
      return (
        uid &&
        place.call("PATCH", `${IAM}/roles/${uid}?updateMask=capabilities`, { capabilities: someCapabilities(random) })
      );
    },
    () => {
      const uid = uidOf("identities", "relationship LIKE '%laim%' AND name <> 'owner' AND name <> 'reader'");
      return (
        uid && place.call("PATCH", `${IAM}/identities/${uid}?updateMask=claimMatch`, { claimMatch: someClaims(random) })
      );
    },
    () => {
      const body = { identityUid: random.pick(made.identities), roleUid: random.pick([...made.roles, made.viewer]) };
      return place.call("POST", `${IAM}/roleBindings/${uidOf("groups")}`, body);
    },
  ] as (() => Promise<unknown> | undefined)[];
  const remove = (collection: string, uid: string | undefined) =>
    uid === undefined ? undefined : place.call("DELETE", `${IAM}/${collection}/${uid}`);
  // What the API refuses is no edit.
  for (let left = random.below(4); left > 0; left -= 1) await random.pick(EDITS)();
};

const reviewAndUpdate = async (one: Case): Promise<{ problems: string[]; goesThrough: boolean }> => {
  const problems: string[] = [];
  return { problems, goesThrough: await reviewThenUpdate(one, problems) };
};

/** Adds what is wrong. Returns whether the update went through. */
const reviewThenUpdate = async (one: Case, problems: string[]): Promise<boolean> => {
  const { program, counts, inPart } = one;
  const reviewed = await review(one);
  const replayed = "report" in reviewed && inPart === undefined ? await replay(one, reviewed.report) : [];
  const before = momentsOf(one);
  await writesSent(one);
  const updated = await update(program);
  const after = momentsOf(one);
  try {
    if (!("report" in reviewed)) {
      counts.refused += 1;
      const isWhole = updated.code === 0 && inPart === undefined;
      if (isWhole) problems.push(`there is no review, and the update goes through: ${reviewed.problem}`);
      return false;
    }
    const { report, change } = reviewed;
    const failing = [
      ...report.steps.filter(({ ok }) => !ok).map(({ urn, error }) => `${urn}: ${error}`),
      ...report.errors,
    ];
    problems.push(...report.differs.map((differs) => `differs: ${JSON.stringify(differs)}`));
    const hasFailed = updated.code !== 0;
    // An engine that ends its program early says nothing of the review (https://github.com/pulumi/pulumi/issues/13616).
    if (updated.output.includes("Resource monitor is terminating")) {
      counts.ended += 1;
      return false;
    }
    if (failing.length > 0 !== hasFailed && inPart === undefined)
      problems.push(`the review: ${failing.join("\n") || "goes through"}\nthe update: ${updated.output}`);
    if (failing.length > 0 || hasFailed) {
      counts.failing += 1;
      return false;
    }
    const sent = (await writesSent(one)).flat();
    const names = resourceNames(program);
    const found = differences({ report, change, before, after, names, sent, isInPart: inPart !== undefined });
    problems.push(...replayed, ...found.problems);
    counts.rows += found.rows;
    counts.people += found.people;
    counts.writes += change.writes.length;
    counts[inPart ? "inPart" : "updates"] += 1;
    return true;
  } finally {
    for (const moment of [...before, ...after]) moment.close();
  }
};

const placesOf = ({ place, second }: Case): Workplace[] => (second ? [place, second] : [place]);

const momentsOf = (one: Case): Moment[] =>
  placesOf(one).map(({ folder }) => momentOf(join(folder, "irm.db"), join(folder, `moment-${++one.snapshots}.db`)));

/** Methods of the requests since the last time that changed something. */
const writesSent = (one: Case): Promise<string[][]> =>
  Promise.all(
    placesOf(one).map(async ({ server }) =>
      writesOf(await server.takeRequests()).flatMap(({ status, operation }) =>
        status < 300 ? [String(operation)] : [],
      ),
    ),
  );

/** By uid. */
const resourceNames = (program: Program): Map<string, string> =>
  new Map(
    program.state().resources.flatMap(({ id, urn }) => (id ? [[id, urn.split("::").at(-1) as string] as const] : [])),
  );

interface Reviewed {
  report: Report;
  change: Change;
}

const review = async (one: Case): Promise<Reviewed | { problem: string }> => {
  const { place, program, inPart, flags, counts } = one;
  const file = join(program.folder, "change.json");
  const as = inPart ? ["--as", place.server.identity] : [];
  const args = ["review", "--stack", "dev", "--format", "json", "--out", file, ...as, ...flags];
  const { code, stdout, stderr } = await irmIn({ ...program, env: { ...program.env, ...inPart } }, args);
  if (code !== 0 && code !== 3) return { problem: stderr };
  counts.reviews += 1;
  return { report: ReportShape.parse(JSON.parse(stdout)), change: readChange(file) };
};

const replay = async ({ program, flags, counts }: Case, reviewed: Report): Promise<string[]> => {
  if (reviewed.steps.some(({ ok }) => !ok) || reviewed.errors.length > 0) return [];
  const { code, stdout, stderr } = await irmIn(program, ["review", "change.json", "--format", "json", ...flags]);
  if (code !== 0 && code !== 3) return [`there is no replay: ${stderr}`];
  counts.replays += 1;
  const { steps, differs } = ReportShape.parse(JSON.parse(stdout));
  return [
    ...steps.flatMap(({ ok, op, error }) => (ok ? [] : [`replayed ${op}: ${error}`])),
    ...differs.map((row) => `replayed: ${JSON.stringify(row)}`),
  ];
};

const unchanged = async (one: Case): Promise<string[]> => {
  const again = await review(one);
  if (!("report" in again)) return [`the same program has no review: ${again.problem}`];
  one.counts.unchanged += 1;
  const { writes, steps, identities, people } = again.report;
  const rows = [...identities, ...people].flatMap(({ gains, losses }) => [...gains, ...losses]);
  if (writes + rows.length + steps.length === 0) return [];
  return [`the same program again: ${JSON.stringify({ steps, rows, writes: again.change.writes })}`];
};
