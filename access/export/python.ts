// The program in Python: a resource of the plugin for each record.
import { toSnake } from "../../schema/index.ts";
import { commentText, headComment, type Item, type Language, neededBy, type Spelling, writerOf } from "./literal.ts";
import type { Export } from "./model.ts";
import { classOf, type Entry, entriesIn, givenIn } from "./value.ts";

/**
 * Texts are ASCII, so that a name never becomes code, and a reader sees each character. Escapes are those of JSON, with another form beyond
 * 16 bits.
 */
export const pythonText = (text: string): string =>
  `"${[...text].map((one) => (/^[ -~]$/.test(one) && one !== '"' && one !== "\\" ? one : escaped(one))).join("")}"`;

const escaped = (character: string) => {
  const code = character.codePointAt(0) as number;
  if (character === '"' || character === "\\") return `\\${character}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
};

const PYTHON: Language = {
  ...{ width: 112, tab: "    ", padding: "", text: pythonText },
  boolean: (value) => (value ? "True" : "False"),
  key: (key, isField) => pythonText(isField ? toSnake(key) : key),
};

/**
 * Python reads the encoding from the first line that declares one (PEP 263). A declaration in the name of a group would change the meaning
 * of every text.
 */
const ENCODING = "-*- coding: utf-8 -*-";

export const pythonProgram = (all: Export): string => {
  const secrets = all.entries.flatMap(({ secret }) => secret ?? []);
  const settings = secrets.map(
    ({ setting }) =>
      `# The API does not show it. To set it: pulumi config set --secret ${setting}\n${toSnake(setting)} = config.get_secret(${pythonText(setting)})`,
  );
  const parts = [
    commentText("#", [ENCODING, ...headComment(all)]),
    [...(settings.length > 0 ? ["import pulumi"] : []), "import pulumi_irm as irm"].join("\n"),
    ...(settings.length > 0 ? [["config = pulumi.Config()", ...settings].join("\n")] : []),
    ...pythonResources(all.entries, all),
  ];
  return `${parts.join("\n\n")}\n`;
};

/** One text for each entry; an entry that others refer to, or that is `named`, gets a variable. */
export const pythonResources = (
  entries: readonly Entry[],
  { isAdopted }: { isAdopted: boolean },
  named: readonly Entry[] = [],
): string[] => {
  const referred = new Set([...entries.flatMap(entriesIn), ...named]);
  return entries.map((entry) => resourceText(entry, referred.has(entry), spellingOf(isAdopted)));
};

export const pythonVariable = (entry: Entry): string => {
  const name = `${entry.name.replaceAll("-", "_")}_${toSnake(entry.kind)}`;
  return /^[0-9]/.test(name) ? `_${name}` : name;
};

const spellingOf = (isAdopted: boolean): Spelling => ({
  reference: (entry) => {
    const uid = `${pythonVariable(entry)}.uid`;
    // Without its secret, an existing identity provider is named by its uid.
    return entry.secret && isAdopted ? `${uid} if ${pythonVariable(entry)} else ${pythonText(entry.uid)}` : uid;
  },
  secret: ({ setting }) => toSnake(setting),
});

const resourceText = (entry: Entry, isReferred: boolean, spelling: Spelling) => {
  const items: Item[] = [...givenIn(entry)].map(([key, value]) => ({ head: `${toSnake(key)}=`, value }));
  const conditions = neededBy(entry, { entry: pythonVariable, setting: toSnake });
  const only =
    conditions.length > 0 ? ` if ${conditions.map((one) => `${one} is not None`).join(" and ")} else None` : "";
  const start = `${isReferred || only !== "" ? `${pythonVariable(entry)} = ` : ""}irm.${classOf(entry)}(`;
  const close = `)${only}`;
  return writerOf(PYTHON, spelling).block([{ head: pythonText(entry.name) }, ...items], { open: start, close }, "", 0);
};
