// A foreign record blocks a delete (docs/internals/faults.md#f15).
import { expect, test } from "vitest";
import type { Json } from "../../schema/index.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import { type Stage, scenario } from "./scenario.ts";

const foreignIn: Record<"group" | "identity" | "role", (stage: Stage) => Promise<[string, Json]>> = {
  group: async ({ uid }) => [`groups/${uid("subject")}`, { name: "not-ours" }],
  identity: async ({ testbed, uid }) => [
    `roleBindings/${testbed.home}`,
    { identityUid: uid("subject"), roleUid: testbed.foreign.role },
  ],
  role: async ({ testbed, uid }) => [
    `roleBindings/${uid("team")}`,
    { identityUid: testbed.foreign.identity, roleUid: uid("subject") },
  ],
};
const kinds = ["group", "identity", "role"] as const;

test.concurrent.each(kinds.map((kind) => ({ adapter: "dynamic" as const, kind })))(
  "F15: a foreign record holds it: the delete of a $kind fails with the violation, and the record stays",
  (tried) => {
    let foreign: Json;
    return scenario({
      ...tried,
      action: "delete",
      act: async (stage) => {
        const { testbed, engine, subject } = stage;
        const [path, body] = await foreignIn[tried.kind](stage);
        foreign = await testbed.call("POST", `${IAM}/${path}`, body);
        return engine.run("up", subject.after);
      },
      fails: "FAILED_PRECONDITION",
      checkDuring: async ({ testbed, uid }, outcome) => {
        expect(outcome?.errors.join()).toContain(foreign.uid as string);
        const live = await testbed.records();
        expect([...live.keys()]).toEqual(expect.arrayContaining([foreign.uid, uid("subject")]));
        const path = `name` in foreign ? "groups" : "roleBindings";
        await testbed.call("DELETE", `${IAM}/${path}/${foreign.uid}`);
      },
    });
  },
);
