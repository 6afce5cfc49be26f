// One half of a replacement fails (docs/faults.md#f23).
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { scenario } from "./scenario.ts";
import { everyForm, everyKind } from "./table.ts";

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
