// HTML from template literals. Every value is escaped; only other markup is inserted as it is.
import { escapeHtml, printable } from "../../../schema/index.ts";

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Inserted as it is: our own text, never a record's. */
export const trustedMarkup = (text: string): Markup => new Markup(text);

type Value = Markup | string | number | false | undefined | readonly Value[];

export const html = (strings: TemplateStringsArray, ...values: readonly Value[]): Markup => {
  const parts = [strings[0] as string];
  values.forEach((value, i) => {
    parts.push(textOf(value), strings[i + 1] as string);
  });
  return new Markup(parts.join(""));
};

const textOf = (value: Value): string => {
  if (value === undefined || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(textOf).join("");
  return escapeHtml(printable(String(value)));
};
