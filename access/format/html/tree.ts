// Two graphs as one tree of groups, with who has access where: what is new, what is gone, and what stays.

import { getOrInsert } from "../../../schema/index.ts";
import { compare } from "../../canonical.ts";
import { capabilitiesIn, worstFirst } from "../../graph/danger.ts";
import type { NodeId } from "../../graph/graph.ts";
import { countText } from "../words.ts";
import { type Graphs, groupTreesIn, labelsIn, type MapGroup, type Mark, markOf } from "./map-model.ts";
import { html, type Markup, type Section } from "./page.ts";

interface Holder {
  identity: NodeId;
  /** its name, with its group or uid where others have the same name */
  label: string;
  /** where it is renamed */
  nameBefore?: string | undefined;
  mark: Mark;
}

interface RoleHolders {
  name: string;
  /** where it is renamed */
  nameBefore?: string | undefined;
  /** its capabilities differ */
  changes: boolean;
  holders: Holder[];
}

interface GroupTree extends MapGroup {
  /** where it is renamed */
  nameBefore?: string | undefined;
  roles: RoleHolders[];
  children: GroupTree[];
  /** bindings that are new here */
  added: number;
  /** bindings that are gone */
  removed: number;
  /** whether anything changes here or below */
  hasChange: boolean;
}

export const treesOf = (graphs: Graphs): GroupTree[] => {
  const holders = holdersIn(graphs);
  const treeOf = (group: MapGroup): GroupTree => {
    const roles = holders.get(group.id) ?? [];
    const marks = roles.flatMap((role) => role.holders).map(({ mark }) => mark);
    const [added, removed] = [
      marks.filter((one) => one === "new").length,
      marks.filter((one) => one === "gone").length,
    ];
    const formerly = nameBefore(graphs, "groups", group.id);
    const children = group.children.map(treeOf);
    const hasChange =
      added + removed > 0 ||
      group.mark !== "same" ||
      formerly !== undefined ||
      [...roles.map(({ changes }) => changes), ...children.map((child) => child.hasChange)].includes(true);
    return { ...group, nameBefore: formerly, roles, children, added, removed, hasChange };
  };
  return groupTreesIn(graphs).map(treeOf);
};

const nameBefore = (
  { before, after }: Graphs,
  kind: "groups" | "identities" | "roles",
  id: NodeId,
): string | undefined => {
  const [old, own] = [before[kind].get(id)?.name, after[kind].get(id)?.name];
  return own === undefined || old === own ? undefined : old;
};

const MARKS: readonly Mark[] = ["new", "gone", "same"];

/** The roles in each group, the most dangerous first, with their holders, changes first. Two bindings of one pair count as one. */
const holdersIn = ({ before, after }: Graphs): Map<NodeId, RoleHolders[]> => {
  const pairs = new Map<NodeId, Map<NodeId, Map<NodeId, { before: boolean; after: boolean }>>>();
  for (const [side, graph] of [
    ["before", before],
    ["after", after],
  ] as const)
    for (const { group, role, identity } of graph.bindings.values()) {
      const roles = getOrInsert(pairs, group, () => new Map());
      const identities = getOrInsert(roles, role, () => new Map());
      getOrInsert(identities, identity, () => ({ before: false, after: false }))[side] = true;
    }
  const labelOf = labelsIn({ before, after });
  const roleOf = (id: NodeId) => after.roles.get(id) ?? before.roles.get(id);
  return new Map(
    [...pairs].map(([group, roles]) => [
      group,
      worstFirst(roles.keys(), (role) => ({
        capabilities: capabilitiesIn(after.roles.has(role) ? after.roles : before.roles, role),
        texts: [roleOf(role)?.name],
      })).map((role) => ({
        name: roleOf(role)?.name ?? role,
        nameBefore: nameBefore({ before, after }, "roles", role),
        changes: changesRole({ before, after }, role),
        holders: [...(roles.get(role) ?? [])]
          .map(([identity, sides]) => ({
            identity,
            label: labelOf(identity),
            nameBefore: nameBefore({ before, after }, "identities", identity),
            mark: markOf(sides.before, sides.after),
          }))
          .sort((a, b) => MARKS.indexOf(a.mark) - MARKS.indexOf(b.mark) || compare(a.label, b.label)),
      })),
    ]),
  );
};

const changesRole = ({ before, after }: Graphs, id: NodeId): boolean => {
  const [old, own] = [before.roles.get(id), after.roles.get(id)];
  return old !== undefined && own !== undefined && old.capabilities.join() !== own.capabilities.join();
};

// The tree of groups, and who has which role where.

interface TreeOptions {
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
