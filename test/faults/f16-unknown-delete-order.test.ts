// The engine deletes in an impossible order (docs/faults.md#f16).
import { expect, test } from "vitest";
import { scenario } from "./scenario.ts";
import { everyKind } from "./table.ts";

test.concurrent.each(everyKind())(
  "F16: an order of deletes that the engine does not know: a $kind ($adapter) with plain uids is deleted before its parent and its references",
  (tried) =>
    scenario({
      ...tried,
      action: "create",
      checkAfter: async ({ testbed, engine, subject, uid }) => {
        const literal = subject.after.map((one) => ({
          ...one,
          inputs: Object.fromEntries(
            Object.entries(one.inputs).map(([name, value]) => {
              const target = (value as { ref?: string } | null)?.ref;
              return [name, target === undefined ? value : uid(target)];
            }),
          ),
        }));
        expect(await engine.run("up", literal)).toEqual({ steps: [], errors: [] });
        testbed.server.faults?.clear();
        expect(await engine.run("destroy")).toMatchObject({ errors: [] });
        expect(await engine.run("up", subject.after)).toMatchObject({ errors: [] });
      },
    }),
);
