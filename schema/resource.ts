// What a resource of the API is, beside the rows of its methods: names, what holds it, what it refers to. The server, the
// provider and the review of access read these descriptors (resources.ts lists them).
import type { FieldViolation } from "./error.ts";
import type { Message } from "./field.ts";
import type { OperationName } from "./generated/message.ts";
import type { Json } from "./json.ts";
import type { Operations } from "./operation.ts";

/** The names of the methods of one verb: `Get` to `GetGroup`, `GetRole` … */
export type MethodName<Verb extends string> = Extract<OperationName, `${Verb}${string}`>;

export interface Resource {
  /** in the names of its methods, and Pulumi's class: `RoleBinding` */
  readonly type: string;
  /** in texts: `role binding` */
  readonly word: string;
  /** of several: `role bindings` */
  readonly words: string;
  /** field of the requests that holds it: `roleBinding` */
  readonly field: string;
  /** field of a list that holds them: `roleBindings` */
  readonly plural: string;
  readonly schema: Message;
  /** the rows of its service */
  readonly methods: Operations;
  /** what holds it: a group, or a repo; `root`: also nothing, as an organisation */
  readonly parent: "group" | "repo";
  readonly root: boolean;
  /** its uid is that of its group, which has at most one */
  readonly isOfGroup: boolean;
  /** fields that hold the uid of another record, and its type: what that one must wait for when it is deleted */
  readonly references: Readonly<Record<string, string>>;
  /** what the message cannot say of itself, since it depends on where the record is */
  violations(input: Json, parent: unknown): FieldViolation[];
}

interface Given extends Partial<Omit<Resource, "methods" | "type">> {
  schema: Message;
}

/** A descriptor, with the names that follow from the type: `RoleBinding` to `roleBindings` and `role binding`. */
export const resource = <const M extends Operations>(
  type: string,
  methods: M,
  given: Given,
): Resource & { readonly methods: M } => {
  const field = type.charAt(0).toLowerCase() + type.slice(1);
  const word = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return {
    type,
    field,
    word,
    plural: pluralOf(field),
    words: pluralOf(word),
    parent: "group",
    root: false,
    isOfGroup: false,
    references: {},
    violations: () => [],
    ...given,
    methods,
  };
};

const pluralOf = (noun: string): string => (noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/** The name of a standard method of a resource; undefined where the API has none. */
export const methodOf = <V extends string>({ type, plural, methods }: Resource, verb: V): MethodName<V> | undefined => {
  const noun = verb === "List" ? plural.charAt(0).toUpperCase() + plural.slice(1) : type;
  const name = `${verb}${noun}`;
  return name in methods ? (name as MethodName<V>) : undefined;
};
