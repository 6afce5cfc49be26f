// A program in YAML while the service is down: the engine tells a plugin only with the first step whether it is a preview.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { createYamlProgram } from "../harness/language-program.ts";
import { countOf, diagnosticsOf } from "../support/diagnostics.ts";

let place: Workplace;
beforeAll(async () => {
  place = await createWorkplace();
});
afterAll(() => place.close());

const groups = (organization: string, count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `
  team ${i}:
    type: irm:Group
    properties: { parent: ${organization}, name: team ${i}${i === 1 ? ", adopt: match" : ""} }`,
  ).join("");

it("previews with one warning, and an up ends with one error and changes nothing", async () => {
  const { organization } = place.server;
  const program = await createYamlProgram(place, "down", `resources:${groups(organization, 1)}\n`);
  await program.must("up", "--yes", "--skip-preview");
  program.write(`resources:${groups(organization, 12)}\n`);
  const { text: before } = program.state();
  await place.server.stop();

  const warning = "warning: the service is not asked, and this shows what is known without it: UNAVAILABLE:";
  const remedy = "Is the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?";
  const preview = await program.run("preview");
  const shown = diagnosticsOf(preview.output);
  expect(preview.code, preview.output).toBe(0);
  expect([countOf(shown, warning), countOf(shown, remedy)], shown).toEqual([1, 1]);
  expect(preview.output).toMatch(/\+ 11 to create/);

  const up = await program.run("up", "--yes", "--skip-preview");
  const diagnostics = diagnosticsOf(up.output);
  expect(up.code).not.toBe(0);
  expect(diagnostics.match(/^ +error: (?!update failed)/gm), diagnostics).toHaveLength(1);
  expect(diagnostics).toContain(`error: UNAVAILABLE: `);
  expect(diagnostics).not.toContain("failed for the same reason");
  const resourcesIn = (text: string) => JSON.parse(text).checkpoint.latest.resources.length;
  expect(resourcesIn(program.state().text)).toBe(resourcesIn(before));
});
