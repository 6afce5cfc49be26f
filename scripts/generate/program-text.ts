// The classes of provider/program from the descriptors: arguments, outputs, look-ups and lists of each kind, with what people read
// of them. What a class does beyond its fields is written by hand.
import type { z } from "zod";
import { kindRecords } from "../../provider/kind/index.ts";
import { ownArguments } from "../../provider/reconcile/check.ts";
import type { Kind } from "../../provider/record/kind.ts";
import { argumentOf } from "../../provider/record/state.ts";
import {
  argumentText,
  enumInfo,
  fieldInfo,
  fieldText,
  inputFields,
  lookUpArguments,
  messageInfo,
  typeName,
  unwrap,
} from "../../schema/index.ts";
import { argumentMembers, withDefault } from "./program-argument.ts";
import { providerArgsFile } from "./program-provider.ts";
import { setFiles } from "./program-set.ts";
import {
  createImports,
  docLines,
  exampleLines,
  fileOfType,
  HEAD,
  type Imports,
  isOptionalOutput,
  isSpelledOut,
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

const doc = (indent: string, ...lines: readonly string[]): string[] => docLines(indent, lines);

const argumentBlocks = (kind: Kind, imports: Imports): string[] => {
  const { type, schema } = kind;
  const fields = inputFields(schema);
  const declared: string[] = [];
  const own = Object.keys(ownArguments(kind)).filter((name) => !kind.display?.includes(name));
  const ownMembers = own
    .filter((name) => name !== "root")
    .flatMap((name) => [
      ...doc("  ", withDefault(argumentText(kind, name) ?? "", "boolean")),
      `  ${name}?: ${OWN_TYPES[name] ?? "boolean"};`,
    ]);
  const parent = [
    ...doc("  ", kind.texts.parent.argument),
    `  parent: ${imports.resource(kind.parent)} | pulumi.Input<string>;`,
  ];
  const { plain, alternatives } = argumentMembers(schema, fields, (name) => argumentOf(kind, name), imports, declared);
  const places = kind.root
    ? [
        [
          "  | {",
          ...parent.map((line) => `    ${line}`),
          "      root?: undefined;",
          "    }",
          "  | {",
          ...doc("      ", argumentText(kind, "root") ?? ""),
          "      root: true;",
          "      parent?: undefined;",
          "    }",
        ].join("\n"),
      ]
    : [];
  const members = [...(kind.root ? [] : parent), ...plain, ...ownMembers];
  const all = [...places.map((text) => `(\n${text}\n)`), ...alternatives];
  const head = doc("", `What ${article(type)} takes.`, "", ...errorsOf(kind), "", ...exampleOf(kind));
  const isWhole = all.length === 0;
  const fieldsName = isWhole ? `${type}Args` : `${type}Fields`;
  const body = [`${isWhole ? "export " : ""}interface ${fieldsName} {`, ...members, "}"];
  const result = isWhole
    ? [[...head, ...body].join("\n")]
    : [body.join("\n"), [...head, `export type ${type}Args = ${[fieldsName, ...all].join(" & ")};`].join("\n")];
  return [...declared, ...result];
};

const OWN_TYPES: Readonly<Record<string, string>> = { adopt: "pulumi.Input<string>", forceDestroyMax: "number" };

const article = (type: string): string => `${/^[AEIOU]/i.test(type) ? "an" : "a"} ${type}`;

/** What a resource refuses, and what the service does. */
const errorsOf = (kind: Kind): string[] => {
  const needs = kind.methods[kind.operations.create]?.capabilities.map((name) => `\`${name}\``).join(" and ");
  return [
    "Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with PERMISSION_DENIED a " +
      `caller without ${needs}, and with NOT_FOUND a parent, or another record that is referred to, which does not exist.`,
  ];
};

const exampleOf = ({ texts }: Kind): string[] => exampleLines(texts.example);

const classText = (kind: Kind, imports: Imports): string => {
  const { type, schema, texts } = kind;
  imports.value("IrmResource", "../resource.ts");
  const message = imports.message(type);
  const outputs: string[] = [
    ...doc("  ", texts.parent.output),
    `  declare readonly parent: pulumi.Output<string${kind.root ? " | undefined" : ""}>;`,
  ];
  const seen = new Set(["uid", "parent"]);
  for (const [name, field] of Object.entries(schema.shape)) {
    const output = argumentOf(kind, name);
    if (!seen.has(output)) {
      seen.add(output);
      const bound = isSpelledOut(field);
      const described = schema.shape[output] ?? field;
      const typed = bound ? imports.type("BoundRecord", "./bound-record.ts") : outputType(message, name, field);
      const optional = !bound && isOptionalOutput(kind, name, field) ? " | undefined" : "";
      outputs.push(
        ...doc("  ", fieldText(described, "output") ?? ""),
        `  declare readonly ${output}: pulumi.Output<${typed}${optional}>;`,
      );
    }
    if (fieldInfo(field).answeredAs === undefined || seen.has(name)) continue;
    seen.add(name);
    outputs.push(...doc("  ", fieldText(field) ?? ""), `  declare readonly ${name}: pulumi.Output<string>;`);
  }
  return [
    ...doc("", `${type}: ${texts.about}`, "", ...errorsOf(kind), "", ...exampleOf(kind)),
    `export class ${type} extends IrmResource {`,
    ...outputs,
    "",
    ...doc("  ", "`name` is its logical name, unique among the resources of its type in the stack."),
    `  constructor(name: string, args: ${type}Args, opts: pulumi.CustomResourceOptions = {}) {`,
    `    super("${kind.field}", name, args, opts);`,
    "  }",
    "",
    ...doc(
      "  ",
      `The ${kind.word} with this uid, as it is: read in each run, and never changed or deleted by this stack. NOT_FOUND is an error.`,
    ),
    `  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): ${type} {`,
    `    return new this(name, {} as ${type}Args, { ...opts, id: uid });`,
    "  }",
    "}",
  ].join("\n");
};

const OPEN_ENUM = 100;

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
  const { type } = inner.def;
  if (type === "array") {
    const element = (inner as z.ZodArray).element as z.ZodType;
    return `${outputType(message, name, element)}[]`;
  }
  if (type === "record")
    return `Record<string, ${outputType(message, name, (inner as z.ZodRecord).valueType as z.ZodType)}>`;
  return type === "boolean" || type === "number" ? type : "string";
};

/** How programs write a look-up, by its mode; argument types that several kinds share are in provider/program/get.ts. */
const lookUpBlocks = (kind: Kind, imports: Imports): string[] => {
  const { type, texts } = kind;
  const { lookUp } = texts;
  if (!lookUp) return [];
  const message = imports.message(type);
  imports.value("resources", "../../../schema/index.ts");
  const resource = `resources.${kind.field}`;
  const [name, later] = [`get${type}`, `get${type}Output`];
  const place = lookUpArguments(kind).at(-1)?.name ?? "uid";
  const sharedType = (known: string) => imports.type(known, "../get.ts");
  // Beside the class that they take.
  const withGroup = (known: string) => (type === "Group" ? known : imports.type(known, "./group.ts"));
  const helper = (known: string) => imports.value(known, "../get.ts");
  const types: string[] = [];
  let [args, laterArgs] = ["", ""];
  switch (lookUp.by) {
    case "name":
      [args, laterArgs] = [sharedType("GetArgs"), withGroup("GetOutputArgs")];
      break;
    case "uid or name":
      [args, laterArgs] = [
        `${name.replace("get", "Get")}Args`,
        place === "parent" ? withGroup("GetInGroupOutputArgs") : `Get${type}OutputArgs`,
      ];
      types.push(...byUidOrName(kind, place, imports));
      break;
    case "uid":
      [args, laterArgs] = [sharedType("GetByUidArgs"), `${sharedType("Inputs")}<${sharedType("GetByUidArgs")}>`];
      break;
    case "parent":
      [args, laterArgs] = [`Get${type}Args`, `Get${type}OutputArgs`];
      types.push(...byParent(kind, place, imports));
  }
  const needs = kind.methods[kind.operations.get]?.capabilities.map((one) => `\`${one}\``).join(" and ");
  const errors = `Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without ${needs}.`;
  const given = lookUpArguments(kind);
  const shown = given
    .filter((one) => one.isRequired || lookUp.by === "uid or name")
    .filter(({ name: one }) => one !== "uid" || lookUp.by === "uid");
  const example = (fn: string, before: string) => [
    "@example",
    "```ts",
    `const found = ${before}${fn}({ ${shown.map(({ name: one, references }) => `${one}: ${references ? (EXAMPLES[references] ?? "uid") : one === "uid" ? "uid" : '"acme"'}`).join(", ")} });`,
    "```",
  ];
  return [
    ...types,
    [
      ...doc("", lookUp.text, "", errors, "", ...example(name, "await ")),
      `export const ${name} = (args: ${args}): Promise<${message}> =>`,
      `  ${helper("get")}<${message}>(${resource}, args);`,
    ].join("\n"),
    [
      ...doc(
        "",
        `${name} with inputs that may not be known yet. In a preview that does not know them, its value is not known.`,
        "",
        errors,
        "",
        ...example(later, ""),
      ),
      `export const ${later} = (args: ${laterArgs}): pulumi.Output<${message}> =>`,
      `  ${helper("getOutput")}<${message}>(${resource}, args);`,
    ].join("\n"),
  ];
};

/** The arguments that look-ups of several kinds share, where one is a group. */
const sharedLookUps = (imports: Imports): string[] => {
  const [inputs, byUid] = [imports.type("Inputs", "../get.ts"), imports.type("GetByUidArgs", "../get.ts")];
  return [
    [
      ...doc("", "A record by its name, with inputs that may not be known yet."),
      "export interface GetOutputArgs {",
      ...doc("  ", "The whole name"),
      "  name: pulumi.Input<string>;",
      ...doc("  ", "The group that directly holds the record, a Group or a uid; default: root-level records only"),
      "  parent?: Group | pulumi.Input<string>;",
      "}",
    ].join("\n"),
    [
      ...doc("", "A record by its uid, or by its name in a group, with inputs that may not be known yet."),
      "export type GetInGroupOutputArgs =",
      `  | ${inputs}<${byUid}>`,
      "  | {",
      ...doc("      ", "The whole name"),
      "      name: pulumi.Input<string>;",
      ...doc("      ", "The group that directly holds it: a Group or a uid"),
      "      parent: Group | pulumi.Input<string>;",
      "    };",
    ].join("\n"),
  ];
};

const EXAMPLES: Readonly<Record<string, string>> = {
  Group: "platform.uid",
  Repo: "nginx.uid",
  IdentityProvider: "sso.uid",
};

const byUidOrName = (kind: Kind, place: string, imports: Imports): string[] => {
  const { type } = kind;
  const byUid = imports.type("GetByUidArgs", "../get.ts");
  const named = `${article(kind.word)} by its uid, or by its name in a ${kind.parent.toLowerCase()}.`.replace(
    /^a/,
    "A",
  );
  if (place === "parent")
    return [
      [
        ...doc("", named),
        `export type Get${type}Args = ${byUid} | ${imports.type("GetInGroupArgs", "../get.ts")};`,
      ].join("\n"),
    ];
  const [, name, holder] = lookUpArguments(kind);
  const alternative = (wrap: (text: string) => string, parent: string, parentText: string) => [
    "  | {",
    ...doc("      ", name?.text ?? ""),
    `      name: ${wrap("string")};`,
    ...doc("      ", parentText),
    `      ${place}: ${parent};`,
    "    };",
  ];
  return [
    [
      ...doc("", named),
      `export type Get${type}Args =`,
      `  | ${byUid}`,
      ...alternative((text) => text, "string", holder?.text ?? ""),
    ].join("\n"),
    [
      ...doc("", "The same with inputs that may not be known yet."),
      `export type Get${type}OutputArgs =`,
      `  | ${imports.type("Inputs", "../get.ts")}<${byUid}>`,
      ...alternative(
        (text) => `pulumi.Input<${text}>`,
        `${imports.resource(kind.parent)} | pulumi.Input<string>`,
        `The ${place} that it belongs to: ${article(kind.parent)} or a uid`,
      ),
    ].join("\n"),
  ];
};

const byParent = (kind: Kind, place: string, imports: Imports): string[] => {
  const { type } = kind;
  const head = `${article(kind.word)} by its ${place}, whose uid it has.`.replace(/^an? /, (word) =>
    word === "a " ? "A " : "An ",
  );
  return [
    [
      ...doc("", head),
      `export interface Get${type}Args {`,
      ...doc("  ", `uid of the ${place}`),
      `  ${place}: string;`,
      "}",
    ].join("\n"),
    [
      ...doc("", "The same with inputs that may not be known yet."),
      `export interface Get${type}OutputArgs {`,
      ...doc("  ", `The ${place}: ${article(kind.parent)} or a uid`),
      `  ${place}: ${imports.resource(kind.parent)} | pulumi.Input<string>;`,
      "}",
    ].join("\n"),
  ];
};

const listBlocks = (kind: Kind, imports: Imports): string[] => {
  const { operation } = kind.list;
  const message = imports.message(kind.type);
  imports.value("resources", "../../../schema/index.ts");
  imports.value("listRecords", "../get.ts");
  const request = imports.message(typeName(`iam.${operation}Request`), "");
  const args = `${operation}Args`;
  const name = operation.charAt(0).toLowerCase() + operation.slice(1);
  const needs = kind.methods[operation]?.capabilities.map((one) => `\`${one}\``).join(" and ");
  return [
    [
      ...doc(
        "",
        `Filters of ${name}, ANDed, its order and its page size; default: every record that the caller may read.`,
      ),
      `export type ${args} = ${imports.type("ListArgs", "../get.ts")}<${request}>;`,
    ].join("\n"),
    [
      ...doc(
        "",
        kind.texts.list,
        "",
        `All pages, read while the program iterates. Errors: PERMISSION_DENIED without ${needs}; INVALID_ARGUMENT for a filter that is none.`,
        "",
        "@example",
        "```ts",
        `for await (const ${kind.field} of ${name}({ uidp: { descendantsOf: organization } })) console.log(${kind.field}.uid);`,
        "```",
      ),
      `export const ${name} = (args: ${args} = {}): AsyncGenerator<${message}, void, undefined> =>`,
      `  listRecords<${message}>(resources.${kind.field}, args);`,
    ].join("\n"),
  ];
};
