// What becomes of a record: faults 12, 17, 23 and 25 of docs/internals/faults.md.
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import type { OperationName } from "../../schema/index.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import { killAt, scenario } from "./scenario.ts";
import { subjectOf } from "./subject.ts";
import { ALL, acting, everyForm, everyKind, throughPlugin } from "./table.ts";

test.concurrent.each(everyForm())(
  "F12: a create succeeds, and the next step fails: a $kind ($adapter) is recorded with its uid and the reason",
  (tried) =>
    scenario({
      ...tried,
      action: "create",
      act: async (stage) => {
        // The run before was killed. This one adopts its record and changes it.
        const { testbed, engine, subject } = stage;
        const before = await testbed.records();
        await killAt("after reply")(stage);
        const adopt = [...(await testbed.records()).keys()].find((uid) => !before.has(uid)) as string;
        const { operations } = kindRecords[tried.kind];
        testbed.server.faults?.set({
          rules: [{ operation: operations.update as OperationName, steps: [{ status: 500 }] }],
        });
        const after = subjectOf(tried.kind, "update", testbed.home).after.map((one) =>
          one.name === "subject" ? { ...one, inputs: { ...one.inputs, adopt, deleteAdopted: true } } : one,
        );
        // The program of the runs that follow.
        subject.after = after;
        const outcome = await engine.run("up", after);
        expect(outcome.errors).toEqual([expect.stringContaining("500")]);
        expect(stage.uid("subject")).toMatch(/^[0-9a-f]{40}\//);
        expect(await engine.run("preview", after)).toEqual({ steps: ["update subject"], errors: [] });
        expect(testbed.attempts(subject.operation)).toEqual([]);
        return outcome;
      },
      fails: "500",
    }),
);

const cases = ["deleted", "changed"].flatMap((how, at) => everyForm(at).map((tried) => ({ ...tried, how })));

test.concurrent.each(cases)(
  "F17: a change by hand: a $kind ($adapter) that was $how by hand is restored as declared",
  ({ adapter, kind, how }) =>
    scenario({
      adapter,
      kind,
      action: "create",
      afterwards: ["refresh", "up"],
      act: async ({ testbed, engine, subject, uid }) => {
        const outcome = await engine.run("up", subject.after);
        const path = `${IAM}/${kindRecords[kind].list.plural}/${uid("subject")}`;
        const body =
          kind === "roleBinding" ? { roleUid: uid("what-else") } : { name: "renamed", description: "by hand" };
        if (how === "deleted") await testbed.call("DELETE", path);
        else await testbed.call("PATCH", `${path}?updateMask=${Object.keys(body).join(",")}`, body);
        return outcome;
      },
    }),
);

describe.concurrent("F23: one half of a replacement fails", () => {
  test.each(everyForm())("a $kind ($adapter) that cannot be created leaves the old one in place", (tried) =>
    scenario({
      ...tried,
      action: "replace",
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ status: 403 }] }] }),
      fails: "PERMISSION_DENIED",
      checkDuring: async ({ testbed, uid }) => expect((await testbed.records()).has(uid("subject"))).toBe(true),
    }),
  );
  test.each(everyKind())("an old $kind ($adapter) that cannot be deleted is deleted by the next run", (tried) =>
    scenario({
      ...tried,
      action: "replace",
      script: () => ({ rules: [{ operation: kindRecords[tried.kind].operations.delete, steps: [{ status: 403 }] }] }),
      fails: "PERMISSION_DENIED",
      attempts: 1,
    }),
  );
});

const addedMembers = { futureField: "new", futureKind: "KIND_FUTURE", kind: "GROUP_KIND_FUTURE" };

test.concurrent.each([...acting([...ALL, "replace"]), ...throughPlugin(["update"])])(
  "F25: a newer service: $action of a $kind ($adapter) with unknown fields",
  (tried) =>
    scenario({
      ...tried,
      child: { addedMembers },
      checkAfter: async ({ engine, subject }) => {
        expect(await engine.run("refresh")).toMatchObject({ errors: [] });
        expect(await engine.run("preview", subject.after)).toEqual({ steps: [], errors: [] });
      },
    }),
);
