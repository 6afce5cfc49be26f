// One record in its four shapes: the bag of arguments that the engine keeps as inputs, the message that a request carries,
// the answer, and the outputs in the state.
import { isUidp, type Json, orderLists } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { placeOf } from "../kind/record.ts";
import {
  choicesOf,
  GIVEN,
  normal,
  observe,
  SECRETS,
  withGivenTexts,
  withTexts,
  withUnreturned,
} from "./normal-form.ts";
import { isUnknown, withoutPaths } from "./path.ts";

/** The engine's own member of the bag: the text that finds this code again. */
export const PROVIDER = "__provider";

/** What the constructor adds: organisation/project/stack/type::name of the resource, for the intent journal. */
export const KEY = "__key";

/** What the constructor adds in a preview, and the check takes out again: it is in no state. */
export const PREVIEW = "__preview";

/** What the check adds: address of the service that has the record (provider/engine/service-gate.ts). */
export const SERVICE = "__service";

/** What the constructor adds: the option replaceOnChanges, which the engine does not apply to dynamic resources. */
export const REPLACE_ON = "__replaceOnChanges";

const HIDDEN = [PROVIDER, KEY, SERVICE, REPLACE_ON];

/** What is in the bag beside the arguments. */
export const hidden = (bag: Json): Json =>
  Object.fromEntries(HIDDEN.flatMap((name) => (bag[name] === undefined ? [] : [[name, bag[name]]])));

/** Of the outputs of a role binding: the name that the program gives for its built-in role. */
export const ROLE_NAME = "__role";

/** What stands for a name that the program marks as secret, in the argument `names` and in lines for people. */
export const SECRET_NAME = "[secret]";

/** The arguments that were given; null counts as not given. */
export const given = (bag: Json): Json =>
  withoutNull(Object.fromEntries(Object.entries(bag).filter(([name]) => !HIDDEN.includes(name)))) as Json;

/**
 * Arguments that are ours and not the API's, with what is meant when they are not given. Outputs hold them too, because read
 * and delete are given outputs only.
 */
const SWITCHES: Readonly<Record<string, unknown>> = {
  allowReplace: false,
  forceDestroy: false,
  forceDestroyMax: 50,
  deleteAdopted: false,
};

/** Of outputs: the record was there before this resource, and is left in place when it goes. */
const ADOPTED = "adopted";

/** Of inputs: what a deletion does to an adopted record, for the reader of a preview, which shows inputs. */
const ON_DELETE = "onDelete";

const onDelete = (deleteAdopted: unknown): Json => ({
  [ON_DELETE]: deleteAdopted === true ? "deletes the adopted record" : "the adopted record stays",
});

/** Beside the inputs `news` of a resource that adopts a record, or has adopted one; `olds` are its inputs so far. */
export const shownOnDelete = (olds: Json, news: Json): Json =>
  (news.adopt ?? olds[ON_DELETE]) === undefined ? {} : onDelete(news.deleteAdopted);

/** Of outputs: the record was adopted, and is left in place when its resource goes. */
export const staysOnDelete = (outputs: Json): boolean => outputs[ADOPTED] === true && outputs.deleteAdopted !== true;

const switchesOf = (bag: Json): Json =>
  Object.fromEntries(
    Object.entries(SWITCHES).flatMap(([name, usual]) => {
      const value = bag[name] ?? usual;
      return value === usual ? [] : [[name, value]];
    }),
  );

/** Whether arguments differ that are ours alone: they are stored, and nothing is sent. */
export const switchesDiffer = (olds: Json, desired: Json): boolean =>
  JSON.stringify(switchesOf(olds)) !== JSON.stringify(switchesOf(desired));

const withoutNull = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNull(member)]));
};

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `identityUid` to `identity`, `sync_config.source` to `syncConfig.source`: the name that the program used. */
export const argumentOf = (kind: Kind, path: string): string =>
  path.replace(/^\w+/, (field) => kind.arguments?.[field] ?? field);

/** The arguments under the names of the API's fields. A state of version 0.1 has them already. */
const fieldsFrom = (kind: Kind, bag: Json): Json =>
  renamed(
    bag,
    Object.entries(kind.arguments ?? {}).map(([field, argument]) => [argument, field]),
  );

/** The API's fields under the names that the program uses. */
const argumentsFrom = (kind: Kind, bag: Json): Json => renamed(bag, Object.entries(kind.arguments ?? {}));

const renamed = (bag: Json, names: readonly (readonly [string, string])[]): Json => {
  const result = { ...bag };
  for (const [from, to] of names) {
    if (result[from] === undefined) continue;
    result[to] ??= result[from];
    delete result[from];
  }
  return result;
};

/** The arguments of a bag by the names of the API's fields. */
export const argumentsIn = (kind: Kind, bag: Json): Json => fieldsFrom(kind, given(bag));

/** As the engine keeps the arguments. */
export const canonicalize = (kind: Kind, bag: Json): Json => argumentsFrom(kind, kind.canonicalize?.(bag) ?? bag);

/** Lists whose order means nothing are kept in one order, so that no other one ever shows as a change. */
export const withOrderedLists = (kind: Kind, bag: Json): Json => orderLists(kind.schema, bag, isUnknown);

/**
 * Outputs: the API's fields, uid first; nothing undefined, which the SDK cannot send: it would lose the record. `own` are
 * the arguments or the outputs that the switches come from.
 */
export const outputsFrom = (kind: Kind, answer: Json, own: Json): Json => {
  const whole = withGivenTexts(kind, withUnreturned(kind, answer, own), own);
  const { uid, ...fields } = kind.stored?.(whole, own) ?? whole;
  const place = isUidp(uid) ? placeOf(kind, uid) : "";
  const parent = place === "" ? {} : { parent: place };
  const adopted = own[ADOPTED] === true ? { [ADOPTED]: true } : {};
  return withoutNull({ uid, ...parent, ...fields, ...switchesOf(own), ...adopted }) as Json;
};

/** The API's fields of stored outputs. */
export const withoutOwn = (outputs: Json): Json => {
  const own = [...HIDDEN, ROLE_NAME, GIVEN, SECRETS, ADOPTED, ...Object.keys(SWITCHES)];
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => !own.includes(name)));
};

/**
 * The inputs that describe the record as it is. Values that the service chose are left out: the program may never have given
 * them, and a diff compares them only when it does. That a group is a root is in its uid.
 */
export const inputsFrom = (kind: Kind, id: string, observed: Json, stored: Json): Json => {
  const parent = placeOf(kind, id);
  const shown = normal(kind.schema, observe(kind, observed));
  const fields = withoutPaths(shown, choicesOf(kind, shown));
  const own = {
    ...argumentsFrom(kind, withTexts(fields, observed)),
    ...kind.shown?.(observed),
    ...(stored[ADOPTED] === true ? onDelete(stored.deleteAdopted) : {}),
  };
  return { ...(parent === "" ? { root: true } : { parent }), ...own, ...switchesOf(stored) };
};
