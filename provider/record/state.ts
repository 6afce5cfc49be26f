// One record in its four shapes: the arguments that the engine keeps as inputs ("bag"), the request, the response, and the outputs in
// the state.
import { AT, SERVICE } from "../../client/preview-marks.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import { argumentPath, isObject, isUidp, type Json, normalForm, outputsOf } from "../../schema/index.ts";
import { placeOfRecord } from "./id.ts";
import type { Kind } from "./kind.ts";
import { choicesOf, GIVEN, observe, SECRETS, withoutPaths, withTexts, withUnreturned } from "./normal-form.ts";

/** The engine's own member of the bag: the text that imports this code. */
export const PROVIDER = "__provider";

/** Added by the constructor of a dynamic resource, or the check of a native one, for the intent journal: organization/project/stack/type::name of the resource. */
export const KEY = "__key";

/** Added by a program with native resources, and removed by the check: name of the stack's organization. */
export const ORGANIZATION = "__organization";

/**
 * Added by the constructor of a native resource, and removed by its check: data that only this run needs, as one input. The engine keeps
 * the dependencies of each input, even empty ones, and even if the check removes the input.
 */
export const RUN = "__run";

/** Its presence also shows that the program's class derives the output `parent` from the id, so the state needs none. */
export interface RunInput {
  /** name of the stack's organization */
  organization?: string;
  isPreview?: boolean;
  /** the argument of a role binding */
  names?: Json;
}

/** Whether the engine has no inputs, or outputs, of a resource: it is new. */
export const isEmpty = (bag: Json): boolean => Object.keys(bag).length === 0;

/** The place in its stack, of a key: `organization/project/stack/RoleBinding::editors` to `RoleBinding::editors`. */
export const placeInKey = (key: unknown): string => String(key).split("/").slice(3).join("/");

/** The logical name in a key or a URN: `organization/project/stack/RoleBinding::editors` to `editors`. */
export const nameInKey = (key: unknown): string => String(key ?? "").replace(/^.*::/s, "");

/** Added by the constructor in a preview. The check removes it and adds `uid` to a new resource, so no state has either. */
export const PREVIEW = "__preview";

/**
 * Added by the constructor in a preview, for a record that the preview describes: the names of the arguments that the program marks as
 * secret.
 */
export const SECRET_ARGUMENTS = "__secretArguments";

/**
 * Added by a component that adopts existing records and creates the rest: uid of the existing record. The check removes it, and makes it
 * the argument `adopt` of a resource that is new to the stack, so no state has it.
 */
export const MATCH = "__match";

/**
 * Added by the check in place of the argument `adopt`: the uid that it names. The resource had that record, which was deleted, and creates
 * another one. From then on its `adopt` has no effect.
 */
export const FORMER = "__former";

/** Added by the constructor: the option replaceOnChanges, which the engine does not apply to dynamic resources. */
export const REPLACE_ON = "__replaceOnChanges";

const HIDDEN = [PROVIDER, KEY, SERVICE, REPLACE_ON, AT, FORMER];

/** The members of the bag that are not arguments. */
export const hiddenMembers = (bag: Json): Json => membersOf(bag, HIDDEN);

/** The members with these names that have a value. */
export const membersOf = (bag: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (bag[name] === undefined ? [] : [[name, bag[name]]])));

/** An output of a role binding: the name that the program gives for its built-in role. */
export const ROLE_NAME = "__role";

/** Replaces a name that the program marks as secret, in the argument `names` and in the output of Pulumi. */
export const SECRET_NAME = "[secret]";

/** The arguments that were given; null counts as not given. */
export const givenArguments = (bag: Json): Json =>
  withoutNull(Object.fromEntries(Object.entries(bag).filter(([name]) => !HIDDEN.includes(name)))) as Json;

/**
 * Arguments that the API does not have, with their defaults. Outputs hold them too, because read and delete receive only outputs.
 */
const SWITCHES: Json = {
  allowReplace: false,
  forceDestroy: false,
  forceDestroyMax: 50,
  deleteAdopted: false,
};

/** An output: the record existed before this resource, and is kept when the resource is deleted. */
const ADOPTED = "adopted";

/** An output: `pulumi import` read the record, so values that the service shows once are unknown, but do not count as lost. */
export const IMPORTED = "__imported";

const ORIGINS: Json = { [ADOPTED]: false, [IMPORTED]: false };

/** An input: the effect of a deletion on an adopted record. A preview shows inputs. */
const ON_DELETE = "onDelete";

const onDelete = (deleteAdopted: unknown): Json => ({
  [ON_DELETE]: deleteAdopted === true ? "deletes the adopted record" : "the adopted record stays",
});

/** Added to the inputs `news` of a resource that adopts a record, or has adopted one; `olds` are its inputs so far. */
export const shownOnDelete = (olds: Json, news: Json): Json => {
  const isAdopted = isEmpty(olds) ? news.adopt !== undefined : olds[ON_DELETE] !== undefined;
  return isAdopted ? onDelete(news.deleteAdopted) : {};
};

/** The members with these names that differ from their defaults. */
const differingFrom = (defaults: Json, bag: Json): Json =>
  Object.fromEntries(
    Object.entries(defaults).flatMap(([name, usual]) => {
      const value = bag[name] ?? usual;
      return value === usual ? [] : [[name, value]];
    }),
  );

/** The arguments that differ and that the API does not have: the update stores them and sends nothing. */
export const changedSwitches = (olds: Json, desired: Json): string[] => {
  const [before, after] = [differingFrom(SWITCHES, olds), differingFrom(SWITCHES, desired)];
  return Object.keys(SWITCHES).filter((name) => before[name] !== after[name]);
};

const withoutNull = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNull(member)]));
};

/** `identityUid` to `identity`, `sync_config.source` to `syncConfig.source`: the name that the program used. */
export const argumentOf = (kind: Kind, path: string): string => argumentPath(kind.arguments, path);

/** The output's name for a path of the API. */
export const outputOf = (kind: Kind, path: string): string => argumentPath(outputsOf(kind.schema), path);

/** A bag with other names of its members. */
export const renameFields = (bag: Json, names: readonly (readonly [string, string])[]): Json => {
  const result = { ...bag };
  for (const [from, to] of names) {
    if (result[from] === undefined) continue;
    result[to] ??= result[from];
    delete result[from];
  }
  return result;
};

/** The arguments of a bag by the names of the API's fields. A state of version 0.1 already uses these names. */
export const argumentsIn = (kind: Kind, bag: Json): Json =>
  renameFields(
    givenArguments(bag),
    Object.entries(kind.arguments).map(([field, argument]) => [argument, field]),
  );

/**
 * The API's fields, uid first. Nothing is undefined: the SDK cannot send it, and the engine would lose the record. The switches come
 * from `bag`, the arguments or the outputs so far.
 */
export const outputsFrom = (kind: Kind, answer: Json, bag: Json): Json => {
  const whole = withUnreturned(kind, answer, bag);
  const { uid, ...fields } = kind.stored?.(whole, bag) ?? whole;
  const place = isUidp(uid) ? placeOfRecord(kind, uid) : "";
  const parent = place === "" ? {} : { parent: place };
  return withoutNull({ uid, ...parent, ...fields, ...differingFrom({ ...SWITCHES, ...ORIGINS }, bag) }) as Json;
};

/** The outputs that follow from the id: the classes of programs derive them, so that the state needs none. */
export const derivedOutputs = ({ parentOutput }: Kind): string[] =>
  parentOutput === undefined ? ["parent"] : ["parent", `${parentOutput}.uid`];

/** Whether stored outputs leave the uid of the group that holds the record to its id. */
export const hasDerivedPlace = ({ parentOutput }: Kind, outputs: Json): boolean => {
  const group = parentOutput === undefined ? undefined : outputs[parentOutput];
  return isObject(group) && group.uid === undefined;
};

/** Adds that uid to stored outputs. */
export const withPlace = (kind: Kind | undefined, id: string, outputs: Json): Json => {
  const { parentOutput = "" } = kind ?? {};
  if (!kind || !hasDerivedPlace(kind, outputs) || !isUidp(id)) return outputs;
  return { ...outputs, [parentOutput]: { uid: placeOfRecord(kind, id), ...(outputs[parentOutput] as Json) } };
};

/** The outputs that record how the resource obtained a record that it did not create. */
export const originIn = (outputs: Json): Json => differingFrom(ORIGINS, outputs);

/** The API's fields of stored outputs. */
export const withoutOwn = (outputs: Json): Json => {
  const hidden = [...HIDDEN, ROLE_NAME, GIVEN, SECRETS, ...Object.keys(ORIGINS), ...Object.keys(SWITCHES)];
  return withoutPaths(outputs, hidden);
};

/**
 * The inputs that describe the record as it is. They omit values that the service chose: a diff compares those only if the program gave
 * them. The uid shows whether a group is a root.
 */
export const inputsFrom = (kind: Kind, id: string, observed: Json, stored: Json): Json => {
  const parent = placeOfRecord(kind, id);
  const shown = normalForm(kind.schema, observe(kind, observed), UNKNOWN);
  const fields = withoutPaths(shown, choicesOf(kind, shown));
  const args = {
    ...renameFields(withTexts(fields, observed), Object.entries(kind.arguments)),
    ...kind.shown?.(observed),
    ...(stored[ADOPTED] === true ? onDelete(stored.deleteAdopted) : {}),
  };
  return { ...(parent === "" ? { root: true } : { parent }), ...args, ...differingFrom(SWITCHES, stored) };
};
