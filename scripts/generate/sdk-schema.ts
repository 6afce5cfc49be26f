// The package schema for the generator of one language: its texts call properties, and options of the engine, as that language does.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Language, readmes } from "../../plugin/schema/language.ts";
import { capitalize } from "../../schema/index.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Schema = { [name: string]: Json };

/** Options that texts mention. */
const OPTIONS = ["protect", "retainOnDelete"];

/** The text between the words of a description and its example (scripts/generate/example.ts). */
const EXAMPLES = "\n\n{{% examples %}}\n";

const spellings: Readonly<Record<Language, (name: string) => string>> = {
  python: (name) => name.replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3_$2$4").toLowerCase(),
  go: capitalize,
};

export const schemaFor = (language: Language, schema: Schema): Schema => {
  const names = new Set([...OPTIONS, ...propertiesIn(schema)]);
  const spell = spellings[language];
  const own = mapTexts(schema, (text) => {
    const [prose = "", example] = text.split(EXAMPLES);
    const kept = example === undefined ? "" : EXAMPLES + example;
    return spellNames(prose, names, spell) + kept;
  }) as Schema;
  return language === "go" ? { ...own, description: readmes.goComment } : own;
};

const propertiesIn = (value: Json): string[] => {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(propertiesIn);
  return Object.entries(value).flatMap(([name, own]) => [
    ...(/^(?:properties|inputProperties|variables)$/.test(name) ? Object.keys(own ?? {}) : []),
    ...propertiesIn(own),
  ]);
};

const mapTexts = (value: Json, change: (text: string) => string): Json => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, own]) => [
      name,
      // A property may have that name too.
      name === "description" && typeof own === "string" ? change(own) : mapTexts(own, change),
    ]),
  );
};

/** A name of several words wherever it stands; one of a single word, which may be prose, only as code. */
const spellNames = (text: string, names: ReadonlySet<string>, spell: (name: string) => string) =>
  text.replace(/`([A-Za-z.]+)`|(?<![\w/.-])[a-z]+(?:[A-Z][a-z]*)+\b/g, (found, path: string | undefined) => {
    const parts = (path ?? found).split(".");
    if (!parts.every((part) => names.has(part))) return found;
    return found.replace(path ?? found, parts.map(spell).join("."));
  });

// Which schema the packages for other languages were generated from.

/** The folder of the Python package in the clone, and of the Go module. */
export const PYTHON_SDK = join("sdk", "python");
export const GO_SDK = join("sdk", "go", "irm");

/** The file with the hash, which all of them share: one command writes them. */
export const SCHEMA_HASH = join("sdk", "schema.sha256");

export const schemaHash = (text: string): string => createHash("sha256").update(text).digest("hex");
