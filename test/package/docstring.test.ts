// The published types say in words what each class, argument, output and function is; an editor shows nothing else.
import { join } from "node:path";
import { expect, test } from "vitest";
import { undocumentedIn } from "../support/docstring.ts";
import { installPackage } from "../support/package.ts";

test.each([
  ["index", 350],
  ["plugin", 60],
])("%s.d.ts leaves nothing without a docstring", async (entry, least) => {
  const { path } = await installPackage();
  const { count, ...found } = undocumentedIn(join(path, `${entry}.d.ts`));
  expect(count).toBeGreaterThan(least);
  for (const [what, names] of Object.entries(found)) expect([what, names]).toEqual([what, []]);
});
