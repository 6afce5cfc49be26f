// What `irm export --out` writes is a project that runs: the published command writes it, and the engine compiles and runs it as it is.
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createByHand } from "../harness/by-hand.ts";
import { createStack } from "../harness/engine-stack.ts";
import { callerOf, createWorkplace } from "../harness/engine-workplace.ts";
import { formsOf } from "../support/form.ts";
import { environment, type Installed, installPackage } from "../support/package.ts";

const place = await createWorkplace();
await createByHand(callerOf(place), place.server.organization);
afterAll(() => place.close());

// test/lifecycle/export.test.ts runs each format in both forms.
test.each(
  formsOf<[string, string[], () => Promise<Installed>][]>(
    // Without `typescript`, and with an older SDK.
    ["of a program, where the engine brings the compiler", ["typescript"], () => installPackage("3.208.0")],
    ["of a policy with native resources", ["yaml", "--native"], () => installPackage()],
  ),
)("a project %s runs", async (title, [format, ...flags], installed) => {
  const project = await installed();
  const out = join(place.folder, title.replaceAll(/\W/g, "-"));
  const { baseUrl, token } = place.server;
  const { status, stderr } = spawnSync(
    join(project.folder, "node_modules", ".bin", "irm"),
    ["export", "--format", format as string, ...flags, "--out", out],
    { env: { ...environment(), IRM_BASE_URL: baseUrl, IRM_TOKEN: token }, encoding: "utf8" },
  );
  expect(status, stderr).toBe(0);
  // As after `npm install` of the package.
  symlinkSync(join(project.folder, "node_modules"), join(out, "node_modules"));
  const stack = await createStack({ folder: `${out}-stack`, program: out, env: place.env });
  await place.server.takeRequests();
  const up = await stack.must("up", "--yes", "--skip-preview");
  expect(writesOf(await place.server.takeRequests()), up.output).toEqual([]);
  expect(up.output).toMatch(/\+ \d+ created/);
  await stack.must("preview", "--expect-no-changes");
});
