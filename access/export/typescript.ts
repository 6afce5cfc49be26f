// The program in TypeScript: a resource for each record, in the order of their references.
import { ROOT } from "../policy/policy.ts";
import { quote } from "../text.ts";
import { commentText, headComment, type Language, neededBy, type Spelling, writerOf } from "./literal.ts";
import type { Export } from "./model.ts";
import { identifier, slug } from "./names.ts";
import type { Place } from "./policy/build.ts";
import { classOf, type Entry, entriesIn, givenIn, type PresetUse, type Secret } from "./value.ts";

interface TypeScriptOptions {
  /** resources of the plugin; otherwise dynamic ones */
  isNative: boolean;
  /** the policy beside the program */
  policy?: PolicyFiles;
}

interface PolicyFiles {
  file: string;
  /** file with the uids of the records that it adopts */
  adopt?: string;
  places: ReadonlyMap<Entry, Place>;
}

export const typescriptProgram = (all: Export, { isNative, policy }: TypeScriptOptions): string => {
  const entries = all.entries.filter((entry) => !policy?.places.has(entry));
  const referred = new Set(entries.flatMap(entriesIn));
  const spelling = spellingOf(all.isAdopted, policy?.places);
  const own = entries.flatMap((entry) => [classOf(entry), ...(entry.preset ? [functionOf(entry.preset)] : [])]);
  const names = [...new Set([...(policy ? ["AccessPolicy"] : []), ...own])];
  const secrets = entries.flatMap(({ secret }) => secret ?? []);
  const settings = secrets.map(
    ({ setting }) =>
      `// The API does not show it. To set it: pulumi config set --secret ${setting}\nconst ${setting} = config.getSecret(${quote(setting)});`,
  );
  const imports = [
    ...(settings.length > 0 ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    ...(names.length > 0 ? [importText(names.sort(), isNative ? "pulumi-irm/plugin" : "pulumi-irm")] : []),
  ];
  const parts = [
    commentText("//", headComment(all)),
    imports.join("\n"),
    ...(settings.length > 0 ? [["const config = new pulumi.Config();", ...settings].join("\n")] : []),
    ...(policy ? [policyText(all, policy)] : []),
    ...entries.map((entry) => resourceText(entry, referred.has(entry), spelling)),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
};

const importText = (names: readonly string[], from: string) => {
  const line = `import { ${names.join(", ")} } from "${from}";`;
  return line.length <= 120 ? line : `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}";`;
};

const FUNCTIONS = { github: "githubActions" } as Record<string, string>;
const functionOf = ({ name }: PresetUse) => FUNCTIONS[name] ?? name;

/** The kind ends the name, so it is never a word of the language, or the name of a function. */
const variableOf = (entry: Entry) => identifier(entry.name) + classOf(entry);

const spellingOf = (isAdopted: boolean, places?: ReadonlyMap<Entry, Place>): Spelling => ({
  reference: (entry) => {
    const place = places?.get(entry);
    if (place) return place.key === ROOT ? "policy.organization" : `policy.${place.section}[${quote(place.key)}]`;
    // Without its secret, an existing identity provider is named by its uid.
    return entry.secret && isAdopted ? `${variableOf(entry)} ?? ${quote(entry.uid)}` : variableOf(entry);
  },
  secret: ({ setting }: Secret) => setting,
});

const policyText = ({ title, isAdopted }: Export, { file, adopt }: PolicyFiles) => {
  const args = [
    `file: ${quote(file)}`,
    ...(adopt === undefined ? [] : [`adopt: { file: ${quote(adopt)} }`]),
    ...(isAdopted ? [] : ["allowDuplicate: true"]),
  ];
  return `const policy = new AccessPolicy(${quote(slug(title) || "access")}, { ${args.join(", ")} });`;
};

/** Each text is JSON with every invisible character escaped, so that a name never becomes code. */
export const TYPESCRIPT: Language = {
  ...{ width: 116, tab: "  ", padding: " ", text: quote, boolean: String },
  // Without the brackets, __proto__ sets the prototype of the object.
  key: (key) => (key === "__proto__" ? '["__proto__"]' : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)),
};

const OBJECT = { open: "{", close: "}", isBraced: true };

const resourceText = (entry: Entry, isReferred: boolean, spelling: Spelling): string => {
  const head = `new ${classOf(entry)}(${quote(entry.name)}, `;
  const only = neededBy(entry, { entry: variableOf, setting: String })
    .map((one) => `${one} && `)
    .join("");
  const before = isReferred || only !== "" ? `const ${variableOf(entry)} = ${only}` : "";
  const [start, end] = [before + head, ");"];
  const { itemsOf, block } = writerOf(TYPESCRIPT, spelling);
  const given = new Map([...givenIn(entry)].filter(([name]) => name !== entry.preset?.replaces));
  const { preset } = entry;
  const items = itemsOf(given);
  if (preset) {
    const args = block(itemsOf(new Map(Object.entries(preset.args))), OBJECT, "  ", 0);
    items.push({ head: `...${functionOf(preset)}(${args})` });
  }
  return start + block(items, OBJECT, "", start.length + end.length) + end;
};
