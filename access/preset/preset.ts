// The parts of a preset: a few arguments, their rules, and the relationship that they produce. In an argument, `*` stands for any
// characters except `/` and `:`, and every other character for itself.
import { isIssuer, isObject } from "../../schema/index.ts";
import { suggestion } from "../../schema/nearest.ts";

// The texts of presets: `*` becomes a pattern, and everything else is literal; and the rules that several presets share.

type Violation = (text: string) => string | undefined;

export const hasWildcard = (text: string): boolean => text.includes("*");

/** A part of a claim: a text in which `*` may be a wildcard, or a pattern. */
export type Part = string | { pattern: string };

const patternOf = (part: Part) =>
  typeof part === "string" ? part.split("*").map(escapeRe2).join("[^/:]*") : part.pattern;

// RE2 accepts a backslash before any ASCII punctuation (https://github.com/google/re2/wiki/Syntax).
const escapeRe2 = (text: string) => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");

/** The parts in sequence: equal to the claim if no part is open, or a pattern of the whole claim. */
export const exactOrPattern = (
  ...parts: readonly Part[]
): { exact: string; pattern?: undefined } | { exact?: undefined; pattern: string } =>
  parts.every((part) => typeof part === "string" && !hasWildcard(part))
    ? { exact: parts.join("") }
    : { pattern: parts.map(patternOf).join("") };

export const subjectOf = (...parts: readonly Part[]): { subject: string } | { subjectPattern: string } => {
  const text = exactOrPattern(...parts);
  return text.exact === undefined ? { subjectPattern: text.pattern } : { subject: text.exact };
};

/** A colon separates the parts of a subject, so one in an argument would reach into the next part. */
export const noColon: Violation = (text) =>
  text.includes(":") ? 'must not contain ":", which separates the parts of the subject' : undefined;

/** One segment of a path: also no slash. */
export const segment: Violation = (text) => (text.includes("/") ? 'must not contain "/"' : noColon(text));

/** A segment without wildcards: `*` would let in strangers. */
export const oneSegment =
  (what: string): Violation =>
  (text) =>
    hasWildcard(text) ? `must name one ${what}: * is not allowed here` : segment(text);

/** The name of a branch or tag. */
const refName =
  (kind: "branch" | "tag"): Violation =>
  (text) => {
    const [, name] = /^refs\/(?:heads|tags)\/(.+)$/s.exec(text) ?? [];
    return name === undefined ? noColon(text) : `must be the name of the ${kind} alone: ${name}`;
  };

/** Arguments of an Identity: assumed by a workload whose token's claims match. */
export interface ClaimMatchRelationship {
  /** What the claims of a token must be */
  claimMatch: {
    /** `iss`, byte for byte */
    issuer: string;
    /** `aud`; default: the issuer of the service, its bare host, or the API audience */
    audience?: string;
    /** Further claims, each equal; default: none */
    claims?: Record<string, string>;
    /** Further claims, each matching its pattern; default: none */
    claimPatterns?: Record<string, string>;
  } & (
    | {
        /** `sub`, byte for byte */
        subject: string;
        subjectPattern?: undefined;
      }
    | {
        subject?: undefined;
        /** Pattern for `sub` */
        subjectPattern: string;
      }
  );
}

interface PresetField {
  /** for the schema of policy files */
  description: string;
  optional?: true;
  /** default: a string */
  type?: "boolean";
  /** the mistake in a text, and its correction */
  violation?: (text: string) => string | undefined;
}

interface PresetProblem {
  /** name of the argument; absent: the combination */
  field?: string;
  text: string;
}

export interface Preset<Args = never, R extends object = object> {
  /** as people call it: `GitHub Actions` */
  title: string;
  fields: Readonly<Record<string, PresetField>>;
  /** arguments of which exactly one must be given */
  choice?: readonly string[];
  /** arguments of which at least one must be given */
  some?: readonly string[];
  /** arguments that exclude each other, among the strings */
  conflicts?(args: Readonly<Record<string, string | undefined>>): PresetProblem[];
  /** of arguments without problems */
  relationship(args: Args): R;
}

/** Every mistake in the arguments, even if they come from JavaScript or a file. */
export const presetProblems = (preset: Preset, args: unknown): PresetProblem[] => {
  const { fields, choice = [], some = [] } = preset;
  if (!isObject(args)) return [{ text: "must be a map" }];
  const names = Object.keys(fields);
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  const wrong = given.flatMap(([field, value]) => {
    const text = Object.hasOwn(fields, field)
      ? valueViolation(fields[field] as PresetField, value)
      : `unknown argument${suggestion(field, names)}`;
    return text === undefined ? [] : [{ field, text }];
  });
  const missing = names
    .filter((name) => !fields[name]?.optional && !choice.includes(name) && !some.includes(name))
    .filter((name) => given.every(([field]) => field !== name))
    .map((name) => ({ text: `${name} is required` }));
  if (some.length > 0 && given.every(([name]) => !some.includes(name)))
    missing.push({ text: `one of ${some.join(", ")} is required` });
  const strings = Object.fromEntries(given.filter((one): one is [string, string] => typeof one[1] === "string"));
  return [...wrong, ...missing, ...choiceProblems(choice, given), ...(preset.conflicts?.(strings) ?? [])];
};

/** Without quotes, YAML does not read 1.10 and true as texts. */
export const mustBeString = (written: string): string => `must be a string: write "${written}", in quotes`;

const valueViolation = ({ type, violation }: PresetField, value: unknown) => {
  if (type === "boolean") return typeof value === "boolean" ? undefined : "must be true or false";
  if (typeof value === "number" || typeof value === "boolean") return mustBeString(String(value));
  if (typeof value !== "string") return "must be a string";
  if (value === "") return "must not be empty";
  if (value.length > 255) return "must be at most 255 characters";
  if (/\p{Cc}/u.test(value)) return "must not contain control characters";
  return violation?.(value);
};

const choiceProblems = (choice: readonly string[], given: readonly [string, unknown][]): PresetProblem[] => {
  const set = given.filter(([name]) => choice.includes(name));
  if (choice.length === 0 || set.length === 1) return [];
  const last = set.at(-1);
  return last === undefined
    ? [{ text: `one of ${choice.join(", ")} is required` }]
    : [{ field: last[0], text: `only one of ${choice.join(", ")} may be given` }];
};

/** The function that a program calls. It throws a TypeError with every problem. */
export const presetFunction =
  <Args, R extends object>(name: string, preset: Preset<Args, R>) =>
  (args: Args) => {
    const problems = presetProblems(preset, args);
    if (problems.length === 0) return preset.relationship(args);
    const texts = problems.map(({ field, text }) => (field === undefined ? text : `${field} ${text}`));
    throw new TypeError(`${name}: ${texts.join("; ")}`);
  };

// The issuer and the audience that presets accept.

/** Issuers are exact: the compared text is the address that is fetched. */
export const issuerViolation = (text: string): string | undefined => {
  if (text.includes("*")) return "must name one issuer: * is not allowed here";
  if (isIssuer(text)) return undefined;
  if (/^http:/i.test(text)) return `must be https: https${text.slice("http".length)}`;
  if (!/^[a-z]+:/i.test(text) && isIssuer(`https://${text}`)) return `must be an https URL: https://${text}`;
  return "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";
};

export const issuerField = (description: string): PresetField => ({
  description,
  optional: true,
  violation: issuerViolation,
});

export const refFields = {
  branch: { description: "name of a branch: main, release/*", violation: refName("branch") },
  tag: { description: "name of a tag: v*", violation: refName("tag") },
};

export const audienceField: PresetField = {
  description: "aud of the token; default: what this service accepts by itself",
  optional: true,
};
