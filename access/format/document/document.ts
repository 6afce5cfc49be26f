// A report in the parts that people read, the same in every format.
import type { Origin } from "../../review/report.ts";

/** Our own words, or a text of others, which a format sets apart. */
export type Part = string | { quoted: string };

export interface Item {
  parts: Part[];
  /** what belongs to it */
  lines: Part[][];
  /** it is listed, and is no difference */
  isExcused?: boolean;
}

export interface Section {
  title: string;
  /** without any, the section is left out */
  items: Item[];
}

export interface Document {
  title: readonly Part[];
  origin?: Origin | undefined;
  sections: readonly Section[];
  /** shown where there are sections */
  foot: string;
}
