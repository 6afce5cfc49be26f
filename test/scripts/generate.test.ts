// `npm run generate` and its check in a temporary folder, and as a step of `npm run check` in the clone.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapiDocument } from "../../schema/index.ts";
import { capture } from "../../scripts/child.mjs";
import { root } from "../harness/api-process.ts";
import { temporaryFolder } from "../support/command.ts";

const folder = temporaryFolder();
const target = folder.path("generated");
afterAll(folder.remove);

const generate = async (...args: string[]) => {
  const { code, output } = await capture(process.execPath, ["scripts/generate.ts", ...args, target], { cwd: root });
  return { code, lines: output.trim().split("\n") };
};
const filesIn = (path: string) =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(proto|json|ts)$/.test(name))
    .toSorted();

let count: number;
beforeAll(async () => {
  expect((await generate()).code).toBe(0);
  count = filesIn(target).length;
});

test("writes the document, the types of messages and a .proto file for each package", () => {
  expect(JSON.parse(readFileSync(`${target}/openapi.json`, "utf8"))).toEqual(openapiDocument());
  expect(filesIn(target)).toEqual(filesIn(`${root}/schema/generated`));
  expect(filesIn(target)).toContain("chainguard/platform/iam/v2beta1/iam.proto");
});

describe("with --check", () => {
  test("fails for each stale, missing or left-over file without a repair; generate repairs them all", async () => {
    writeFileSync(`${target}/openapi.json`, "{}\n");
    rmSync(`${target}/chainguard/platform/iam/v2/iam.proto`);
    mkdirSync(`${target}/old`);
    writeFileSync(`${target}/old/old.proto`, "");
    const { code, lines } = await generate("--check");
    expect({ code, lines: lines.toSorted() }).toEqual({
      code: 1,
      lines: [
        `${count} generated files, 3 wrong`,
        "chainguard/platform/iam/v2/iam.proto is out of date: run npm run generate",
        "old/old.proto is left over: run npm run generate",
        "openapi.json is out of date: run npm run generate",
      ].toSorted(),
    });
    expect(await generate()).toEqual({ code: 0, lines: [`${count} generated files, 3 changed`] });
    expect(await generate("--check")).toEqual({ code: 0, lines: [`${count} generated files, 0 wrong`] });
  });
});

test("is a step of `npm run check`, and the files of the clone are up to date", async () => {
  expect(readFileSync(`${root}/scripts/check.ts`, "utf8")).toContain('args: [generate, "--check"]');
  const { code, output } = await capture(process.execPath, ["scripts/generate.ts", "--check"], { cwd: root });
  expect(code, output).toBe(0);
});
