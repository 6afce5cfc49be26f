// The map of who may do what where, as tables. A large organization is folded by group: the first table contains the organization and the
// groups below it, and each of those has its own table. Further rows are also folded, and counted.
import { once } from "../../../schema/index.ts";
import type { NodeId } from "../../graph/graph.ts";
import { countText } from "../words.ts";
import {
  type AccessMap,
  LEVELS,
  type Level,
  type MapCell,
  type MapGroup,
  type MapRow,
  type Mark,
  strongest,
} from "./map-model.ts";
import { html, type Markup, type Section } from "./page.ts";

interface MapOptions {
  /** page address of the text about a row */
  linkOf(row: NodeId): string | undefined;
  /** a tag beside the name of a row, such as a warning */
  tagOf?(row: NodeId): string | undefined;
  /** below the legend: limits of the map */
  note?: Markup | false;
}

/** Maximum groups of one table: a larger organization is folded. */
const COLUMNS_MAX = 14;
/** Children of a group that have a column each, folded. */
const CHILDREN_MAX = 24;
/** Rows that are not folded; of those that change, up to the second number. */
const ROWS_OPEN = 25;
const CHANGED_OPEN = 60;
/** Maximum characters of the rows of a page. Rows that change are always there; the other omitted rows are counted. */
const TEXT_MAX = 450_000;
/** Folded groups with a change that start open. */
const OPEN_MAX = 4;

const LETTERS: Readonly<Record<Level, string>> = {
  unknown: "?",
  owns: "O",
  gives: "G",
  writes: "W",
  uses: "U",
  reads: "R",
};

/** Short, since a page has many. */
const classOf = (level: Level) => (level === "unknown" ? "X" : LETTERS[level]);

const MEANINGS: Partial<Record<Level, string>> = { gives: "gives access", unknown: "not readable: may be any" };

export const mapSection = (map: AccessMap, { linkOf, tagOf, note }: MapOptions): Section => {
  const page = { map, linkOf, tagOf: tagOf ?? (() => undefined), left: TEXT_MAX };
  const tables = map.trees.map((tree) => {
    // A row that changes and holds nothing is in the first table of each organization.
    const rows = map.rows.filter((row) => row.groups.size === 0 || actsIn(row, tree));
    return { tree, ...viewOf(page, tree, rows, true) };
  });
  // Everything that a row holds anywhere, it holds at one of its own groups.
  const cells = map.rows.flatMap((row) => [...row.groups].map((group) => map.cellOf(row, group)));
  const used = new Set(cells.flatMap(({ level, before = null }) => [level, before]));
  const changes = tables.some(({ hasChange }) => hasChange);
  const folded = map.trees.some(({ size }) => size > COLUMNS_MAX);
  // If there are several organizations, those without a change are folded.
  const shown = tables.map(({ tree, markup, hasChange }) =>
    changes && !hasChange
      ? html`<details class="fold"><summary><bdi>${tree.name}</bdi>: nothing changes</summary>${markup}</details>\n`
      : markup,
  );
  const body = map.rows.length === 0 ? html`<p>Nobody holds anything here.</p>` : html`${shown}`;
  return {
    id: "map",
    title: "Who may do what where",
    body: html`${map.rows.length > 0 && legend(used, changes, folded)}${note ?? false}${body}`,
  };
};

const legend = (used: ReadonlySet<Level | null>, changes: boolean, folded: boolean) => {
  const levels = LEVELS.filter((level) => used.has(level)).map(
    (level) => html`<li><b class="cell ${classOf(level)}">${LETTERS[level]}</b> ${MEANINGS[level] ?? level}</li>`,
  );
  return html`<ul class="legend">${levels}<li><b class="cell W i">W</b> from a group above</li>${folded && html`<li><b class="cell">▾</b> in a group below</li>`}${
    changes && html`<li><b class="cell gain">+</b> gains</li><li><b class="cell loss">−</b> loses</li>`
  }</ul>
`;
};

interface MapPage {
  map: AccessMap;
  linkOf(row: NodeId): string | undefined;
  tagOf(row: NodeId): string | undefined;
  /** remaining characters */
  left: number;
}

/** A column: one group, or a group with all groups below it. */
interface Column {
  group: MapGroup;
  /** ids of the groups below that have no column; empty: only the group */
  below: ReadonlySet<NodeId>;
}

interface View {
  markup: Markup;
  hasChange: boolean;
}

const flatten = (tree: MapGroup): MapGroup[] => [tree, ...tree.children.flatMap(flatten)];

const idsOf = once((tree: MapGroup) => new Set(flatten(tree).map(({ id }) => id)));

/** Whether a row has a role binding in a group or below it. */
const actsIn = ({ groups }: MapRow, tree: MapGroup) => !groups.isDisjointFrom(idsOf(tree));

const columnOf = (group: MapGroup): Column => ({ group, below: new Set() });

const columnWithAllBelow = (group: MapGroup) => ({
  group,
  below: idsOf(group).difference(new Set([group.id])),
});

const viewOf = (page: MapPage, tree: MapGroup, rows: readonly MapRow[], isTop = false): View => {
  const name = tree.path === "/" ? tree.name : tree.path;
  if (tree.size <= COLUMNS_MAX) return tableOf(page, { name, columns: flatten(tree).map(columnOf), rows, isTop });
  const isFolded = tree.children.length <= CHILDREN_MAX;
  const columns = isFolded ? [columnOf(tree), ...tree.children.map(columnWithAllBelow)] : [columnWithAllBelow(tree)];
  const first = tableOf(page, { name, columns, rows, isTop });
  const parts = isFolded ? tree.children.filter(({ size }) => size > 1).map((one) => [one]) : chunksOf(tree.children);
  const views = parts.map((groups) => {
    const own = rows.filter((row) => groups.some((one) => actsIn(row, one)));
    const [only, ...others] = groups as [MapGroup, ...MapGroup[]];
    const view =
      others.length === 0
        ? viewOf(page, only, own)
        : tableOf(page, { name, columns: groups.flatMap(flatten).map(columnOf), rows: own, isTop: false });
    return { groups, own, view };
  });
  const opens = views.filter(({ view }) => view.hasChange).length <= OPEN_MAX;
  const folds = views.map(({ groups, own, view }) => {
    const [start, end] = [groups[0] as MapGroup, groups.at(-1) as MapGroup];
    const range =
      start === end ? html`<bdi>${start.path}</bdi>` : html`<bdi>${start.path}</bdi> … <bdi>${end.path}</bdi>`;
    const count = groups.reduce((sum, { size }) => sum + size, 0);
    const tag = view.hasChange && html` <strong class="tag">changes</strong>`;
    const head = html`${range} <small>${countText(count, "group")}, ${own.length} with access of their own</small>${tag}`;
    const body = own.length === 0 ? html`<p class="note">Who acts here does so by a group above.</p>` : view.markup;
    return html`<details class="fold"${view.hasChange && opens && html` open`}><summary>${head}</summary>${body}</details>\n`;
  });
  const all = [first, ...views.map(({ view }) => view)];
  return {
    markup: html`${first.markup}${folds}`,
    hasChange: all.some(({ hasChange }) => hasChange),
  };
};

/** Small groups in a row share a table; a large one has its own. */
const chunksOf = (groups: readonly MapGroup[]): MapGroup[][] => {
  const chunks: MapGroup[][] = [];
  let room = 0;
  for (const group of groups) {
    const last = chunks.at(-1);
    if (last !== undefined && group.size <= room) {
      last.push(group);
      room -= group.size;
    } else {
      chunks.push([group]);
      room = COLUMNS_MAX - group.size;
    }
  }
  return chunks;
};

interface TableInput {
  name: string;
  columns: readonly Column[];
  rows: readonly MapRow[];
  isTop: boolean;
}

/** A row with its cells. */
interface Line {
  row: MapRow;
  cells: ColumnCell[];
  hasChange: boolean;
}

interface ColumnCell extends MapCell {
  /** the strongest level in the groups below that have no column, if it is stronger */
  below: Level | null;
  /** a change in one of these */
  gainsBelow: boolean;
  losesBelow: boolean;
}

const tableOf = (page: MapPage, { name, columns, rows, isTop }: TableInput): View => {
  const lines = rows.map((row) => lineOf(page.map, row, columns));
  const isChanged = ({ row, hasChange }: Line) => hasChange || row.mark !== "same" || page.tagOf(row.id) !== undefined;
  const [changed, others] = [lines.filter(isChanged), lines.filter((line) => !isChanged(line))];
  // The tables of the groups below also get a share.
  let room = isTop ? page.left / 2 : page.left;
  const written = [...changed, ...others].flatMap((line, i) => {
    if (i >= changed.length && room <= 0) return [];
    const markup = rowMarkup(page, line);
    room -= markup.text.length;
    page.left -= markup.text.length;
    return [{ line, markup }];
  });
  const open = Math.max(ROWS_OPEN, Math.min(changed.length, CHANGED_OPEN));
  // Folding a few rows hides more than it saves.
  const split = written.length <= open + 5 ? written.length : open;
  const [head, rest] = [written.slice(0, split), written.slice(split)];
  const omitted = lines.length - written.length;
  const table = (shown: typeof written, caption: string) =>
    html`<div class="map" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr><th scope="col">Who${columns.map(columnHead)}</tr></thead>
<tbody>
${shown.map(({ markup }) => markup)}</tbody></table></div>
`;
  const more =
    rest.length > 0 &&
    html`<details class="fold"><summary>${rest.length} more: ${countsOf(
      rest.map(({ line }) => line),
    )}</summary>${table(rest, `${name}: ${rest.length} more`)}</details>
`;
  const first =
    head.length > 0 && table(head, `${name}: the strongest that each may do in each group, the worst first`);
  const left =
    omitted > 0 && html`<p class="note">${omitted} more are left out of this map; the lists below have all.</p>`;
  return {
    markup: html`${first}${more}${left}`,
    hasChange: lines.some(({ hasChange }) => hasChange),
  };
};

const lineOf = (map: AccessMap, row: MapRow, columns: readonly Column[]): Line => {
  const cells = columns.map(({ group, below }): ColumnCell => {
    const here = map.cellOf(row, group.id);
    const all = [...row.groups.intersection(below)].map((one) => map.cellOf(row, one));
    const most = strongest([here.level, ...all.map(({ level }) => level)]);
    return {
      ...here,
      below: most === here.level ? null : most,
      gainsBelow: all.some(({ gains }) => gains),
      losesBelow: all.some(({ loses }) => loses),
    };
  });
  return { row, cells, hasChange: cells.some((one) => one.gains || one.loses || one.gainsBelow || one.losesBelow) };
};

/** `3 own, 20 write, 12 read`: a level is the verb of one. */
const countsOf = (lines: readonly Line[]) => {
  const most = lines.map(({ cells }) => strongest(cells.flatMap(({ level, below }) => [level, below])));
  const counts = LEVELS.flatMap((level) => {
    const count = most.filter((one) => one === level).length;
    return count === 0 ? [] : [`${count} ${VERBS[level]}`];
  });
  const none = most.filter((one) => one === null).length;
  return [...counts, ...(none > 0 ? [`${none} hold nothing`] : [])].join(", ");
};

const VERBS: Readonly<Record<Level, string>> = {
  unknown: "not known",
  owns: "own",
  gives: "give",
  writes: "write",
  uses: "use",
  reads: "read",
};

const columnHead = ({ group, below }: Column) => {
  const { name, nameBefore, path, mark } = group;
  const formerly = nameBefore !== undefined && html`<span>${nameBefore} → </span>`;
  return html`<th scope="col"><div><bdi>${above(path, name)}${formerly}${name}</bdi>${
    below.size > 0 && html` <small>+${below.size}<span class="said"> groups below</span></small>`
  }${tagOf(mark)}</div>`;
};

/** The part of a path before the name of its group. */
const above = (path: string, name: string) =>
  path !== "/" && path !== name && path.endsWith(name) && html`<span>${path.slice(0, -name.length)}</span>`;

const tagOf = (mark: Mark) =>
  mark === "new" ? html` <ins class="tag">new</ins>` : mark === "gone" && html` <del class="tag">deleted</del>`;

const rowMarkup = (page: MapPage, { row, cells }: Line) => {
  const { id, name, kind, mark } = row;
  const link = page.linkOf(id);
  const shown = link === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${link}"><bdi>${name}</bdi></a>`;
  const tag = page.tagOf(id);
  return html`<tr><th scope="row">${shown}${kind !== undefined && html` <small>${kind}</small>`}${tagOf(mark)}${
    tag !== undefined && html` <strong class="tag">${tag}</strong>`
  }${cells.map(cellMarkup)}</tr>
`;
};

/** The style sheet spells out the letter, for people who listen to the table. */
const cellMarkup = (cell: ColumnCell): Markup => {
  const { level, before = null, gains, loses, isInherited, below, gainsBelow, losesBelow } = cell;
  const changes = gains || loses || gainsBelow || losesBelow;
  const lower = below !== null && html`<small>▾${LETTERS[below]}<span class="said"> below: ${below}</span></small>`;
  const classes = [level !== null && classOf(level), isInherited && "i"].filter(Boolean).join(" ");
  if (!changes) {
    if (level === null && below === null) return EMPTY;
    return html`<td class="${classes}">${level !== null && LETTERS[level]}${lower}`;
  }
  const isGain = gains || gainsBelow;
  const sign = isGain ? (loses || losesBelow ? "±" : "+") : "−";
  const words = [
    gains && "gains",
    loses && "loses",
    (gains || loses) && `before: ${before ?? "nothing"}`,
    gainsBelow && "gains below",
    losesBelow && "loses below",
  ].filter(Boolean);
  const letter = level !== null ? LETTERS[level] : before !== null && html`<del>${LETTERS[before]}</del>`;
  return html`<td class="${classes} ${isGain ? "gain" : "loss"}"><b>${sign}</b>${letter}${lower}<span class="said">: ${words.join(", ")}</span>`;
};

const EMPTY = html`<td>`;
