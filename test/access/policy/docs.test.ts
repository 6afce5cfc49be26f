// The examples of docs/policy.md and docs/tests.md are real: irm check and irm test print what the pages show.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { offlineText } from "../../../access/roles/lock.ts";
import { temporaryFolder } from "../../support/command.ts";
import { runIrm } from "../../support/irm.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
const page = read("policy.md");
const examples = [...page.matchAll(/```yaml\n(.*?)```\n.*?```\n\$ npx pulumi-irm check access\.yaml\n(.*?)```/gs)];

test("docs/policy.md shows the output of each of its examples", async () => {
  expect(examples).toHaveLength(2);
  for (const [, text = "", output] of examples) {
    const file = folder.path("access.yaml");
    writeFileSync(file, text);
    const { stdout, stderr } = await runIrm("check", file);
    expect(`${stdout}${stderr}`.replaceAll(file, "access.yaml")).toBe(output);
  }
});

test("docs/tests.md shows the output of its tests on the policy of docs/policy.md, before and after an edit", async () => {
  const [, policy = ""] = examples[0] ?? [];
  const [, tests = "", output] =
    /```yaml\n(.*?)```.*?```\n\$ npx pulumi-irm test\n(.*?)```/s.exec(read("tests.md")) ?? [];
  const viewer = "/: { viewer: [review] }";
  expect(policy).toContain(viewer);
  writeFileSync(folder.path("access.tests.yaml"), tests);
  for (const [text, code, printed] of [
    [policy, 0, output?.replace(/FAILED(.*\n) .*\n/, "passed$1").replace("1 failed", "all passed")],
    [policy.replace(viewer, "/: { viewer: [review], registry.push: [release] }"), 3, output],
  ] as const) {
    writeFileSync(folder.path("access.yaml"), text);
    expect(await runIrm("test", folder.path("access.yaml"))).toEqual({
      code,
      stdout: printed,
      stderr: `${offlineText(undefined)}\n`,
    });
  }
});
