// A search through a list of several pages for the record of a lost response, whose page token expires
// between two pages (docs/internals/faults.md#f19).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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

const remove = (stage: Stage, uid: string) => stage.testbed.call("DELETE", `${IAM}/${pluralOf(stage)}/${uid}`);

const tokenFile = (folder: string): string => join(folder, "identity-token");

test.concurrent.each(everyKind())(
  "F19: the page token expires between two pages: the list restarts, and a $kind ($adapter) is found after others",
  (tried) =>
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
          rules: [{ operation: subject.operation, steps: [{ at: "after", reset: true }] }],
        });
        writeFileSync(tokenFile(testbed.folder), await testbed.mintToken());
        const engine = testbed.engine(STACK, {
          pageSize: PAGE_SIZE,
          env: { IRM_IDENTITY_TOKEN: "", IRM_IDENTITY_TOKEN_FILE: tokenFile(testbed.folder) },
        });
        const run = engine.start("up", subject.after, { point: "before send", of: "next page", nth: before });
        await run.paused;
        testbed.advanceClock(4 * DAY_MS);
        writeFileSync(tokenFile(testbed.folder), await testbed.mintToken());
        run.resume();
        const outcome = await run.outcome;
        await engine.end();
        expect(testbed.attempts(subject.operation)).toHaveLength(1);
        expect(testbed.attempts(subject.list)).toHaveLength(before + 5);
        // With a new token.
        await testbed.records();
        for (const uid of others) await remove(stage, uid);
        return outcome;
      },
    }),
);
