// The differences between the inputs of a resource in the program and in the service, property by property. A secret is never shown: if one
// side has marked a value as secret, the other side's value is also hidden.

import { SECRET, UNKNOWN } from "../../pulumi/value.ts";
import { isObject, type Json } from "../../schema/index.ts";
import { compare as byText, equalityKey, mapItems } from "../canonical.ts";
import { friendlyCapability } from "../capability.ts";
import type { Difference } from "../format/drift.ts";

/** Shown for a value that only the update knows. */
const NOT_KNOWN = "[unknown]";

interface Sides {
  program: unknown;
  live: unknown;
  /** after the last update */
  base: unknown;
}

/** `base`: the inputs of the last update; undefined: the stack does not contain them. */
export const differencesOf = (program: Json, live: Json, base: Json | undefined): Difference[] => {
  const leaves = leavesOf("", { program: own(program), live: own(live), base: own(base ?? {}) });
  const shown = leaves.flatMap(differ);
  // The engine still sees a difference: in a secret, or in the order of a list.
  const found = shown.length > 0 ? shown : leaves.flatMap(differHidden);
  return base === undefined ? found.map(({ changedIn: _, ...one }) => one) : found;
};

/** Marks of the provider, and arguments that identify the record or describe it in messages: no record contains them. */
const isOurs = (name: string) => name.startsWith("__") || ["adopt", "names", "uid"].includes(name);

const own = (inputs: Json): Json => Object.fromEntries(Object.entries(inputs).filter(([name]) => !isOurs(name)));

interface Leaf extends Sides {
  path: string;
}

const leavesOf = (path: string, sides: Sides): Leaf[] => {
  const { program, live, base } = sides;
  if (!isObject(program) || !isObject(live)) return [{ path, ...sides }];
  const names = [...new Set([...Object.keys(program), ...Object.keys(live)])].sort(byText);
  return names.flatMap((name) => {
    const [ours, its, old] = [program, live, base].map((value) => memberOf(value, name));
    return leavesOf(pathTo(path, name), { program: ours, live: its, base: old });
  });
};

/** Others choose the names of members: a missing one may be `constructor`, which every object inherits. */
const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const pathTo = (path: string, name: string) => {
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
};

const differ = (leaf: Leaf): Difference[] => {
  const { path, program, live, base } = leaf;
  if (equalityKey(program) === equalityKey(live)) return [];
  const given = [program, live].filter((one) => one !== undefined && one !== null);
  const isList = given.every(Array.isArray);
  if (isList && ![program, live, base].some(hasSecret)) return elements(leaf);
  const shown = {
    program: hasSecret(live) || hasSecret(base) ? hide(program) : show(path, program),
    live: hasSecret(program) || hasSecret(base) ? hide(live) : show(path, live),
  };
  return [{ path, ...shown, ...changedIn(leaf) }];
};

/** The values are equal to the API, or look equal in the preview. */
const differHidden = ({ path, program, live }: Leaf): Difference[] => {
  if (hasSecret(program) || hasSecret(live)) return [{ path, program: hide(program), live: hide(live) }];
  if (!Array.isArray(program) || !Array.isArray(live) || JSON.stringify(program) === JSON.stringify(live)) return [];
  return [{ path, program: show(path, program), live: show(path, live) }];
};

const changedIn = ({ program, live, base }: Sides): Pick<Difference, "changedIn"> => {
  if (hasUnknown(program) || [program, live, base].some(hasSecret)) return {};
  const [atService, inProgram] = [equalityKey(base) !== equalityKey(live), equalityKey(base) !== equalityKey(program)];
  return { changedIn: atService && inProgram ? "both" : atService ? "service" : "program" };
};

/** One difference for each element that only one side has. */
const elements = ({ path, program, live, base }: Leaf): Difference[] => {
  const [news, olds] = [listOf(program), listOf(live)];
  const known = new Set(listOf(base).map(equalityKey));
  const sideOf = (element: unknown, isInProgram: boolean): Pick<Difference, "changedIn"> => {
    if (hasUnknown(element)) return {};
    return { changedIn: known.has(equalityKey(element)) === isInProgram ? "service" : "program" };
  };
  return [
    ...without(news, olds).map((one) => ({ path, program: show(path, one), live: null, ...sideOf(one, true) })),
    ...without(olds, news).map((one) => ({ path, program: null, live: show(path, one), ...sideOf(one, false) })),
  ];
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The elements of `list` minus one for each equal element of `others`. */
const without = (list: readonly unknown[], others: readonly unknown[]): unknown[] => {
  const left = new Map<string, number>();
  for (const text of others.map(equalityKey)) left.set(text, (left.get(text) ?? 0) + 1);
  return list.filter((one) => {
    const text = equalityKey(one);
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
};

const someText = (value: unknown, is: (text: string) => boolean): boolean => {
  if (typeof value === "string") return is(value);
  return typeof value === "object" && value !== null && Object.values(value).some((one) => someText(one, is));
};

const hasSecret = (value: unknown) => someText(value, (text) => text === SECRET);

const hasUnknown = (value: unknown) => someText(value, (text) => text.includes(UNKNOWN));

const hide = (value: unknown): unknown => (value === undefined || value === null ? null : SECRET);

/** As people write it: unknown values are marked, and capabilities have the names of the documentation. */
const show = (path: string, value: unknown): unknown =>
  mapTexts(value ?? null, (text) => {
    if (hasUnknown(text)) return NOT_KNOWN;
    return path === "capabilities" ? (friendlyCapability(text) ?? text) : text;
  });

/** The value with its texts replaced. */
export const mapTexts = (value: unknown, to: (text: string) => unknown): unknown =>
  typeof value === "string" ? to(value) : mapItems(value, (one) => mapTexts(one, to));
