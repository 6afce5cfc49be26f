// The check of an entry of the package. test/package installs the package, and has its other rules from attw and publint.
import { expect, test } from "vitest";
import { supportedNode } from "../../../scripts/build/package.ts";

test.each([
  ["20.20.2", true],
  ["22.18.0", true],
  ["22.19.0", false],
  ["23.0.0", false],
  ["24.1.0", false],
])("on Node %s, an entry is refused: %s", (version, isRefused) => {
  const run = () => new Function("process", supportedNode("pulumi-irm", ">=22.19"))({ versions: { node: version } });
  if (isRefused) expect(run).toThrow(`pulumi-irm: Node ${version} is too old; Node 22.19 or later is required`);
  else expect(run).not.toThrow();
});

test("the oldest Node is a range that can be read", () => {
  expect(() => supportedNode("a", "22")).toThrow('engines.node must be ">=MAJOR.MINOR", not 22');
});
