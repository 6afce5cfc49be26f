// What the steps of a run mean: failures, what they lack, and what did not run.
import { describe, expect, test } from "vitest";
import { newGraph } from "../../access/graph/graph.ts";
import { type OutcomeInput, outcomeOf } from "../../cli/run/outcome.ts";
import type { Twin } from "../../cli/twin/twin.ts";
import { parsePreview } from "../../pulumi/preview.ts";

const ORG = "a".repeat(40);
const TEAM = `${ORG}/${"b".repeat(16)}`;
const BOT = `${TEAM}/${"c".repeat(16)}`;
const urnOf = (type: string, name: string) => `urn:pulumi:dev::acme::${type}::${name}`;
const [group, bot, binding] = (["Group", "Identity", "RoleBinding"] as const).map((type) =>
  urnOf(`irm:index:${type}`, type.toLowerCase()),
) as [string, string, string];
const bucket = urnOf("aws:s3/bucket:Bucket", "bucket");

const stepOf = (op: string, urn: string, more: { id?: string; on?: string[]; parent?: string } = {}) => {
  const type = urn.split("::")[2];
  const state = { urn, type, id: more.id, inputs: { parent: more.parent ?? ORG }, dependencies: more.on ?? [] };
  return { op, urn, ...(op === "delete" ? { oldState: state } : { newState: state, oldState: more.id && state }) };
};

const outcome = (planned: object[], more: Partial<OutcomeInput> = {}) => {
  const before = newGraph();
  before.groups.set(ORG, { id: ORG, uid: ORG, name: "acme", parent: null });
  before.groups.set(TEAM, { id: TEAM, uid: TEAM, name: "team", parent: ORG });
  const copy = { records: { groups: [{ uid: ORG }, { uid: TEAM }] } };
  return outcomeOf({
    ...{ preview: parsePreview(JSON.stringify({ steps: planned }), "test"), before },
    ...{ steps: [], settled: new Set<string>(), errors: [], leftOut: [], twins: [{ copy } as unknown as Twin] },
    ...more,
  });
};

const failed = (urn: string, op = "create") => ({ urn, op, ok: false, error: "no" });

describe("the outcome of a run", () => {
  test("names what is missing in the group that holds the record which the API names", () => {
    const error = `UpdateIdentity identity ${BOT}: Permission denied: needs identity.update, identity.list at ${BOT}`;
    const { steps } = outcome([stepOf("update", bot, { id: BOT })], {
      steps: [{ urn: bot, op: "update", ok: false, error }],
    });
    const missing = { capabilities: ["identity.update", "identity.list"], group: TEAM, groupName: "team" };
    expect(steps).toEqual([{ urn: bot, op: "update", ok: false, error, missing }]);
  });

  test("leaves out what an engine says of a resource whose check it no longer waits for", () => {
    const text = "aws:s3/bucket:Bucket resource 'bucket' has a problem: ";
    const errors = [`${text}grpc: the client connection is closing`, `${text}no such region`];
    expect(outcome([], { errors }).errors).toEqual([errors[1]]);
  });

  test("says of a step that did not run which failure it waited for", () => {
    const planned = [
      stepOf("create", group),
      stepOf("create", bot, { on: [group] }),
      stepOf("create", binding, { on: [bot] }),
    ];
    const { steps } = outcome(planned, { steps: [failed(group)] });
    expect(steps.map(({ ok, error }) => [ok, error])).toEqual([
      [false, "no"],
      [false, "it did not run, since group failed"],
      [false, "it did not run, since group failed"],
    ]);
  });

  test("names each failure that a step waited for, of many the first five, and of a deletion what depends on it", () => {
    const groups = [1, 2, 3, 4, 5, 6, 7].map((n) => urnOf("irm:index:Group", `g${n}`));
    const errorOf = (on: string[]) => {
      const planned = [...groups.map((urn) => stepOf("create", urn)), stepOf("create", bot, { on })];
      return outcome(planned, { steps: groups.map((urn) => failed(urn)) }).steps.at(-1)?.error;
    };
    expect(errorOf(groups.slice(1, 2))).toBe("it did not run, since g2 failed");
    expect(errorOf(groups.slice(1, 4))).toBe("it did not run, since g2, g3 and g4 failed");
    expect(errorOf(groups)).toBe("it did not run, since g1, g2, g3, g4, g5 and 2 more failed");
    const deleted = [
      stepOf("create", group),
      stepOf("delete", binding, { id: `${TEAM}/${"d".repeat(16)}`, on: [bot] }),
      stepOf("delete", bot, { id: BOT }),
    ];
    const { steps } = outcome(deleted, { steps: [failed(group), failed(binding, "delete")] });
    expect(steps.at(-1)?.error).toBe("it did not run, since rolebinding failed");
  });

  test("takes a planned change for done where the engine found that there is none", () => {
    const planned = [stepOf("update", bot, { id: BOT })];
    expect(outcome(planned, { settled: new Set([bot]) }).steps).toEqual([]);
    const undone = { urn: bot, op: "update", ok: false };
    const error = "it did not run: in its update, the program does not declare it";
    expect(outcome(planned).steps).toEqual([{ ...undone, error }]);
    // The program may have ended before.
    expect(outcome(planned, { errors: ["an error"] }).steps).toEqual([{ ...undone, error: "it did not run" }]);
    // What the engine has kept, it has not deleted.
    for (const settled of [new Set<string>(), new Set([bot])]) {
      const [deleted] = outcome([stepOf("delete", bot, { id: BOT })], { settled }).steps;
      expect(deleted?.error).toBe("it did not run: in its update, the program still declares it");
    }
  });

  test("counts what waits for a change of another provider as not run, in either direction", () => {
    const why = "it waits for bucket, which another provider changes";
    const created = [
      stepOf("create", bucket),
      stepOf("create", group, { on: [bucket] }),
      stepOf("create", bot, { on: [group] }),
    ];
    const refusal = { urn: bucket, op: "create", ok: false, error: "a review does not run other providers" };
    expect(outcome(created, { steps: [refusal] })).toMatchObject({
      ...{ steps: [], others: [{ urn: bucket, op: "create" }] },
      notRun: [group, bot].map((urn) => ({ urn, op: "create", why })),
    });
    // What depends on a resource is deleted before it.
    const deleted = [stepOf("delete", bucket, { id: "b", on: [group] }), stepOf("delete", group, { id: TEAM })];
    expect(outcome(deleted, { steps: [{ ...refusal, op: "delete" }] }).notRun).toEqual([
      { urn: group, op: "delete", why },
    ]);
  });

  test("does not count what ran, or was skipped, although it waits for a read that was refused", () => {
    const read = { urn: bucket, op: "read", ok: false, error: "a review does not run other providers" };
    const planned = [stepOf("create", group, { on: [bucket] }), stepOf("create", bot, { on: [group] })];
    const text = "irm:index:Group resource 'group': property name value {<nil>} has a problem: must be set";
    const ran = [read, { urn: bot, op: "create", ok: true }];
    const { steps, notRun, errors } = outcome(planned, { steps: ran, settled: new Set([group]), errors: [text] });
    const why = "it waits for bucket, which another provider reads";
    expect([steps, errors]).toEqual([[], []]);
    expect(notRun).toEqual([bot, group].map((urn) => ({ urn, op: "create", why })));
  });

  test("leaves out what the SDK repeats of a failed step, and keeps an error of the program", () => {
    const repeated = "Error: resource group [irm:index:Group] failed to register";
    const own = "Error: resource other [irm:index:Group] failed to register";
    const { errors } = outcome([stepOf("create", group)], {
      steps: [failed(group)],
      errors: [repeated, own, "a review does not run other providers: nothing was read"],
    });
    expect(errors).toEqual([own]);
  });

  test("leaves out what the engine says of values that a failed step would have given", () => {
    const of = (name: string, value: string) =>
      `irm:index:RoleBinding resource '${name}': property role value ${value} has a problem: must be a uid`;
    const planned = [stepOf("create", group), stepOf("create", binding, { on: [group] })];
    const kept = [of("rolebinding", "{nonsense}"), of("another", "output<string>{}")];
    const left = ["output<string>{}", "{map[role:output<string>{}]}"].map((value) => of("rolebinding", value));
    const { errors } = outcome(planned, { steps: [failed(group)], errors: [...left, ...kept] });
    expect(errors).toEqual(kept);
  });
});
