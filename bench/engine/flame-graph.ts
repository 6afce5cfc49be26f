// A profile of V8 (`node --cpu-prof`) as a flame graph: what was called from left to right by name, its callees above it, the width its
// share of the time. Frames below 0.4 % are left out.

export interface Profile {
  nodes: ProfileNode[];
  samples: number[];
  /** microseconds before each sample */
  timeDeltas: number[];
}

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

interface Frame {
  name: string;
  /** microseconds, its callees included */
  time: number;
  callees: Map<string, Frame>;
}

const WIDTH = 1200;
const ROW = 16;
const LEAST_SHARE = 0.004;
/** Average width of a letter in pixels. */
const LETTER = 6.2;

export const flameGraph = (profile: Profile, title: string): string => {
  const root = framesOf(profile);
  const boxes: string[] = [];
  let depthMax = 0;
  const draw = (frame: Frame, left: number, depth: number): void => {
    const share = frame.time / root.time;
    if (share < LEAST_SHARE) return;
    depthMax = Math.max(depthMax, depth);
    boxes.push(boxOf(frame, { left, depth, share }));
    let at = left;
    for (const callee of [...frame.callees.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      draw(callee, at, depth + 1);
      at += callee.time / root.time;
    }
  };
  draw(root, 0, 0);
  const height = (depthMax + 3) * ROW;
  // The root is at the bottom.
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">
<title>${escapeXml(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="4" y="14" font-size="12">${escapeXml(title)}: ${(root.time / 1e6).toFixed(2)} s of one thread</text>
<g transform="translate(0 ${height - ROW})">
${boxes.join("\n")}
</g>
</svg>
`;
};

const boxOf = (
  { name, time }: Frame,
  { left, depth, share }: { left: number; depth: number; share: number },
): string => {
  const [x, width, y] = [(left * WIDTH).toFixed(1), (share * WIDTH).toFixed(1), -depth * ROW];
  const letters = Math.floor((share * WIDTH - 4) / LETTER);
  const label =
    letters < 3
      ? ""
      : `<text x="${(left * WIDTH + 2).toFixed(1)}" y="${y + 11}">${escapeXml(name.slice(0, letters))}</text>`;
  const tip = `${escapeXml(name)}: ${(time / 1000).toFixed(0)} ms, ${(share * 100).toFixed(1)} %`;
  return `<g><title>${tip}</title><rect x="${x}" y="${y}" width="${width}" height="${ROW - 1}" fill="${colorOf(name)}"/>${label}</g>`;
};

/** Ours are blue, packages yellow, Node itself grey. */
const colorOf = (name: string): string => {
  if (/\b(node_modules|@[\w-]+\/)/.test(name)) return "#f2cf66";
  if (/ (provider|client|plugin|schema|main\.mjs)\b/.test(name)) return "#7fb2e5";
  return "#d0d0d0";
};

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Calls of the same function from the same place are one frame. What the process waits is left out. */
const framesOf = ({ nodes, samples, timeDeltas }: Profile): Frame => {
  const selfTimes = new Map<number, number>();
  samples.forEach((id, i) => {
    selfTimes.set(id, (selfTimes.get(id) ?? 0) + (timeDeltas[i] ?? 0));
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root: Frame = { name: "all", time: 0, callees: new Map() };
  const visit = (node: ProfileNode, into: Frame): number => {
    const { functionName } = node.callFrame;
    if (functionName === "(idle)") return 0;
    const name = nameOf(node);
    const frame = into.callees.get(name) ?? { name, time: 0, callees: new Map() };
    into.callees.set(name, frame);
    const below = (node.children ?? []).map((id) => visit(byId.get(id) as ProfileNode, frame));
    const time = below.reduce((sum, each) => sum + each, selfTimes.get(node.id) ?? 0);
    frame.time += time;
    return time;
  };
  const [first] = nodes;
  for (const id of first?.children ?? []) root.time += visit(byId.get(id) as ProfileNode, root);
  return root;
};

/** Share of the time by package, of ours by file: where the top of the stack is. */
export const sharesOf = ({ nodes, samples, timeDeltas }: Profile): [string, number][] => {
  const homes = new Map(nodes.map((node) => [node.id, homeOf(node)]));
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const home = homes.get(id) ?? "";
    times.set(home, (times.get(home) ?? 0) + (timeDeltas[i] ?? 0));
  });
  times.delete("(idle)");
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([home, time]): [string, number] => [home, time / total]).toSorted(([, a], [, b]) => b - a);
};

const homeOf = (node: ProfileNode): string => {
  const { functionName, url } = node.callFrame;
  if (functionName === "(idle)" || functionName === "(garbage collector)" || functionName === "(program)")
    return functionName;
  if (url === "" || url.startsWith("node:")) return url === "" ? "V8 and the system" : (url.split("/")[0] ?? url);
  const name = nameOf(node).split(" ").at(-1) ?? "";
  return /^(@[^/]+\/[^/]+|[^/]+)/.exec(name)?.[0] ?? name;
};

/** The function and its file, without the folders of this machine. */
const nameOf = ({ callFrame: { functionName, url } }: ProfileNode): string => {
  const file = url
    .replace(/^file:\/\//, "")
    .replace(/^.*\/node_modules\/pulumi-irm\/(lib\/|plugin\/)?/, "")
    .replace(/^.*\/node_modules\//, "")
    .replace(/^\/.*\//, "");
  return `${functionName || "(anonymous)"} ${file}`.trim();
};
