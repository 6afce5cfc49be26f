// What the generator of each SDK gets: the plugin's schema, whose texts call properties as the language does.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readmes } from "../../../plugin/schema/language.ts";
import { schemaFor } from "../../../scripts/generate/sdk-schema.ts";
import { root } from "../../harness/api-process.ts";

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

describe.each(["python", "go"] as const)("the schema for %s", (language) => {
  const own = schemaFor(language, schema);

  test("has the same names, types and tokens, and other texts", () => {
    const withoutTexts = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_, one) => {
        if (typeof one?.description !== "string") return one;
        const { description, ...others } = one;
        return others;
      });
    expect(withoutTexts(own)).toEqual(withoutTexts(schema));
    expect(own.description).toBe(language === "go" ? readmes.goComment : schema.description);
  });
});

test("only Python has an example, with the names of its texts as they are: a generator keeps the heading where no program follows", () => {
  const example = '\n\n{{% examples %}}\n## Example Usage\n\npulumi.export("claimMatch", 1)\n{{% /examples %}}';
  const textIn = (language: "python" | "go") => JSON.stringify(textOf(language, `Of claimMatch.${example}`));
  expect(textIn("python")).toContain(JSON.stringify(`Of claim_match.${example}`));
  expect(textIn("go")).toContain('"Of ClaimMatch."');
});

test("a property that is called description stays one", () => {
  const type = { properties: { description: { type: "string", description: "Of claimMatch" }, claimMatch: {} } };
  expect(schemaFor("python", { types: { "irm:index:T": type } })).toEqual({
    types: {
      "irm:index:T": { properties: { description: { type: "string", description: "Of claim_match" }, claimMatch: {} } },
    },
  });
});
