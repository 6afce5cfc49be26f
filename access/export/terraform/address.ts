// Addresses of Terraform: module.team["x"].chainguard_group.platform[0]
import { printable } from "../../../schema/index.ts";

type Key = string | number;

/** A resource; with a key, one instance of it. */
export interface Address {
  /** as Terraform writes it: `module.team["x"]`; empty: the root module */
  module: string;
  type: string;
  name: string;
  key?: Key;
}

const IDENTIFIER = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;
const ESCAPE = String.raw`\\(?:[nrt"\\]|u[\da-fA-F]{4}|U(?:000[\da-fA-F]|0010)[\da-fA-F]{4})`;
const KEY = String.raw`\[(?:\d+|"(?:[^"\\]|${ESCAPE})*")\]`;
const MODULE = String.raw`module\.${IDENTIFIER}(?:${KEY})?`;
const isName = new RegExp(`^${IDENTIFIER}$`, "u");
const isModulePath = new RegExp(String.raw`^(?:${MODULE}(?:\.${MODULE})*)?$`, "su");
const keys = new RegExp(KEY, "gsu");

/** Undefined where a part of it is no name. */
export const addressFrom = (module: unknown, type: unknown, name: unknown, key: unknown): Address | undefined => {
  const path = module ?? "";
  const isKey = key === undefined || key === null || typeof key === "string" || Number.isSafeInteger(key);
  if (typeof path !== "string" || !isModulePath.test(path) || !isIdentifier(type) || !isIdentifier(name) || !isKey)
    return undefined;
  return { module: path, type, name, ...(key != null && { key: key as Key }) };
};

const isIdentifier = (text: unknown): text is string => typeof text === "string" && isName.test(text);

/** A text of Terraform's language, with everything that a reader cannot see escaped. */
const quoted = (text: string): string => {
  const inner = [...text.replace(/([$%])\{/g, "$1$1{")].map((one) => {
    if (one === '"' || one === "\\") return `\\${one}`;
    if (one === "\n") return "\\n";
    if (one === "\r") return "\\r";
    if (one === "\t") return "\\t";
    if (printable(one) === one) return one;
    const code = (one.codePointAt(0) as number).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
  return `"${inner.join("")}"`;
};

const keyText = (key: Key | undefined): string => {
  if (key === undefined) return "";
  return `[${typeof key === "number" ? key : quoted(key)}]`;
};

/** Of the instance, as Terraform prints it. */
export const addressText = ({ module, type, name, key }: Address): string =>
  printable([...(module === "" ? [] : [module]), `${type}.${name}${keyText(key)}`].join("."));

/** Of the resource, in the configuration: without keys. */
export const resourceText = (address: Address): string => addressText(resourceOf(address));

export const resourceOf = ({ module, type, name }: Address): Address => ({
  module: module.replaceAll(keys, ""),
  type,
  name,
});

/** A text as one word of a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
