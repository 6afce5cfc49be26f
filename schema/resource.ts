// The descriptor of a resource: its names, its message, its methods and its parent. The server and the provider read the
// descriptors; resources.ts lists them.
import type { FieldViolation } from "./error.ts";
import { capitalize, type Message, uncapitalize } from "./field.ts";
import type { OperationName } from "./generated/message.ts";
import type { Json } from "./json.ts";
import type { Operations } from "./operation.ts";

/** The names of the methods of one verb: `Get` to `GetGroup`, `GetRole` … */
type MethodName<Verb extends string> = Extract<OperationName, `${Verb}${string}`>;

const VERBS = ["get", "create", "update", "delete"] as const;
type Verb = (typeof VERBS)[number];

/** The standard methods (AIP-131 to AIP-135) that the rows have, by verb: `{ get: "GetTag", … }`. */
type StandardMethods<T extends string, M> = {
  readonly [V in Verb as `${Capitalize<V>}${T}` extends keyof M ? V : never]: `${Capitalize<V>}${T}`;
};

/** The key of a look-up: the name at the root or in a group; the uid, or the name in the parent; the uid; or the parent. */
export type LookUpMode = "name" | "uid or name" | "uid" | "parent";

/** Descriptions of a resource, beside the texts of its fields. The classes of programs, the plugin and other languages use them. */
export interface ResourceTexts {
  /** its meaning, in one sentence */
  readonly about: string;
  /** its parent, as an argument and as an output */
  readonly parent: { readonly argument: string; readonly output: string };
  /** arguments that are not fields of the API: their effect on this resource */
  readonly allowReplace: string;
  readonly forceDestroy?: string;
  /** present where nothing but its fields tells one record from another: a second one with the same fields may be refused */
  readonly allowDuplicate?: string;
  /** its look-up: how it finds a record, and which one; absent: it has none */
  readonly lookUp?: { readonly by: LookUpMode; readonly text: string };
  /** the records that its list returns */
  readonly list: string;
}

export interface Resource {
  /** in the names of its methods, and of Pulumi's class: `RoleBinding` */
  readonly type: string;
  /** in texts: `role binding` */
  readonly word: string;
  /** plural, in texts: `role bindings` */
  readonly words: string;
  /** field of the requests that holds it: `roleBinding` */
  readonly field: string;
  /** field of a list that holds them: `roleBindings` */
  readonly plural: string;
  readonly schema: Message;
  /** present if a program can declare it */
  readonly texts?: ResourceTexts;
  /** the rows of its service */
  readonly methods: Operations;
  /** the standard methods that it has, by verb */
  readonly operations: { readonly [V in Verb]?: MethodName<Capitalize<V>> };
  readonly list: {
    readonly operation: Exclude<MethodName<"List">, `${string}V1`>;
    readonly plural: string;
    /** sent with every request, so that the list is complete */
    readonly always?: Json;
    /** the one record that a group may have has the uid of the group */
    readonly sharesUid?: boolean;
  };
  /** type of its parent */
  readonly parent: "Group" | "IdentityProvider" | "Repo";
  /** may have no parent: it is an organization then */
  readonly root: boolean;
  /** rules that depend on where the record is */
  violations(input: Json, parent: unknown): FieldViolation[];
  /** fields that identify a record in its place; default: its name */
  readonly matchedBy: readonly string[];
  /** fields that no two records in a place share, so a new record needs the deletion of the old one; none: a place has one record */
  readonly unique?: readonly string[];
  /** a create updates the record of the same name; no other method updates it */
  readonly upsert?: boolean;
  /** a delete also deletes records in this one, or references to it (AIP-135, cascading delete) */
  readonly cascades?: boolean;
  /** neither the record nor its fields grant access, so a review leaves it out */
  readonly givesNoAccess?: boolean;
  /** whether the server chooses the fields of this record that it may choose by the schema; default: it always does */
  choosesFor?(record: Json): boolean;
  /** for people: the loss if a new record with another uid replaces this one; absent: nothing important */
  readonly replacementBreaks?: string;
}

interface Given
  extends Partial<Omit<Resource, "type" | "word" | "words" | "field" | "plural" | "methods" | "operations" | "list">>,
    Pick<Resource["list"], "always" | "sharesUid"> {
  schema: Message;
}

/** A descriptor, with the names that follow from the type: `RoleBinding` to `roleBindings`, `role binding`, `GetRoleBinding`. */
export const resource = <const T extends string, const M extends Operations>(
  type: T,
  methods: M,
  { always, sharesUid, ...given }: Given,
) => {
  const field = uncapitalize(type);
  const plural = pluralOf(field);
  const word = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const standard = VERBS.map((verb) => [verb, capitalize(verb) + type]).filter(([, name = ""]) => name in methods);
  return {
    type,
    field,
    word,
    plural,
    words: pluralOf(word),
    parent: "Group",
    root: false,
    violations: () => [],
    // A place has at most one such record.
    matchedBy: sharesUid ? [] : ["name"],
    ...(sharesUid && { unique: [] }),
    ...given,
    methods,
    operations: Object.fromEntries(standard) as StandardMethods<T, M>,
    list: { operation: `List${capitalize(plural)}` as Resource["list"]["operation"], plural, always, sharesUid },
  } satisfies Resource;
};

const pluralOf = (noun: string) => (noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/** A resource that a program can declare: it has texts, and the API creates, reads and deletes it. */
export type Managed = Resource &
  Required<Pick<Resource, "texts">> & {
    readonly operations: Required<Pick<Resource["operations"], "get" | "create" | "delete">>;
  };

export const isManaged = (one: Resource): one is Managed =>
  Boolean(one.texts && one.operations.get && one.operations.create && one.operations.delete);
