// A person deletes or changes a record by hand (docs/faults.md#f17).
import { test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import { scenario } from "./scenario.ts";
import { everyForm } from "./table.ts";

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
