// A policy and its tests as an earlier commit had them: this version reads both.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runIrm } from "../support/irm.ts";

const recorded = (name: string) =>
  fileURLToPath(new URL(`../lifecycle/previous/fixtures/f740c57/${name}`, import.meta.url));

test("a policy of an earlier commit has no mistake", async () => {
  const { code, stderr } = await runIrm("check", recorded("access.yaml"));
  expect(code, stderr).toBe(0);
});

test("its tests of access pass", async () => {
  const { code, stdout, stderr } = await runIrm("test", recorded("access.tests.yaml"));
  expect(code, stdout + stderr).toBe(0);
});
