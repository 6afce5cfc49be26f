// Compares what is there with what the program declares, without the provider and without the engine's state: each resource has one record
// with these fields, in its group, and the home group holds nothing else of ours.
import { type Json, parentOf } from "../../schema/index.ts";
import type { Foreign } from "../faults/judge.ts";
import type { LiveRecord } from "../harness/small-engine/owner.ts";
import { type Declared, type Program, refsIn } from "../harness/small-engine/program.ts";
import type { Testbed } from "../harness/small-engine/testbed.ts";

export const compareLiveAccess = async (
  testbed: Pick<Testbed, "records" | "home">,
  program: Program,
  foreign: Foreign,
): Promise<string[]> => {
  const records = await testbed.records();
  const left = new Set([...records.values()].filter(({ uid }) => !foreign.has(uid)));
  const found = new Map<string, string>();
  const problems: string[] = [];
  const uidOf = (value: unknown): string => {
    const [name] = refsIn(value);
    return name === undefined ? String(value) : (found.get(name) ?? `the uid of ${name}`);
  };
  const take = (declared: string, matches: (record: LiveRecord) => boolean): string | undefined => {
    const record = [...left].find(matches);
    if (!record) problems.push(`${declared} is declared, and no record is like it`);
    else left.delete(record);
    return record?.uid;
  };
  const bind = (declared: string, group: string, identity: string, role: string): void =>
    void take(
      declared,
      (record) =>
        parentOf(record.uid) === group && partOf(record, "identity") === identity && partOf(record, "role") === role,
    );
  for (const { name, kind, inputs } of inOrder(program)) {
    const group = uidOf(inputs.parent);
    if (kind === "roleBinding") bind(name, group, uidOf(inputs.identity), uidOf(inputs.role));
    else if (kind === "roleBindingSet")
      for (const pair of inputs.bindings as Json[])
        bind(`${name}: ${refsIn(pair).join(" as ")}`, group, uidOf(pair.identity), uidOf(pair.role));
    else {
      const uid = take(name, (record) => parentOf(record.uid) === group && isLike(record, kind, inputs));
      if (uid !== undefined) found.set(name, uid);
    }
  }
  return [...problems, ...[...left].map(({ uid }) => `${uid} exists, and nothing declares it`)];
};

/** Each after those that it refers to. */
const inOrder = (program: Program): Declared[] => {
  const done = new Set<string>();
  const ordered: Declared[] = [];
  for (let open = [...program]; open.length > 0; ) {
    const next = open.filter(({ inputs }) => refsIn(inputs).every((name) => done.has(name)));
    for (const one of next) done.add(one.name);
    ordered.push(...next);
    open = open.filter((one) => !next.includes(one));
  }
  return ordered;
};

const partOf = (record: LiveRecord, part: "identity" | "role"): unknown =>
  (record[part] as Json | undefined)?.uid ?? record[`${part}Uid`];

const KINDS = { group: ["description"], identity: ["description", "claimMatch"], role: ["description"] } as const;

const isLike = (record: LiveRecord, kind: Declared["kind"], inputs: Json): boolean => {
  if (partOf(record, "identity") !== undefined || isKind(record) !== kind || record.name !== inputs.name) return false;
  const fields = KINDS[kind as keyof typeof KINDS];
  if (fields.some((field) => JSON.stringify(record[field] ?? "") !== JSON.stringify(inputs[field] ?? ""))) return false;
  return kind !== "role" || sorted(record.capabilities) === sorted(inputs.capabilities);
};

const isKind = (record: LiveRecord): string =>
  record.capabilities !== undefined ? "role" : record.claimMatch !== undefined ? "identity" : "group";

const sorted = (capabilities: unknown): string => (capabilities as string[]).toSorted().join();
