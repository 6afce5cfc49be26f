// A path as a small graph: who sends each request, and the record that it changes. The boxes are below one another, and the requests are
// arcs at their side. So a graph of any path is as narrow as a phone.
import type { PathText } from "../document/document.ts";
import { countText } from "../words.ts";
import { html, type Markup } from "./page.ts";

const WIDTH = 340;
const BOX = { width: 230, height: 30, gap: 18 };
const TEXT_MAX = 30;

interface Edge {
  from: number;
  to: number;
  label: string;
}

export const pathGraph = ({ from, fromId, steps, gains, assumes }: PathText): Markup => {
  const names: string[] = [];
  const nodes = new Map<string, number>();
  // Anyone may give an identity the name of another one, or a text that we write in a box.
  const node = (key: string, name: string) => {
    const index = nodes.get(key) ?? names.push(name) - 1;
    nodes.set(key, index);
    return index;
  };
  let end = node(`by ${fromId}`, from);
  const edges = steps.map(({ by, byId, target, targetId }, i): Edge => {
    const sender = node(`by ${byId}`, byId === "workload" ? "its workload" : by);
    const to = node(`to ${target} ${targetId}`, target);
    end = to;
    return { from: sender, to, label: String(i + 1) };
  });
  const count = gains.reduce((sum, { capabilities }) => sum + capabilities.length, 0);
  const [first, ...others] = gains;
  const place = first === undefined ? "" : ` at ${first.place}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  const goal = node("goal", `${countText(count, "capability")}${place}`);
  edges.push({ from: end, to: goal, label: "" });
  const height = names.length * (BOX.height + BOX.gap) - BOX.gap + 4;
  return html`<svg class="path ${assumes}" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${describe(names, edges)}">
${names.map((name, i) => box(name, i, i === 0 ? "start" : i === goal ? "goal" : ""))}${edges.map(arc)}</svg>
`;
};

const topOf = (index: number) => 2 + index * (BOX.height + BOX.gap);

const box = (name: string, index: number, kind: string) => {
  const top = topOf(index);
  const shown = [...name].length > TEXT_MAX ? `${[...name].slice(0, TEXT_MAX - 1).join("")}…` : name;
  return html`<g class="box ${kind}"><rect x="1" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="6"/><text x="10" y="${top + 20}">${shown}</text></g>
`;
};

/** Arcs leave a box below its middle and reach one above its middle; longer arcs are farther out. */
const arc = ({ from, to, label }: Edge): Markup => {
  const [start, end] = [topOf(from) + 20, topOf(to) + 10];
  const out = BOX.width + 1;
  const far = Math.min(WIDTH - 14, out + 26 + 16 * Math.abs(to - from));
  const middle = (start + end) / 2;
  const head = `M${out + 7} ${end - 4}L${out + 1} ${end}L${out + 7} ${end + 4}`;
  const text =
    label !== "" &&
    html`<text class="number" x="${Math.round(out + (far - out) * 0.75) + 8}" y="${middle + 4}">${label}</text>`;
  return html`<g class="arc"><path d="M${out} ${start}C${far} ${start} ${far} ${end} ${out + 2} ${end}"/><path d="${head}"/>${text}</g>
`;
};

const describe = (names: readonly string[], edges: readonly Edge[]) =>
  edges.map(({ from, to, label }) => `${label === "" ? "then" : label} ${names[from]} → ${names[to]}`).join("; ");
