// A half-done create is in the state with its uid and the reason, and the next up continues from there (docs/faults.md#f12).
import { expect, it } from "vitest";
import { expectWhole, interruptions, source } from "./interruption.ts";

const place = interruptions();

it("an adoption whose change is refused is recorded, and the next up applies the change", async () => {
  const { organization } = place.place.server;
  const { json } = await place.place.call("POST", `/iam/v2beta1/groups/${organization}`, {
    name: "half",
    description: "old",
  });
  const program = await place.program("half", source("half", "new", ', adopt: "match"'));
  const stop = place.proxy.answer("PATCH", /\/groups\//, 403, {
    code: 7,
    message: "Permission denied: no",
    details: [],
  });
  const refused = await program.run("up", "--yes", "--skip-preview");
  stop();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain(`UpdateGroup group ${json.uid} "half": PERMISSION_DENIED: Permission denied: no`);
  const held = program.state().resources.find(({ id }) => id === json.uid);
  expect(held?.outputs).toMatchObject({ uid: json.uid, description: "old", adopted: true });

  await program.must("up", "--yes", "--skip-preview");
  expect(await expectWhole(place.place, program, "groups", "half")).toBe(json.uid);
  expect(place.place.rows("groups", "name = ?", "half")[0]?.body.description).toBe("new");
});
