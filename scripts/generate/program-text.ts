// The classes of provider/program from the descriptors: arguments, outputs, look-ups and lists of each kind, with their comments. People
// write the behavior of the classes by hand.
import { z } from "zod";
import { PROVIDER_SETTINGS } from "../../client/config.ts";
import { settingTexts } from "../../client/credential-settings.ts";
import { isRequiredOutput, isSpelledOut } from "../../plugin/schema/resource.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { ownArguments } from "../../provider/reconcile/check.ts";
import type { Kind } from "../../provider/record/kind.ts";
import { argumentOf, outputOf } from "../../provider/record/state.ts";
import {
  argumentText,
  enumInfo,
  fieldInfo,
  fieldText,
  lookUpArguments,
  messageInfo,
  typeName,
  uncapitalize,
  unwrap,
} from "../../schema/index.ts";
import { exampleOf } from "./example.ts";
import { argumentMembers, withDefault } from "./program-argument.ts";
import { setFiles } from "./program-set.ts";
import {
  article,
  createImports,
  docLines,
  exampleLines,
  fileOfType,
  HEAD,
  type Imports,
  OPEN_ENUM,
  scalarType,
} from "./program-type.ts";

/** The files of provider/program/generated, by name. */
export const programFiles = (): Map<string, string> => {
  const kinds = Object.values<Kind>(kindRecords);
  const files = new Map(kinds.map((kind) => [`${fileOfType(kind.type)}.ts`, classFile(kind)]));
  for (const [name, text] of setFiles()) files.set(name, text);
  const names = [...files.keys()].map((name) => `export * from "./${name}";`).toSorted();
  // The form of dynamic resources has no explicit provider.
  files.set("provider-args.ts", providerArgsFile());
  return files.set("index.ts", `${[HEAD, ...names].join("\n")}\n`);
};

/** The arguments of an explicit provider, which native resources alone take: the texts that the plugin's schema has too. */
const providerArgsFile = (): string => {
  const members = PROVIDER_SETTINGS.flatMap((name) => [
    doc("  ", settingTexts[name] ?? ""),
    `  ${name}?: pulumi.Input<${name === "requestTimeout" ? "number" : "string"}>;`,
  ]);
  const head = doc("", "Settings of an explicit provider; the environment gives what is left out.");
  const body = ["export interface ProviderArgs {", ...members, "}"];
  return `${[HEAD, ...createImports("").lines(), "", head, ...body].join("\n")}\n`;
};

const classFile = (kind: Kind): string => {
  const imports = createImports(kind.type);
  const blocks = [
    ...argumentBlocks(kind, imports),
    classText(kind, imports),
    ...(kind.type === "Group" ? sharedLookUps(imports) : []),
    ...lookUpBlocks(kind, imports),
    ...listBlocks(kind, imports),
  ];
  return `${[[HEAD, ...imports.lines()].join("\n"), ...blocks].join("\n\n")}\n`;
};

const doc = (indent: string, ...lines: readonly string[]) => docLines(indent, lines).join("\n");

const argumentBlocks = (kind: Kind, imports: Imports): string[] => {
  const { type, schema } = kind;
  const ownMembers = Object.keys(ownArguments(kind))
    .filter((name) => !kind.display?.includes(name) && name !== "root")
    .map(
      (name) => `${doc("  ", withDefault(argumentText(kind, name) ?? "", "boolean"))}
  ${name}?: ${OWN_TYPES[name] ?? "boolean"};`,
    );
  const parent = (indent: string) => `${doc(indent, kind.texts.parent.argument)}
${indent}parent: ${imports.resource(kind.parent)} | pulumi.Input<string>;`;
  const { plain, alternatives } = argumentMembers(schema, imports, (name) => argumentOf(kind, name));
  const declared = imports.takeDeclared();
  const place = `(
  | {
${parent("      ")}
      root?: undefined;
    }
  | {
${doc("      ", argumentText(kind, "root") ?? "")}
      root: true;
      parent?: undefined;
    }
)`;
  const members = [...(kind.root ? [] : [parent("  ")]), ...plain, ...ownMembers];
  const further = [...(kind.root ? [place] : []), ...alternatives];
  const head = doc("", `What ${article(type)} takes.`, "", ...usageOf(kind));
  const fields = (name: string) => `interface ${name} {\n${members.join("\n")}\n}`;
  if (further.length === 0) return [...declared, `${head}\nexport ${fields(`${type}Args`)}`];
  const all = [`${type}Fields`, ...further].join(" & ");
  return [...declared, fields(`${type}Fields`), `${head}\nexport type ${type}Args = ${all};`];
};

const OWN_TYPES: Readonly<Record<string, string>> = { adopt: "pulumi.Input<string>", forceDestroyMax: "number" };

const articleAtStart = (type: string) => `A${article(type).slice(1)}`;

/** The refusals of a resource and of the service, and an example. */
const usageOf = (kind: Kind) => [
  "Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with PERMISSION_DENIED a " +
    `caller without ${needsOf(kind, kind.operations.create)}, and with NOT_FOUND a parent, or another record that is referred to, which does not exist.`,
  "",
  ...exampleLines(exampleOf(kind.type)),
];

const classText = (kind: Kind, imports: Imports): string => {
  const { type, schema, texts } = kind;
  imports.value("IrmResource", "../resource.ts");
  const message = imports.message(type);
  const outputs: string[] = [];
  const addOutput = (name: string, text: string | undefined, valueType: string) =>
    outputs.push(`${doc("  ", text ?? "")}\n  declare readonly ${name}: pulumi.Output<${valueType}>;`);
  addOutput("parent", texts.parent.output, kind.root ? "string | undefined" : "string");
  const seen = new Set(["uid", "parent"]);
  for (const [name, field] of Object.entries(schema.shape)) {
    const output = outputOf(kind, name);
    if (!seen.has(output)) {
      seen.add(output);
      const bound = isSpelledOut(field);
      const typed = bound ? imports.type("BoundRecord", "./bound-record.ts") : outputType(message, name, field);
      const optional = !bound && !isRequiredOutput(kind, name) ? " | undefined" : "";
      addOutput(output, fieldText(schema.shape[output] ?? field, "output"), typed + optional);
    }
    if (fieldInfo(field).answeredAs === undefined || seen.has(name)) continue;
    seen.add(name);
    addOutput(name, fieldText(field), "string");
  }
  const get = `The ${kind.word} with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND is an error.`;
  return `${doc("", `${type}: ${texts.about}`, "", ...usageOf(kind))}
export class ${type} extends IrmResource {
${outputs.join("\n")}

  /** \`name\` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: ${type}Args, opts: pulumi.CustomResourceOptions = {}) {
    super("${kind.field}", name, args, opts);
  }

${doc("  ", get)}
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): ${type} {
    return new this(name, {} as ${type}Args, { ...opts, id: uid });
  }
}`;
};

/** Messages and enums have the types of the API's message; a secret that is never returned is left out. */
const outputType = (message: string, name: string, field: z.ZodType): string => {
  const inner = unwrap(field);
  const secrets = Object.entries((inner as { shape?: Record<string, z.ZodType> }).shape ?? {}).flatMap(
    ([member, one]) => (fieldInfo(one).inputOnly ? [`"${member}"`] : []),
  );
  if (secrets.length > 0) return `Omit<NonNullable<${message}["${name}"]>, ${secrets.join(" | ")}>`;
  if (messageInfo(inner)) return `NonNullable<${message}["${name}"]>`;
  const numbers = enumInfo(inner)?.numbers;
  if (numbers) return Object.keys(numbers).length > OPEN_ENUM ? "string" : `NonNullable<${message}["${name}"]>`;
  if (inner instanceof z.ZodArray) return `${outputType(message, name, inner.element as z.ZodType)}[]`;
  if (inner instanceof z.ZodRecord) return `Record<string, ${outputType(message, name, inner.valueType as z.ZodType)}>`;
  return scalarType(inner);
};

/** Names of the types of a look-up's arguments, by its mode: known, and in an Output. */
export const lookUpArgs = (kind: Kind): [args: string, laterArgs: string] => {
  const own = `Get${kind.type}`;
  switch (kind.texts.lookUp?.by) {
    case "name":
      return ["GetArgs", "GetOutputArgs"];
    case "uid or name":
      return [`${own}Args`, placeArgument(kind) === "parent" ? "GetInGroupOutputArgs" : `${own}OutputArgs`];
    case "parent":
      return [`${own}Args`, `${own}OutputArgs`];
    default:
      return ["GetByUidArgs", "Inputs<GetByUidArgs>"];
  }
};

/** Those that provider/program/get.ts has. */
export const SHARED_ARGS = ["GetArgs", "GetByUidArgs", "Inputs", "Inputs<GetByUidArgs>"];

/** Those beside the class that they take. */
const ARGS_OF_GROUP = ["GetOutputArgs", "GetInGroupOutputArgs"];

/** The argument that holds the parent. */
const placeArgument = (kind: Kind) => lookUpArguments(kind).at(-1)?.name ?? "uid";

const importArgs = ({ type }: Kind, args: string, imports: Imports) => {
  for (const name of args.match(/\w+/g) ?? [])
    if (SHARED_ARGS.includes(name)) imports.type(name, "../get.ts");
    else if (ARGS_OF_GROUP.includes(name) && type !== "Group") imports.type(name, "./group.ts");
  return args;
};

const lookUpBlocks = (kind: Kind, imports: Imports): string[] => {
  const { type } = kind;
  const { lookUp } = kind.texts;
  if (!lookUp) return [];
  imports.value("resources", "../../../schema/index.ts");
  const [args, laterArgs] = lookUpArgs(kind).map((name) => importArgs(kind, name, imports));
  const message = imports.message(type);
  const call = (name: string) => `${imports.value(name, "../get.ts")}<${message}>(resources.${kind.field}, args)`;
  const errors = `Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without ${needsOf(kind, kind.operations.get)}.`;
  const given = lookUpArguments(kind)
    .filter(({ isRequired }) => isRequired || lookUp.by === "uid or name")
    .filter(({ name }) => name !== "uid" || lookUp.by === "uid")
    .map(({ name, references = "" }) => `${name}: ${EXAMPLES[references] ?? (name === "uid" ? "uid" : '"acme"')}`);
  const docs = (about: string, example: string) =>
    doc("", about, "", errors, "", ...exampleLines(`const found = ${example}({ ${given.join(", ")} });`));
  const later = `get${type} with inputs that may not be known yet. In a preview that does not know them, its value is not known.`;
  return [
    // The types of arguments that no other kind shares.
    ...(lookUp.by === "uid or name" ? byUidOrName(kind, imports) : []),
    ...(lookUp.by === "parent" ? byParent(kind, imports) : []),
    `${docs(lookUp.text, `await get${type}`)}
export const get${type} = (args: ${args}): Promise<${message}> =>
  ${call("get")};`,
    `${docs(later, `get${type}Output`)}
export const get${type}Output = (args: ${laterArgs}): pulumi.Output<${message}> =>
  ${call("getOutput")};`,
  ];
};

/** The capabilities that a method requires, as text. */
const needsOf = ({ methods }: Kind, operation: string) =>
  methods[operation]?.capabilities.map((name) => `\`${name}\``).join(" and ");

/** The arguments that look-ups of several kinds share, where one is a group. */
const sharedLookUps = (imports: Imports): string[] => {
  const [inputs, byUid] = [imports.type("Inputs", "../get.ts"), imports.type("GetByUidArgs", "../get.ts")];
  return [
    `/** A record by its name, with inputs that may not be known yet. */
export interface GetOutputArgs {
  /** The whole name */
  name: pulumi.Input<string>;
  /** The group that directly holds the record, a Group or a uid; default: root-level records only */
  parent?: Group | pulumi.Input<string>;
}`,
    `/** A record by its uid, or by its name in a group, with inputs that may not be known yet. */
export type GetInGroupOutputArgs =
  | ${inputs}<${byUid}>
  | {
      /** The whole name */
      name: pulumi.Input<string>;
      /** The group that directly holds it: a Group or a uid */
      parent: Group | pulumi.Input<string>;
    };`,
  ];
};

const EXAMPLES: Readonly<Record<string, string>> = {
  Group: "platform.uid",
  Repo: "nginx.uid",
  IdentityProvider: "sso.uid",
};

const byUidOrName = (kind: Kind, imports: Imports) => {
  const { type } = kind;
  const place = placeArgument(kind);
  const byUid = imports.type("GetByUidArgs", "../get.ts");
  const about = doc("", `${articleAtStart(kind.word)} by its uid, or by its name in a ${kind.parent.toLowerCase()}.`);
  if (place === "parent")
    return [`${about}\nexport type Get${type}Args = ${byUid} | ${imports.type("GetInGroupArgs", "../get.ts")};`];
  const [, name, holder] = lookUpArguments(kind);
  const alternatives = (uid: string, nameType: string, parentType: string, parentText = "") => `
  | ${uid}
  | {
${doc("      ", name?.text ?? "")}
      name: ${nameType};
${doc("      ", parentText)}
      ${place}: ${parentType};
    };`;
  const held = `The ${place} that it belongs to: ${article(kind.parent)} or a uid`;
  const inputs = `${imports.type("Inputs", "../get.ts")}<${byUid}>`;
  const parent = `${imports.resource(kind.parent)} | pulumi.Input<string>`;
  return [
    `${about}\nexport type Get${type}Args =${alternatives(byUid, "string", "string", holder?.text)}`,
    `${LATER}\nexport type Get${type}OutputArgs =${alternatives(inputs, "pulumi.Input<string>", parent, held)}`,
  ];
};

const LATER = "/** The same with inputs that may not be known yet. */";

const byParent = (kind: Kind, imports: Imports) => {
  const { type, parent } = kind;
  const place = placeArgument(kind);
  return [
    `${doc("", `${articleAtStart(kind.word)} by its ${place}, whose uid it has.`)}
export interface Get${type}Args {
  /** uid of the ${place} */
  ${place}: string;
}`,
    `${LATER}
export interface Get${type}OutputArgs {
  /** The ${place}: ${article(parent)} or a uid */
  ${place}: ${imports.resource(parent)} | pulumi.Input<string>;
}`,
  ];
};

/** `listGroups` */
export const listName = ({ list }: Kind): string => uncapitalize(list.operation);

const listBlocks = (kind: Kind, imports: Imports) => {
  const { operation } = kind.list;
  const message = imports.message(kind.type);
  imports.value("resources", "../../../schema/index.ts");
  imports.value("listRecords", "../get.ts");
  const request = imports.message(typeName(`iam.${operation}Request`), "");
  const args = `${operation}Args`;
  const name = listName(kind);
  const errors = `All pages, read while the program iterates. Errors: PERMISSION_DENIED without ${needsOf(kind, operation)}; INVALID_ARGUMENT for a filter that is none.`;
  const example = `for await (const ${kind.field} of ${name}({ uidp: { descendantsOf: organization } })) console.log(${kind.field}.uid);`;
  return [
    `${doc("", `Filters of ${name}, ANDed, its order and its page size; default: every record that the caller may read.`)}
export type ${args} = ${imports.type("ListArgs", "../get.ts")}<${request}>;`,
    `${doc("", kind.texts.list, "", errors, "", ...exampleLines(example))}
export const ${name} = (args: ${args} = {}): AsyncGenerator<${message}, void, undefined> =>
  listRecords<${message}>(resources.${kind.field}, args);`,
  ];
};
