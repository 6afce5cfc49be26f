// Expressions of GitHub Actions, as far as action.yml and the workflows of the docs use them.
// https://docs.github.com/actions/reference/workflows-and-actions/expressions

export type Value = string | number | boolean | null | { [name: string]: Value };

export interface Scope {
  /** github, inputs, steps, … */
  contexts: Readonly<Record<string, Value>>;
  functions: Readonly<Record<string, () => boolean>>;
}

const TOKEN = /'(?:[^']|'')*'|&&|\|\||[!=]=|[!()]|[A-Za-z_][\w-]*(?:\.[\w-]+)*/g;

/** Throws for what it does not know, so that a step is not run by a wrong reading. All that is compared are texts of the same case. */
export const evaluate = (text: string, { contexts, functions }: Scope): Value => {
  if (text.replaceAll(TOKEN, "").trim() !== "") throw new Error(`cannot read the expression ${text}`);
  const read = (path: string): Value => {
    const [context = "", ...names] = path.split(".");
    if (!Object.hasOwn(contexts, context)) throw new Error(`${path} of ${text} is not known here`);
    return names.reduce<Value>((value, name) => memberOf(value, name), contexts[context] as Value);
  };
  const source = text.replaceAll(TOKEN, (token) => {
    if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1).replaceAll("''", "'"));
    if (/^[!=]=$/.test(token)) return `${token}=`;
    if (/^\W/.test(token)) return token;
    return Object.hasOwn(functions, token) ? `functions.${token}` : `read(${JSON.stringify(token)})`;
  });
  return new Function("read", "functions", `return (${source});`)(read, functions);
};

/** One that is missing equals the empty text. */
const memberOf = (value: Value, name: string): Value =>
  typeof value === "object" && value !== null ? (value[name] ?? "") : "";

/** A text with `${{ }}` in it. */
export const interpolate = (text: string, scope: Scope): string =>
  text.replace(/\$\{\{(.*?)\}\}/gs, (_, inner: string) => String(evaluate(inner, scope)));

/** The value of `if`, which may stand without `${{ }}`. Without a status function it means success. */
export const isMet = (condition: string | undefined, scope: Scope): boolean => {
  const text = condition?.replace(/^\s*\$\{\{(.*)\}\}\s*$/s, "$1") ?? "success()";
  const whole = /\b(?:success|failure|always|cancelled)\s*\(/.test(text) ? text : `success() && (${text})`;
  return Boolean(evaluate(whole, scope));
};
