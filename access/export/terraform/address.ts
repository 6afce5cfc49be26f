// Addresses of Terraform: module.team["x"].chainguard_group.platform[0]
import { printable } from "../../../schema/index.ts";

export type Key = string | number;

interface Step {
  name: string;
  key?: Key;
}

/** A resource; with keys, one instance of it. */
export interface Address {
  modules: readonly Step[];
  type: string;
  name: string;
  key?: Key;
}

const IDENTIFIER = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const isName = new RegExp(`^${IDENTIFIER}$`, "u");
const isModulePath = new RegExp(String.raw`^module\.(?:${IDENTIFIER})(?:\[(?:\d+|${QUOTED})\])?(?:\.|$)`, "su");

/** Undefined where a part of it is no name. */
export const addressFrom = (modules: unknown, type: unknown, name: unknown, key: unknown): Address | undefined => {
  const path = parseModules(modules ?? "");
  const isKey = key === undefined || key === null || typeof key === "string" || Number.isSafeInteger(key);
  if (path === undefined || !isIdentifier(type) || !isIdentifier(name) || !isKey) return undefined;
  return { modules: path, type, name, ...(key != null && { key: key as Key }) };
};

const isIdentifier = (text: unknown): text is string => typeof text === "string" && isName.test(text);

const parseModules = (path: unknown): Step[] | undefined => {
  if (typeof path !== "string") return undefined;
  const steps: Step[] = [];
  for (let rest = path; rest !== ""; ) {
    const [step] = isModulePath.exec(rest) ?? [];
    if (step === undefined) return undefined;
    rest = rest.slice(step.length);
    if (step.endsWith(".") === (rest === "")) return undefined;
    const [, name = "", key] = /^module\.([^[]+?)(?:\[(.*)\])?\.?$/s.exec(step) ?? [];
    const parsed = key === undefined ? undefined : parseKey(key);
    if (key !== undefined && parsed === undefined) return undefined;
    steps.push({ name, ...(parsed !== undefined && { key: parsed }) });
  }
  return steps;
};

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };

const parseKey = (text: string): Key | undefined => {
  if (!text.startsWith('"')) return Number(text);
  let isWhole = true;
  const key = text
    .slice(1, -1)
    .replace(/\\(u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)|\$\$\{|%%\{/gs, (all, escaped?: string) => {
      if (escaped === undefined) return all.slice(1);
      if (escaped.length === 1) {
        isWhole &&= Object.hasOwn(ESCAPES, escaped);
        return ESCAPES[escaped] ?? "";
      }
      const code = Number.parseInt(escaped.slice(1), 16);
      isWhole &&= code <= 0x10ffff;
      return isWhole ? String.fromCodePoint(code) : "";
    });
  return isWhole ? key : undefined;
};

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
export const addressText = ({ modules, type, name, key }: Address): string =>
  [...modules.map((step) => `module.${step.name}${keyText(step.key)}`), `${type}.${name}${keyText(key)}`].join(".");

/** Of the resource, in the configuration: without keys. */
export const resourceText = (address: Address): string => addressText(resourceOf(address));

export const resourceOf = ({ modules, type, name }: Address): Address => ({
  modules: modules.map((step) => ({ name: step.name })),
  type,
  name,
});

/** A text as one word of a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
