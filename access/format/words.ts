// Words that every format shares.
import { joinWithAnd } from "../list-text.ts";
import type { Part } from "./document/document.ts";

/** `1 binding`, `2 bindings` */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const NAMES_SHOWN = 3;

/** `acme and tools`, `5 organizations`; empty where none is known. `show` sets names of others apart. */
export const organizationsText = (names: readonly string[], show: (name: string) => string = (name) => name): string =>
  names.length > NAMES_SHOWN ? `${names.length} organizations` : joinWithAnd(names.map((name) => show(name)));

/** ` in acme`, behind a title. */
export const inOrganizationsText = (names: readonly string[], show?: (name: string) => string): string =>
  names.length === 0 ? "" : ` in ${organizationsText(names, show)}`;

/** The same in parts. */
export const inOrganizations = (names: readonly string[]): Part[] =>
  names.length === 0 || names.length > NAMES_SHOWN
    ? [inOrganizationsText(names)]
    : names.flatMap((quoted, i) => [i === 0 ? " in " : i + 1 < names.length ? ", " : " and ", { quoted }]);
