// The program in Python: a resource of the plugin for each record.
import { toSnake } from "../../../schema/index.ts";
import { headComment } from "../comment.ts";
import { classOf } from "../kind.ts";
import type { Export } from "../model.ts";
import { type Entry, entriesIn, givenIn } from "../value.ts";
import { block, type Item, pythonText, type Spelling } from "./literal.ts";

/** Python takes it from the first line that has one (PEP 263). Another one in the name of a group would change what every text means. */
const ENCODING = "-*- coding: utf-8 -*-";

export const pythonProgram = (all: Export): string => {
  const { entries } = all;
  const secrets = entries.flatMap(({ secret }) => secret ?? []);
  const settings = secrets.map(
    ({ setting }) =>
      `# The API does not show it. To set it: pulumi config set --secret ${setting}\n${toSnake(setting)} = config.get_secret(${pythonText(setting)})`,
  );
  const parts = [
    [ENCODING, ...headComment(all)].map((line) => `# ${line}`.trimEnd()).join("\n"),
    [...(secrets.length > 0 ? ["import pulumi"] : []), "import pulumi_irm as irm"].join("\n"),
    ...(settings.length > 0 ? [["config = pulumi.Config()", ...settings].join("\n")] : []),
    ...pythonResources(entries, all),
  ];
  return `${parts.join("\n\n")}\n`;
};

/** A text for each; what another one refers to, or is `named`, gets a variable. */
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
    // Without its secret, an identity provider that exists is named by its uid.
    return entry.secret && isAdopted ? `${uid} if ${pythonVariable(entry)} else ${pythonText(entry.uid)}` : uid;
  },
  secret: ({ setting }) => toSnake(setting),
});

const resourceText = (entry: Entry, isReferred: boolean, spelling: Spelling): string => {
  const { name, isAdopted, secret } = entry;
  const items: Item[] = [...givenIn(entry)].map(([key, value]) => ({ head: `${toSnake(key)}=`, value }));
  // What exists only with a secret is missing on another service without it.
  const needed = isAdopted ? [] : entriesIn(entry).filter((other) => other.secret);
  const conditions = [...(secret ? [toSnake(secret.setting)] : []), ...needed.map(pythonVariable)];
  const only =
    conditions.length > 0 ? ` if ${conditions.map((one) => `${one} is not None`).join(" and ")} else None` : "";
  const start = `${isReferred || only !== "" ? `${pythonVariable(entry)} = ` : ""}irm.${classOf(entry)}(`;
  return block(start, [{ head: pythonText(name) }, ...items], `)${only}`, spelling, "", 0);
};
