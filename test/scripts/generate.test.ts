// `npm run generate` and its check in a temporary folder; and what the generator of each SDK gets.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readmes } from "../../plugin/schema/language.ts";
import { capabilities } from "../../schema/index.ts";
import { capture } from "../../scripts/base/child.mjs";
import { schemaFor } from "../../scripts/generate/sdk-schema.ts";
import { root } from "../harness/api-process.ts";
import { temporaryFolder } from "../support/command.ts";

const folder = temporaryFolder();
const target = folder.path("root");
const generated = ["schema/generated", "plugin/generated", "provider/program/generated", "docs/resources"];
const PAGE = "docs/reference/capabilities.md";
const PAGES = ["docs/resources.md", "docs/_index.md", "docs/installation-configuration.md"];
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
    .filter((name) => /\.(proto|json|ts|md)$/.test(name))
    .concat([PAGE, "docs/reference/commands.md", ...PAGES].filter((name) => existsSync(join(path, name))))
    .toSorted();

mkdirSync(`${target}/sdk`, { recursive: true });
copyFileSync(`${root}/sdk/schema.sha256`, `${target}/sdk/schema.sha256`);
expect((await generate()).code).toBe(0);
const count: number = filesIn(target).length;

test("writes every generated file of the clone, and the page of capabilities has each of them once", () => {
  expect(filesIn(target)).toEqual(filesIn(root));
  const page = readFileSync(join(target, PAGE), "utf8");
  expect(capabilities.filter(({ name }) => page.split(`\n${name} `).length !== 2)).toEqual([]);
  expect(page.replaceAll(/\s+/g, " ")).toContain(
    " identity.create write CreateIdentity roles: owner, limited_owner, registry.pull_token_creator, ",
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

const schema = JSON.parse(readFileSync(`${root}/plugin/generated/schema.json`, "utf8"));

/** A schema with one text beside properties of these names. */
const textOf = (language: "python" | "go", description: string): unknown => {
  const inputProperties = { claimMatch: {}, allowDuplicate: {}, name: {} };
  const resources = { "irm:index:Group": { description, inputProperties } };
  return schemaFor(language, { resources }).resources;
};

describe.each<["python" | "go", Record<string, string>]>([
  [
    "python",
    {
      "`claimMatch` or allowDuplicate": "`claim_match` or allow_duplicate",
      "`claimMatch.name`, not `claimMatch.other`": "`claim_match.name`, not `claimMatch.other`",
      "with `retainOnDelete`": "with `retain_on_delete`",
      "as docs/claimMatch.md says": "as docs/claimMatch.md says",
      "the name, and `name`": "the name, and `name`",
    },
  ],
  [
    "go",
    {
      "`claimMatch` or allowDuplicate": "`ClaimMatch` or AllowDuplicate",
      "`claimMatch.name`, not `claimMatch.other`": "`ClaimMatch.Name`, not `claimMatch.other`",
      "with `retainOnDelete`": "with `RetainOnDelete`",
      // Prose keeps a name of one word.
      "the name, and `name`": "the name, and `Name`",
    },
  ],
])("the texts for %s", (language, texts) => {
  test.each(Object.entries(texts))("%j becomes %j", (text, spelt) => {
    expect(textOf(language, text)).toMatchObject({ "irm:index:Group": { description: spelt } });
  });
});

test.each(["python", "go"] as const)(
  "the schema for %s has the same names, types and tokens, and other texts",
  (language) => {
    const own = schemaFor(language, schema);
    const withoutTexts = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_, one) => {
        if (typeof one?.description !== "string") return one;
        const { description, ...others } = one;
        return others;
      });
    expect(withoutTexts(own)).toEqual(withoutTexts(schema));
    expect(own.description).toBe(language === "go" ? readmes.goComment : schema.description);
  },
);

test("an example has the names of its texts as they are", () => {
  const example = '\n\n{{% examples %}}\n## Example Usage\n\npulumi.export("claimMatch", 1)\n{{% /examples %}}';
  const textIn = (language: "python" | "go") => JSON.stringify(textOf(language, `Of claimMatch.${example}`));
  expect(textIn("python")).toContain(JSON.stringify(`Of claim_match.${example}`));
  expect(textIn("go")).toContain(JSON.stringify(`Of ClaimMatch.${example}`));
});

test("a property that is called description stays one", () => {
  const type = { properties: { description: { type: "string", description: "Of claimMatch" }, claimMatch: {} } };
  expect(schemaFor("python", { types: { "irm:index:T": type } })).toEqual({
    types: {
      "irm:index:T": { properties: { description: { type: "string", description: "Of claim_match" }, claimMatch: {} } },
    },
  });
});
