// A list of a report, in the parts that each format shows in its own way.

export interface Section {
  /** a section of a page has this address */
  id: string;
  title: string;
  items: { parts: Part[] }[];
}

export type Contents = readonly { kind: string; name: string; uid: string | null }[];

/** Our own words; a text of others, which a format sets apart; or the lines of one. */
export type ShownPart = string | { quoted: string } | { lines: readonly [string, ...string[]] };

/** One more: what is in a group. */
export type Part = ShownPart | { contents: Contents };
