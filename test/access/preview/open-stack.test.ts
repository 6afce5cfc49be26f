// A preview of a stack that a killed run without checkpoints left open (docs/recovery.md#open-stack): what a review says of it.
import { describe, expect, test } from "vitest";
import { openStackText, undeclaredText } from "../../../client/preview-marks.ts";
import { ROOT } from "../graphs.ts";
import { changed, reviewFrom } from "./fixture.ts";
import { liveWith, TEAM } from "./team.ts";

const OPEN = openStackText("organization/access/dev", "a run without checkpoints did not end");
const DELETES = undeclaredText("deletes", ["Group::new: group 7209…"]);

const inputs = { name: "team", parent: ROOT };
const preview = (...messages: string[]) => ({
  steps: [changed("same", "Group", "team", TEAM, { old: inputs, new: inputs })],
  diagnostics: messages.map((message) => ({ message: `${message}\n`, severity: "info#err" })),
  changeSummary: {},
});

describe("an open stack", () => {
  test("is no empty review: its lines stand in what is not known", () => {
    const { unknown } = reviewFrom(preview(OPEN, DELETES, "Group team changes:"), liveWith()).report;
    expect(unknown.map(({ message }) => message)).toEqual([OPEN, DELETES, expect.stringContaining("--refresh")]);
    expect(reviewFrom(preview(), liveWith()).report.unknown).toHaveLength(1);
  });
});
