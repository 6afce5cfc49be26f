import { expect, it } from "vitest";
import { findingsOf } from "../../../provider/attribution/stack.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { contentsFrom } from "../../../provider/log/entries.ts";
import { fingerprintOf } from "../../../provider/record/desired.ts";
import { TOKEN_PREFIX } from "../../../provider/record/kind.ts";
import type { OpenRuns } from "../../../provider/run/write-ahead.ts";
import type { EngineState } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";

const PARENT = "720909c9f5279097d847ad02a2f24ba8f59de36a";
const uid = (digit: string) => `${PARENT}/${digit.repeat(16)}`;

const BEGAN = { began: "r", stack: "o/p/s", at: 1, clock: 1_000, host: "h", pid: 3, start: "4" };
const ENDING = { ...BEGAN, ending: 2_000 };
const intent = {
  key: "o/p/s/Group::a",
  kind: "group",
  parent: PARENT,
  inputs: "print",
  given: [],
  at: 5,
  notBefore: 5,
  run: "r",
};
const created = (digit: string) => [{ ...intent, intent: digit, uid: uid(digit) }];
const print = (fields: Json) => fingerprintOf(kindRecords.group, PARENT, fields, []);
const wrote = (digit: string, to?: Json, run: string | null = "r") => ({
  ...{ wrote: uid(digit), kind: "group", key: "o/p/s/Group::a", at: 6, clock: 1_500 },
  ...(run !== null && { run }),
  ...(to && { to: print(to), given: [] }),
});
const openWith = (...lines: object[]): OpenRuns =>
  contentsFrom(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

const stateOf = (savedMs: number, records: Record<string, Json> = {}): EngineState => ({
  pending: [],
  savedAt: new Date(savedMs).toISOString(),
  resources: Object.entries(records).map(([digit, outputs]) => {
    const type = `${TOKEN_PREFIX}Group`;
    return { urn: `urn:pulumi:s::p::${type}::${digit}`, type, id: uid(digit), custom: true, inputs: {}, outputs };
  }),
});

const [OLD, NEW] = [
  { name: "a", description: "old" },
  { name: "a", description: "new" },
];
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "x" };
const HIDDEN = stateOf(2_000, { a: { ...NEW, name: SECRET } });

const [A, B] = [created("a"), created("b")];
const SAVED = stateOf(3_000, { a: NEW });

it.each<[string, object[], EngineState | undefined, number, string]>([
  ["lost", A, stateOf(500), 1, "killed before it saved: its create belongs to nobody"],
  ["lost", A, stateOf(9_000), 1, "killed, and another run has saved since: the state has nothing of it"],
  ["saved", [...A, ENDING], SAVED, 0, "ended: the state has its create"],
  ["saved", A, SAVED, 0, "ended, and said nothing: the state has all of its creates"],
  ["unclear", [...A, ...B], SAVED, 1, "of which the plugin alone died: one is missing"],
  ["saved", [...A, ...B, ENDING], SAVED, 0, "after which a person removed one: not its"],
  ["unclear", [...A, ENDING], stateOf(3_000), 1, "whose stack was removed: a person has to say"],
  ["saved", [wrote("a", NEW), ENDING], SAVED, 0, "that only updated: the state shows the update"],
  ["unclear", [wrote("a", NEW), ENDING], stateOf(3_000, { a: OLD }), 0, "that updated, and the state is another"],
  ["unclear", [wrote("a", NEW), ENDING], stateOf(1_900, { a: OLD }), 0, "whose engine died while it saved"],
  ["saved", [wrote("a"), ENDING], stateOf(3_000), 0, "that only deleted: the state lacks the record"],
  ["unclear", A, undefined, 1, "of a stack whose state cannot be read: nothing is known"],
  [
    "lost",
    [...A, { ...BEGAN, judged: "lost" }],
    stateOf(9_000, { a: NEW }),
    0,
    "of which that is known: taken over since",
  ],
])("a run without checkpoints is %s: %#", (verdict, lines, state, leftovers, _why) => {
  const findings = findingsOf(openWith(BEGAN, ...lines), state);
  expect([...findings.verdicts.values()]).toEqual([verdict]);
  expect(findings.leftovers).toHaveLength(leftovers);
});

it.each<[boolean, object[], EngineState, string]>([
  [true, [wrote("a", NEW)], stateOf(500, { a: OLD }), "of a lost run"],
  [true, [wrote("a", OLD)], stateOf(500, { a: OLD }), "of a lost run that changed a secret alone"],
  [true, [wrote("a")], stateOf(500, { a: OLD }), "of a lost run that deleted the record"],
  [false, [wrote("a", NEW)], stateOf(500), "of a record that is in no state: it is in no plan"],
  [false, [wrote("a", NEW, null)], stateOf(2_000, { a: NEW }), "of a later run, which the state shows"],
  [true, [wrote("a", NEW, null)], stateOf(2_000, { a: OLD }), "of a later run, which the state does not show"],
  [true, [wrote("a", NEW, null)], stateOf(1_200, { a: NEW }), "of a later run that the engine has not saved yet"],
  [false, [wrote("a", NEW, null)], HIDDEN, "that is encrypted, and saved since"],
])("a write is open: %s, %#", (isOpen, lines, state, _why) => {
  const { touched, shown } = findingsOf(openWith(BEGAN, ...lines), state);
  expect([touched.length, shown.length]).toEqual(isOpen ? [1, 0] : [0, 1]);
});
