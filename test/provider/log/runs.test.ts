import { describe, expect, it } from "vitest";
import { contentsFrom, textFrom } from "../../../provider/log/entries.ts";

const PARENT = "720909c9f5279097d847ad02a2f24ba8f59de36a";
const uid = (digit: string) => `${PARENT}/${digit.repeat(16)}`;
const text = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const began = { began: "r", stack: "o/p/s", at: 1, clock: 2, host: "h", pid: 3, start: "4" };
const intent = (id: string, run?: string) => ({
  ...{
    intent: id,
    key: `o/p/s/Group::${id}`,
    kind: "group",
    parent: PARENT,
    inputs: "print",
    given: [],
    at: 5,
    notBefore: 5,
  },
  ...(run !== undefined && { run }),
});
const wrote = {
  wrote: uid("a"),
  kind: "group",
  key: "o/p/s/Group::a",
  at: 6,
  clock: 7,
  run: "r",
  to: "print",
  given: [],
};

describe("the journal of a run without checkpoints", () => {
  it("has the run, its creates, and of each record the last write", () => {
    const { entries, runs, invalid } = contentsFrom(
      text(
        began,
        intent("i", "r"),
        wrote,
        { done: uid("a"), kind: "group" },
        { ...wrote, to: "other", clock: 8 },
        { ending: "r", clock: 9 },
      ),
    );
    expect(invalid).toEqual([]);
    expect([...runs.byId.values()]).toEqual([{ ...began, ending: 9 }]);
    expect([...entries.values()].map(({ run }) => run)).toEqual(["r"]);
    expect([...runs.writes.values()]).toEqual([{ ...wrote, to: "other", clock: 8 }]);
  });

  it("is the same after compaction", () => {
    const written = text(
      ...[began, { ending: "r", clock: 9 }, { judged: "r", as: "unclear" }, wrote, { done: uid("a"), kind: "group" }],
      ...[intent("i", "r"), { made: "i", uid: uid("b"), at: 5 }, { left: "i" }],
    );
    const { entries, runs } = contentsFrom(written);
    expect(textFrom({ entries: entries.values(), runs })).toBe(written);
  });

  it("ends with the run: what else it created is like the creates of any other run, and what is left goes", () => {
    const { entries, runs } = contentsFrom(
      text(began, intent("i", "r"), intent("j", "r"), { made: "j", uid: uid("b"), at: 5 }, { left: "j" }, wrote, {
        ended: "r",
      }),
    );
    expect([...entries.values()]).toEqual([intent("i")]);
    expect(runs.byId.size + runs.writes.size).toBe(0);
  });

  it("shows a write no more once the state has the record as it is", () => {
    const { runs } = contentsFrom(text(began, wrote, { settled: uid("a"), kind: "group" }));
    expect(runs.writes.size).toBe(0);
  });
});
