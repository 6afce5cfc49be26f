// The examples of docs/policy.md and docs/tests.md are real: irm check and irm test print what the pages show.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { offlineText } from "../../../access/roles/lock.ts";
import { runIrm } from "../../support/irm.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
const page = read("policy.md");
const examples = [...page.matchAll(/```yaml\n(.*?)```\n.*?```\n\$ npx pulumi-irm check access\.yaml\n(.*?)```/gs)];

test("docs/policy.md shows the output of each of its examples", async () => {
  expect(examples).toHaveLength(2);
  for (const [, text = "", output] of examples) {
    const file = folder.write("access.yaml", text);
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
  folder.write("access.tests.yaml", tests);
  for (const [text, code, printed] of [
    [policy, 0, output?.replace(/FAILED(.*\n) .*\n/, "passed$1").replace("1 failed", "all passed")],
    [policy.replace(viewer, "/: { viewer: [review], registry.push: [release] }"), 3, output],
  ] as const) {
    const stderr = `${offlineText(undefined)}\n`;
    expect(await runIrm("test", folder.write("access.yaml", text))).toEqual({ code, stdout: printed, stderr });
  }
});
