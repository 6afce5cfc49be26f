// "Nothing lost" (docs/internals/faults.md#nothing-lost): L1 to L7, as texts of problems. Compares the server's records with the state,
// with the program, and with the records that existed before any of ours.
import { isDeepStrictEqual } from "node:util";
import { parentOf } from "../../schema/index.ts";
import type { LiveRecord } from "../harness/small-engine/owner.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import { readState, type Stored } from "../harness/small-engine/state.ts";
import type { Testbed } from "../harness/small-engine/testbed.ts";

export type Foreign = Map<string, LiveRecord>;

/** The part of a testbed that a judge needs. */
export type Judging = Pick<Testbed, "records" | "stateFile" | "texts" | "tokens">;

/** uids of the records that a resource manages. */
export const uidsOf = ({ kind, id, outputs }: Stored): string[] =>
  kind === "roleBindingSet" ? (outputs.bindings as { uid: string }[]).map(({ uid }) => uid) : [id];

const twice = (uids: readonly string[]): string[] => uids.filter((uid, at) => uids.indexOf(uid) !== at);

const changeless = ({ lastSeenTime: _, updateTime: __, ...record }: LiveRecord) => record;

/** After the last `up`: uids that leaked (L1), names that are lost (L2) or there twice (L3), and L1 to L5 and L7 as texts. */
export const judge = async (testbed: Judging, name: string, engine: Engine, program: Program, foreign: Foreign) => {
  const live = await testbed.records();
  const { resources } = readState(testbed.stateFile(name));
  const ours = [...live.values()].filter(({ uid }) => !foreign.has(uid) && !isOwnersOfRoot(uid, live));
  // A line that names the ends of a role binding does not report a lost record.
  const reported = engine.messages.filter((line) => !/^RoleBinding(Set)? /.test(line)).join("\n");
  const inState = new Set(resources.flatMap(uidsOf));
  const leaked = ours.filter(({ uid }) => !inState.has(uid) && !reported.includes(uid)).map(({ uid }) => uid);
  const lost = resources.filter((one) => !uidsOf(one).every((uid) => live.has(uid))).map((one) => one.name);
  const duplicated = [
    ...ours.filter(({ uid }) => !inState.has(uid)).map(({ uid }) => uid),
    ...twice(resources.flatMap(uidsOf)),
    ...resources.filter((one) => one.delete).map((one) => one.name),
  ];
  const undeclared = resources.filter((one) => !program.some((declared) => declared.name === one.name));
  const missing = program.filter((declared) => !resources.some((one) => one.name === declared.name));
  const preview = await engine.run("preview", program);
  const problems = [
    ...leaked.map((uid) => `L1: ${uid} exists, and neither state nor output has it`),
    ...lost.map((one) => `L2: ${one} is in the state and does not exist`),
    ...duplicated.map((one) => `L3: ${one} is one too many`),
    ...undeclared.map((one) => `L3: ${one.name} is in the state and not declared`),
    ...missing.map((one) => `L3: ${one.name} is declared and not in the state`),
    ...changedForeign(foreign, live).map((text) => `L4: ${text}`),
    ...[...preview.steps, ...preview.errors].map((text) => `L5: the last preview says: ${text}`),
    ...secretsIn(testbed, engine),
  ];
  return { leaked, lost, duplicated, problems };
};

/** After `destroy`: L4 and L6. */
export const judgeDestroyed = async (testbed: Judging, name: string, foreign: Foreign): Promise<string[]> => {
  const live = await testbed.records();
  const { resources } = readState(testbed.stateFile(name));
  return [
    ...[...live.keys()].filter((uid) => !foreign.has(uid)).map((uid) => `L6: ${uid} is left after destroy`),
    ...resources.map((one) => `L6: ${one.name} is left in the state`),
    ...changedForeign(foreign, live).map((text) => `L4: ${text}`),
  ];
};

const changedForeign = (foreign: Foreign, live: Map<string, LiveRecord>): string[] =>
  [...foreign].flatMap(([uid, before]) => {
    const now = live.get(uid);
    if (!now) return [`${uid} is not ours and is gone`];
    return isDeepStrictEqual(changeless(now), changeless(before)) ? [] : [`${uid} is not ours and was changed`];
  });

// The service binds the creator of an organization to it.
const isOwnersOfRoot = (uid: string, live: Map<string, LiveRecord>): boolean => {
  const record = live.get(uid) as LiveRecord;
  const isBinding = "identityUid" in record || "identity" in record;
  const role = (record.role as { name?: string } | undefined)?.name;
  return isBinding && role === "owner" && parentOf(parentOf(uid)) === "";
};

const secretsIn = (testbed: Judging, engine: Engine): string[] => {
  const texts = [...testbed.texts(), engine.text()];
  const secrets = [...new Set(testbed.tokens)].filter((token) => texts.some((text) => text.includes(token)));
  const bearers = texts.filter((text) => /eyJ[\w-]{20,}\.eyJ/.test(text));
  return [...secrets, ...bearers].map(() => "L7: a token is in a log, a state or a journal");
};

/**
 * The kinds that every fault is tried on (docs/internals/faults.md): one that holds others, one with a nested field, and one that
 * refers to others. Special cases of other kinds have separate rows. `npm run soak:provider` tries
 * roles too: the same steps create, change and delete them as groups.
 */
export const KINDS = ["group", "identity", "roleBinding"] as const;
