// The service returns unknown fields and enum values (docs/faults.md#f25).
import { expect, test } from "vitest";
import { scenario } from "./scenario.ts";
import { ALL, acting, throughPlugin } from "./table.ts";

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
