// The flame graphs of docs/performance.md.
import { expect, test } from "vitest";
import { flameGraph, sharesOf } from "../../bench/engine/flame-graph.ts";

const HOME = "file:///home/ann/access/node_modules/";

const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber: 1 },
  children,
});

const profile = {
  nodes: [
    node(1, "(root)", "", [2, 5]),
    node(2, "create", `${HOME}pulumi-irm/lib/provider/reconcile/create.js`, [3, 4]),
    node(3, "parse<T>", `${HOME}zod/v4/core/parse.js`),
    node(4, "short", `${HOME}undici/lib/fetch.js`),
    node(5, "(idle)", ""),
  ],
  samples: [2, 3, 4, 5],
  timeDeltas: [300_000, 699_000, 1000, 5_000_000],
};

test("a flame graph shows callees in their callers, without time of waiting and without folders of the machine", () => {
  const graph = flameGraph(profile, "The plugin");
  expect(graph).toContain("The plugin: 1.00 s of one thread");
  expect(graph).toContain("<title>create provider/reconcile/create.js: 1000 ms, 100.0 %</title>");
  expect(graph).toContain("<title>parse&lt;T&gt; zod/v4/core/parse.js: 699 ms, 69.9 %</title>");
  expect(graph).not.toContain("short");
  expect(graph).not.toContain("ann");
});

test("the shares say which package is at the top of the stack", () => {
  expect(sharesOf(profile)).toEqual([
    ["zod", 0.699],
    ["provider", 0.3],
    ["undici", 0.001],
  ]);
});
