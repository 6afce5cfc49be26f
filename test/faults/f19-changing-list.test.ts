// A search through a list of several pages for the record of a lost response, with a change between two pages
// (docs/faults.md#f19).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import type { Json } from "../../schema/index.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import { STACK, type Stage, scenario } from "./scenario.ts";
import { everyKind } from "./table.ts";

const OTHERS = 7;
const PAGE_SIZE = 3;
const DAY_MS = 86_400_000;

const pluralOf = ({ subject }: Stage): string => kindRecords[subject.kind].list.plural;

/** Foreign records that the list returns with the subject: with its name, but other fields. */
const otherOf = ({ subject, uid }: Stage): Json => {
  const named = { name: "subject", description: "another" };
  switch (subject.kind) {
    case "group":
      return named;
    case "identity":
      return { ...named, claimMatch: { issuer: "https://issuer.example.com", subject: "another" } };
    // An equal record: only its age differs from ours.
    case "roleBinding":
      return { identityUid: uid("who"), roleUid: uid("what") };
    default:
      throw new Error(`no records of others for a ${subject.kind}`);
  }
};

const madeBeside = async (stage: Stage, count: number): Promise<string[]> => {
  const { testbed, uid } = stage;
  const path = `${IAM}/${pluralOf(stage)}/${uid("team")}`;
  const made: string[] = [];
  for (let at = 0; at < count; at += 1) made.push((await testbed.call("POST", path, otherOf(stage))).uid as string);
  return made;
};

const countBeside = async (stage: Stage): Promise<number> => {
  const query = new URLSearchParams({ "uidp.childrenOf": stage.uid("team"), pageSize: "1" });
  return Number((await stage.testbed.call("GET", `${IAM}/${pluralOf(stage)}?${query}`)).totalCount);
};

type Row = [
  what: string,
  why: string,
  /** of the first page */
  steps: { reset?: true }[],
  between: (stage: Stage, others: string[]) => Promise<void>,
  /** pages that are requested after the POST */
  pages: number,
];

const remove = (stage: Stage, uid: string) => stage.testbed.call("DELETE", `${IAM}/${pluralOf(stage)}/${uid}`);

const tokenFile = (folder: string): string => join(folder, "identity-token");

const removeFirstPage = async (stage: Stage, others: string[]): Promise<void> => {
  const plural = pluralOf(stage);
  const query = new URLSearchParams({ "uidp.childrenOf": stage.uid("team"), pageSize: `${PAGE_SIZE}` });
  const first = (await stage.testbed.call("GET", `${IAM}/${plural}?${query}`))[plural] as { uid: string }[];
  for (const { uid } of first) {
    const at = others.indexOf(uid);
    if (at >= 0) await remove(stage, others.splice(at, 1)[0] as string);
  }
};

const expire = async ({ testbed }: Stage): Promise<void> => {
  testbed.advanceClock(4 * DAY_MS);
  writeFileSync(tokenFile(testbed.folder), await testbed.mintToken());
};

const ROWS: Row[] = [
  ["a page fails", "it is requested again", [{}, { reset: true }], async () => undefined, 4],
  // One of the pages is what this test requests.
  ["rows of the first page are deleted", "no row of the next page is skipped", [{}], removeFirstPage, 4],
  ["the page token expires", "the list restarts", [{}], expire, 5],
];

describe.concurrent.each(ROWS)("F19: %s between two pages: %s", (_what, _why, steps, between, pages) => {
  test.each(everyKind())("a $kind ($adapter) is found after others", (tried) =>
    scenario({
      ...tried,
      action: "create",
      act: async (stage) => {
        const { testbed, subject } = stage;
        const others = await madeBeside(stage, OTHERS);
        // Older than the journal entry by more than clocks may differ.
        testbed.advanceClock(10_000);
        // Existing records are listed before the POST, page by page.
        const before = Math.ceil((await countBeside(stage)) / PAGE_SIZE);
        testbed.server.faults?.set({
          rules: [
            { operation: subject.operation, steps: [{ at: "after", reset: true }] },
            { operation: subject.list, steps: [...Array.from({ length: before }, () => ({})), ...steps] },
          ],
        });
        writeFileSync(tokenFile(testbed.folder), await testbed.mintToken());
        const engine = testbed.engine(STACK, {
          pageSize: PAGE_SIZE,
          env: { IRM_IDENTITY_TOKEN: "", IRM_IDENTITY_TOKEN_FILE: tokenFile(testbed.folder) },
        });
        const run = engine.start("up", subject.after, { point: "before send", of: "next page", nth: before });
        await run.paused;
        await between(stage, others);
        run.resume();
        const outcome = await run.outcome;
        await engine.end();
        expect(testbed.attempts(subject.operation)).toHaveLength(1);
        expect(testbed.attempts(subject.list)).toHaveLength(before + pages);
        // With a new token.
        await testbed.records();
        for (const uid of others) await remove(stage, uid);
        return outcome;
      },
    }),
  );
});
