// One half of a replacement fails (docs/faults.md#f23).
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { KINDS } from "./judge.ts";
import { scenario } from "./scenario.ts";

describe.concurrent("F23: one half of a replacement fails", () => {
  test.each(KINDS)("a %s that cannot be created leaves the old one in place", (kind) =>
    scenario({
      kind,
      action: "replace",
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ status: 403 }] }] }),
      fails: "PERMISSION_DENIED",
      seen: async ({ testbed, uid }) => expect((await testbed.records()).has(uid("subject"))).toBe(true),
    }),
  );
  test.each(KINDS)("an old %s that cannot be deleted is deleted by the next run", (kind) =>
    scenario({
      kind,
      action: "replace",
      script: () => ({ rules: [{ operation: kindRecords[kind].operations.delete, steps: [{ status: 403 }] }] }),
      fails: "PERMISSION_DENIED",
      attempts: 1,
    }),
  );
});
