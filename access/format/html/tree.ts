// The tree of groups, and who has which role where.
import { countText } from "../words.ts";
import { html, type Markup } from "./markup.ts";
import type { GroupTree, Holder, Mark, RoleHolders } from "./merge.ts";
import type { Section } from "./page.ts";

export interface TreeOptions {
  /** page address of what an identity gains and loses */
  linkOf(identity: string): string | undefined;
}

/** A larger tree opens only the groups that change, and none if more than this many change. */
const OPEN_MAX = 40;

export const treeSection = (trees: readonly GroupTree[], { linkOf }: TreeOptions): Section => {
  const all = trees.flatMap(flattenTree);
  const isSmall = all.length <= OPEN_MAX;
  const opensChanges = all.filter(isChanged).length <= OPEN_MAX;
  const options = { linkOf, isOpen: (tree: GroupTree) => isSmall || (opensChanges && isChanged(tree)) };
  const body = html`<p class="note">A role holds in its group and in every group below it. What is <ins>new</ins> and what is <del>gone</del> is marked.</p>
<input type="checkbox" id="only"> <label for="only">Show only what changes</label>
<ul class="tree">${trees.map((tree) => groupItem(tree, options))}</ul>`;
  return { id: "groups", title: "Who has access where", body };
};

const flattenTree = (tree: GroupTree): GroupTree[] => [tree, ...tree.children.flatMap(flattenTree)];

const isChanged = ({ added, removed, mark, nameBefore }: GroupTree): boolean =>
  added + removed > 0 || mark !== "same" || nameBefore !== undefined;

interface ItemOptions extends TreeOptions {
  isOpen(tree: GroupTree): boolean;
}

const groupItem = (tree: GroupTree, options: ItemOptions): Markup => {
  const { roles, children } = tree;
  const head = headOf(tree);
  const open = options.isOpen(tree) && html` open`;
  const rows = roles.map((role) => roleRow(role, options));
  const access =
    roles.length === 0
      ? html`<p class="head">${head}</p>`
      : html`<details${open}><summary class="head">${head}</summary>${rows}</details>`;
  const below = children.length > 0 && html`\n<ul>${children.map((child) => groupItem(child, options))}</ul>`;
  return html`<li class="${tree.hasChange ? "group changed" : "group"}">${access}${below}</li>\n`;
};

const headOf = ({ name, nameBefore, path, mark, roles, added, removed }: GroupTree): Markup => {
  const bindings = roles.reduce((sum, { holders }) => sum + holders.length, 0);
  const stay = bindings === 0 ? "no bindings" : countText(bindings - removed, "binding");
  return html`<bdi class="path">${above(path, name)}${wasCalled(nameBefore)}${name}</bdi>${tagOf(mark)} <small>${stay}${
    added > 0 && html`, <ins>${added} new</ins>`
  }${removed > 0 && html`, <del>${removed} gone</del>`}</small>`;
};

const wasCalled = (nameBefore: string | undefined): Markup | false =>
  nameBefore !== undefined && html`<span>${nameBefore} → </span>`;

/** What a path has before the name of its group. */
export const above = (path: string, name: string): Markup | false =>
  path !== "/" && path !== name && path.endsWith(name) && html`<span>${path.slice(0, -name.length)}</span>`;

export const tagOf = (mark: Mark): Markup | false =>
  mark === "new" ? html` <ins class="tag">new</ins>` : mark === "gone" && html` <del class="tag">deleted</del>`;

const roleRow = ({ name, nameBefore, changes, holders }: RoleHolders, options: TreeOptions): Markup => {
  const tag = changes && html` <em class="tag">role changes</em>`;
  const items = holders.map((holder) => holderItem(holder, options));
  const hasChange = holders.some(({ mark }) => mark !== "same");
  const kind = changes ? html` class="role"` : hasChange && html` class="changed"`;
  return html`<dl${kind}><dt><bdi>${wasCalled(nameBefore)}${name}</bdi>${tag}</dt><dd><ul class="who">${items}</ul></dd></dl>`;
};

const holderItem = ({ identity, label, nameBefore, mark }: Holder, { linkOf }: TreeOptions): Markup => {
  const link = linkOf(identity);
  const shown = html`${wasCalled(nameBefore)}${label}`;
  const name = link === undefined ? shown : html`<a href="${link}">${shown}</a>`;
  if (mark === "same") return html`<li>${name}</li>`;
  return mark === "new"
    ? html`<li class="new"><ins>${name}</ins> <small>new</small></li>`
    : html`<li class="gone"><del>${name}</del> <small>gone</small></li>`;
};
