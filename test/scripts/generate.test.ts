// `npm run generate` and its check in a temporary folder. `npm run check` runs the check in the clone.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { capabilities } from "../../schema/index.ts";
import { capture } from "../../scripts/base/child.mjs";
import { root } from "../harness/api-process.ts";
import { temporaryFolder } from "../support/command.ts";

const folder = temporaryFolder();
const target = folder.path("root");
const generated = ["schema/generated", "plugin/generated", "provider/program/generated"];
const PAGE = "docs/capabilities.md";
const TABLE = "docs/resources.md";
afterAll(folder.remove);

const generate = async (...args: string[]) => {
  const { code, output } = await capture(process.execPath, ["scripts/generate.ts", ...args, target], { cwd: root });
  return { code, lines: output.trim().split("\n") };
};
const filesIn = (path: string) =>
  generated
    .flatMap((name) =>
      readdirSync(join(path, name), { recursive: true, encoding: "utf8" }).map((file) => join(name, file)),
    )
    .filter((name) => /\.(proto|json|ts)$/.test(name))
    .concat([PAGE, TABLE].filter((name) => existsSync(join(path, name))))
    .toSorted();

mkdirSync(`${target}/sdk`, { recursive: true });
copyFileSync(`${root}/sdk/schema.sha256`, `${target}/sdk/schema.sha256`);
expect((await generate()).code).toBe(0);
const count: number = filesIn(target).length;

test("writes every generated file of the clone, and the page of capabilities has each of them once", () => {
  expect(filesIn(target)).toEqual(filesIn(root));
  const page = readFileSync(join(target, PAGE), "utf8");
  expect(capabilities.filter(({ name }) => page.split(`| \`${name}\``).length !== 2)).toEqual([]);
  expect(page).toContain(
    "| `identity.create` | write | CreateIdentity | owner, limited_owner, registry.pull_token_creator, ",
  );
});

test("--check fails for each stale, missing or left-over file without a repair, and for a Python package of another schema; generate repairs the files", async () => {
  writeFileSync(`${target}/plugin/generated/schema.json`, "{}\n");
  rmSync(`${target}/schema/generated/chainguard/platform/iam/v2beta1/iam.proto`);
  mkdirSync(`${target}/schema/generated/old`);
  writeFileSync(`${target}/schema/generated/old/old.proto`, "");
  const hash = readFileSync(`${target}/sdk/schema.sha256`, "utf8");
  writeFileSync(`${target}/sdk/schema.sha256`, `${"0".repeat(64)}\n`);
  const { code, lines } = await generate("--check");
  writeFileSync(`${target}/sdk/schema.sha256`, hash);
  expect({ code, lines: lines.toSorted() }).toEqual({
    code: 1,
    lines: [
      `${count} generated files, 3 wrong`,
      "schema/generated/chainguard/platform/iam/v2beta1/iam.proto is out of date: run npm run generate",
      "schema/generated/old/old.proto is left over: run npm run generate",
      "plugin/generated/schema.json is out of date: run npm run generate",
      "sdk is out of date: run npm run generate:sdks, which needs Go",
    ].toSorted(),
  });
  expect(await generate()).toEqual({ code: 0, lines: [`${count} generated files, 3 changed`] });
  expect(await generate("--check")).toEqual({ code: 0, lines: [`${count} generated files, 0 wrong`] });
});
