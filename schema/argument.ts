// The arguments of programs: their names, and descriptions of those that are not fields of the API.
import { type FieldInfo, fieldsOf, type Message, uncapitalize } from "./field.ts";
import { once } from "./once.ts";
import type { Managed, Resource } from "./resource.ts";

/** The fields of which `read` finds a value, with that value. */
export const fieldsWith = <T>(
  schema: Message,
  read: (info: FieldInfo) => T | undefined,
): { name: string; value: T }[] =>
  fieldsOf(schema).flatMap(({ name, info }) => {
    const value = read(info);
    return value === undefined ? [] : [{ name, value }];
  });

/** Field of the API → argument of a program, where the names differ. */
export const argumentsOf = once((schema: Message) => renamed(schema, (info) => info.argument ?? outputName(info)));

/** Field of the API → output of a resource, where the names differ. */
export const outputsOf = once((schema: Message) => renamed(schema, outputName));

/** The outputs with another name than the argument that they come from, and that argument. */
export const outputsByArgument = once((schema: Message): readonly { output: string; argument: string }[] =>
  fieldsWith(schema, (info) => info.argument).map(({ name, value }) => ({
    output: outputsOf(schema)[name] ?? name,
    argument: value,
  })),
);

/** The path of the argument for the path of a field, by the names of `argumentsOf`. */
export const argumentPath = (names: Readonly<Record<string, string>>, path: string): string =>
  path.replace(/^\w+/, (field) => names[field] ?? field);

const renamed = (schema: Message, nameOf: (info: FieldInfo) => string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(fieldsWith(schema, nameOf).map(({ name, value }) => [name, value]));

const outputName = ({ alias, answeredAs }: FieldInfo) => alias ?? answeredAs?.split(".")[0];

/** Most records that forceDestroy of a group deletes, where the program does not say. */
export const FORCE_DESTROY_MAX = 50;

/** Arguments with the same meaning on every kind. */
const SHARED: Readonly<Record<string, string>> = {
  root: "Creates an organization, instead of a group in `parent`; the caller becomes its owner",
  adopt:
    'Adopts an existing record: its uid, or "match" for the only one with this parent and name (for a role binding: with this identity ' +
    "and role; for a group invite: with this role and address; for an account association: in this group; for a mapping of an external " +
    "group: with all its fields). It remains when the resource is deleted. Default: a new record is created",
  deleteAdopted: "Deletes an adopted record with the resource; default: it remains",
  forceDestroyMax: `The most records that forceDestroy may delete; if there are more, the run fails and deletes nothing; default: ${FORCE_DESTROY_MAX}`,
};

/** Description of an argument that is not a field of the API. */
export const argumentText = ({ texts }: Pick<Managed, "texts">, name: string): string | undefined => {
  if (name === "allowReplace" || name === "forceDestroy" || name === "allowDuplicate") return texts[name];
  return SHARED[name];
};

/** An argument of a look-up: a text. */
export interface LookUpArgument {
  name: string;
  text: string;
  /** in every form of the look-up */
  isRequired: boolean;
  /** type of the record whose uid it takes */
  references?: string;
}

/** The arguments of the look-up of a kind. A look-up by uid or by name takes one of its two forms. */
export const lookUpArguments = ({ texts, parent }: Pick<Resource, "texts" | "parent">): LookUpArgument[] => {
  const word = parent.toLowerCase();
  const uid = { name: "uid", text: "uid of the record" };
  const name = { name: "name", text: "The whole name" };
  const place = { name: parent === "Group" ? "parent" : uncapitalize(parent), references: parent };
  switch (texts?.lookUp?.by) {
    case "name": {
      const text = "uid of the group that directly holds the record; default: root-level records only";
      return [
        { ...name, isRequired: true },
        { ...place, text, isRequired: false },
      ];
    }
    case "uid or name": {
      const text = `uid of the ${word}${parent === "Group" ? " that directly holds it" : ""}`;
      return [uid, name, { ...place, text }].map((one) => ({ ...one, isRequired: false }));
    }
    case "uid":
      return [{ ...uid, isRequired: true }];
    case "parent":
      return [{ name: word, text: `uid of the ${word}`, references: parent, isRequired: true }];
    default:
      return [];
  }
};
