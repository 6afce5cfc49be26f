// Expressions of GitHub Actions, as far as action.yml and the workflows of the docs use them.
// https://docs.github.com/actions/reference/workflows-and-actions/expressions

export type Value = string | number | boolean | null | { [name: string]: Value };

export interface Scope {
  /** github, inputs, steps, … */
  contexts: Readonly<Record<string, Value>>;
  functions: Readonly<Record<string, () => boolean>>;
}

const TOKEN = /\s*(?:('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|(&&|\|\||[!=]=|[!().[\]])|([A-Za-z_][\w-]*))/y;

/** Throws for what it does not know, so that a step is not run by a wrong reading. */
export const evaluate = (text: string, scope: Scope): Value => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const source = text.trim();
  while (TOKEN.lastIndex < source.length) {
    const [, ...found] = TOKEN.exec(source) ?? [];
    const token = found.find((one) => one !== undefined);
    if (token === undefined) throw new Error(`cannot read the expression ${text}`);
    tokens.push(token);
  }
  const take = (...wanted: string[]): string | undefined =>
    wanted.includes(tokens[0] ?? "") ? tokens.shift() : undefined;
  const must = (wanted: string): void => {
    if (take(wanted) === undefined) throw new Error(`${wanted} is missing in ${text}`);
  };

  const or = (): Value => {
    let left = and();
    while (take("||")) left = [left, and()].find(isTruthy) ?? left;
    return left;
  };
  const and = (): Value => {
    let left = comparison();
    while (take("&&")) {
      const right = comparison();
      left = isTruthy(left) ? right : left;
    }
    return left;
  };
  const comparison = (): Value => {
    const left = unary();
    const operator = take("==", "!=");
    return operator === undefined ? left : isEqual(left, unary()) === (operator === "==");
  };
  const unary = (): Value => (take("!") ? !isTruthy(unary()) : primary());
  const primary = (): Value => {
    if (take("(")) {
      const value = or();
      must(")");
      return value;
    }
    const token = tokens.shift() ?? "";
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (/^-?\d/.test(token)) return Number(token);
    if (["true", "false", "null"].includes(token)) return JSON.parse(token);
    if (take("(")) {
      must(")");
      const call = scope.functions[token];
      if (call === undefined) throw new Error(`the function ${token} of ${text} is not known here`);
      return call();
    }
    let value = scope.contexts[token];
    if (value === undefined) throw new Error(`the context ${token} of ${text} is not known here`);
    while (take(".")) value = memberOf(value, tokens.shift() ?? "");
    return value;
  };
  const value = or();
  if (tokens.length > 0) throw new Error(`${tokens.join(" ")} is left of ${text}`);
  return value;
};

/** A text with `${{ }}` in it. */
export const interpolate = (text: string, scope: Scope): string =>
  text.replace(/\$\{\{(.*?)\}\}/gs, (_, inner: string) => String(evaluate(inner, scope) ?? ""));

/** The value of `if`, which may stand without `${{ }}`. Without a status function it means success. */
export const isMet = (condition: string | undefined, scope: Scope): boolean => {
  const text = condition?.replace(/^\s*\$\{\{(.*)\}\}\s*$/s, "$1") ?? "success()";
  const whole = /\b(?:success|failure|always|cancelled)\s*\(/.test(text) ? text : `success() && (${text})`;
  return isTruthy(evaluate(whole, scope));
};

const memberOf = (value: Value | undefined, name: string): Value =>
  typeof value === "object" && value !== null ? (value[name] ?? null) : null;

const isTruthy = (value: Value): boolean => value !== null && value !== false && value !== 0 && value !== "";

/** Texts compare without case. */
const isEqual = (a: Value, b: Value): boolean => {
  if (typeof a === "string" && typeof b === "string") return a.toLowerCase() === b.toLowerCase();
  return typeof a === typeof b ? a === b : Number(a ?? 0) === Number(b ?? 0);
};
