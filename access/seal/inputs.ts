// The inputs of a resource in a seal: each leaf by its JSON pointer (RFC 6901). What stands for a new record becomes the URN of the
// resource that creates it, and what a preview does not show is marked.
import { withoutPlaceholders } from "../../client/placeholder-uid.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { SECRET, UNKNOWN } from "../preview/value.ts";
import type { Records } from "./records.ts";
import type { Inputs } from "./seal.ts";

/** What the provider adds, and what only names records for people. */
const isOwn = (name: string): boolean => name.startsWith("__") || name === "uid" || name === "names";

/** The pairs of a set: each is a role binding, which the seal has by itself. Their order depends on uids. */
const PAIRS = "bindings";

const pointerTo = (path: string, name: string): string => `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

type Leaf = string | number | boolean | null;

/** Calls `visit` for each leaf, where it has not returned true for what holds it. An empty list or object is absent to the API. */
const walk = (value: unknown, path: string, visit: (pointer: string, value: unknown) => boolean): void => {
  if (visit(path, value) || typeof value !== "object" || value === null) return;
  for (const [name, one] of Object.entries(value)) walk(one, pointerTo(path, name), visit);
};

const argumentsOf = (bag: Json): Json =>
  Object.fromEntries(Object.entries(bag).filter(([name, value]) => !isOwn(name) && name !== PAIRS && value != null));

/** `bag` are the inputs that a preview shows. */
export const sealedInputs = (bag: Json, records: Records): Inputs => {
  const inputs: Inputs = { values: {}, created: {}, hidden: {} };
  walk(argumentsOf(bag), "", (pointer, value) => {
    if (typeof value === "object" && value !== null) return false;
    const planned = isUidp(value) ? records.plannedWith(value) : undefined;
    if (planned !== undefined && planned !== "unknown") {
      const id = planned.planned?.uid ?? planned.urn;
      if (isUidp(id)) inputs.values[pointer] = id;
      else inputs.created[pointer] = id;
      return true;
    }
    const hidden = hiddenPart(value);
    if (hidden) inputs.hidden[pointer] = hidden;
    else inputs.values[pointer] = value as Leaf;
    return true;
  });
  return inputs;
};

/** What a preview does not show in a leaf; undefined: it shows all of it. */
const hiddenPart = (value: unknown): "unknown" | "secret" | undefined => {
  if (value === SECRET) return "secret";
  // A text that contains the uid of a new record will contain another one.
  const isUnknown = typeof value === "string" && (value.includes(UNKNOWN) || withoutPlaceholders(value) !== value);
  return isUnknown ? "unknown" : undefined;
};

/** The uid or the URN of what holds the record. */
export const parentIn = (inputs: Inputs | undefined): string =>
  String(inputs?.created["/parent"] ?? inputs?.values["/parent"] ?? "");

/** Whether the review does not know, or may not show, what is at the pointer. */
const isHiddenIn = ({ hidden }: Pick<Inputs, "hidden">, pointer: string): boolean =>
  Object.keys(hidden).some((one) => pointer === one || pointer.startsWith(`${one}/`));

/** Whether inputs of a later review are the sealed ones. `idOf` as below. What the seal hides is not compared. */
export const hasInputsOf = (
  sealed: Inputs | undefined,
  now: Inputs | undefined,
  idOf: (uid: string) => string,
): boolean => {
  if (sealed === undefined || now === undefined) return sealed === now;
  const shown = ({ values, created, hidden }: Inputs): string[] =>
    Object.entries({ ...values, ...created, ...hidden })
      .filter(([pointer]) => !isHiddenIn(sealed, pointer))
      .map(([pointer, value]) => JSON.stringify([pointer, typeof value === "string" ? idOf(value) : value]))
      .sort();
  return shown(sealed).join() === shown(now).join();
};

/** The pointers at which the inputs of a run differ from the sealed ones. `idOf` finds the URN of what creates a record, or its uid. */
export const differingInputs = (sealed: Inputs, bag: Json, idOf: (uid: string) => string): string[] => {
  const { values, created } = sealed;
  const differing: string[] = [];
  const met = new Set<string>();
  walk(argumentsOf(bag), "", (pointer, value) => {
    if (isHiddenIn(sealed, pointer)) return true;
    if (typeof value === "object" && value !== null) return false;
    met.add(pointer);
    const urn = created[pointer];
    const agrees = urn === undefined ? values[pointer] === value : isUidp(value) && idOf(value) === urn;
    if (!agrees) differing.push(pointer);
    return true;
  });
  for (const pointer of [...Object.keys(values), ...Object.keys(created)])
    if (!met.has(pointer)) differing.push(pointer);
  return differing.sort();
};

/** As a person reads them: `capabilities` for each of its items, `claimMatch.subject` for a member. */
export const inputNames = (pointers: readonly string[]): string[] => [
  ...new Set(
    pointers.map((pointer) => {
      const names = pointer.slice(1).split("/");
      const item = names.findIndex((name) => /^\d+$/.test(name));
      return names.slice(0, item < 0 ? undefined : item).join(".");
    }),
  ),
];
