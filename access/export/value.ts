// The values of arguments, before a language writes them. Maps are Maps: the author of the record chooses its keys, and `__proto__` may be
// one.
import type { Json } from "../../schema/index.ts";
import type { PresetName } from "../preset/presets.ts";
import type { ExportKind } from "./read.ts";

export type Value = string | number | boolean | readonly Value[] | ReadonlyMap<string, Value> | Reference | Secret;

/** A message of the API: its keys are fields, which a language may spell in its own style. The keys of any other map are texts. */
export class Fields extends Map<string, Value> {}

/** Another record of the export. */
export class Reference {
  readonly entry: Entry;

  constructor(entry: Entry) {
    this.entry = entry;
  }
}

/** A secret that the API does not show: a setting of the stack. */
export class Secret {
  /** in the stack's configuration: `acmeSsoClientSecret` */
  readonly setting: string;

  constructor(setting: string) {
    this.setting = setting;
  }
}

/** A record that the program declares. */
export interface Entry {
  kind: ExportKind;
  uid: string;
  /** logical name of its resource, unique in its kind: `platform-registry` */
  name: string;
  /** absent: an organization, or a record without a parent */
  parent?: Value;
  args: Fields;
  /** a preset that is equivalent to one of its arguments */
  preset?: PresetUse & { replaces: string };
  /** it is adopted; otherwise created */
  isAdopted: boolean;
  /** the program declares it once this setting is set */
  secret?: Secret;
}

export interface PresetUse {
  name: PresetName;
  args: Readonly<Record<string, string | boolean>>;
}

export interface ExportOptions {
  /** the program adopts the records; otherwise it creates equal ones on another service */
  isAdopted: boolean;
  /** the records may also be imported: the engine then compares the values that it reads, which do not name roles */
  isImported?: boolean;
  /** a policy declares everything that it can express */
  isPolicy?: boolean;
  /** why the language of the program cannot declare a record with these fields; default: it can declare any */
  unsayable?: ((kind: ExportKind, fields: Json) => string | undefined) | undefined;
  nowMs: number;
}

/** All arguments: a group without a parent is an organization. */
export const givenIn = ({ kind, parent, args }: Entry): Fields => {
  const place: [string, Value][] = kind === "group" ? [["root", true]] : [];
  return new Fields([...(parent === undefined ? place : [["parent", parent] as const]), ...args]);
};

/** The entries that one entry names, each once. */
export const entriesIn = ({ parent, args }: Entry): Entry[] => {
  const found = new Set<Entry>();
  const look = (value: Value | undefined) => {
    if (value instanceof Reference) found.add(value.entry);
    else if (Array.isArray(value)) value.forEach(look);
    else if (value instanceof Map) for (const one of value.values()) look(one);
  };
  look(parent);
  look(args);
  return [...found];
};

// The class of a kind, in the package of each language and as a type token.

/** `roleBinding` to `RoleBinding` */
export const classOf = ({ kind }: { kind: ExportKind }): string => kind.charAt(0).toUpperCase() + kind.slice(1);
