// The examples of docs/policy.md are real: irm check prints what the page shows.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../support/command.ts";
import { runIrm } from "../../support/irm.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const page = readFileSync(new URL("../../../docs/policy.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/```yaml\n(.*?)```\n.*?```\n\$ npx irm check access\.yaml\n(.*?)```/gs)];

test("docs/policy.md shows the output of each of its examples", async () => {
  expect(examples).toHaveLength(2);
  for (const [, text = "", output] of examples) {
    const file = folder.path("access.yaml");
    writeFileSync(file, text);
    const { stdout, stderr } = await runIrm("check", file);
    expect(`${stdout}${stderr}`.replaceAll(file, "access.yaml")).toBe(output);
  }
});
