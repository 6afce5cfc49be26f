import { describe, expect, test } from "vitest";
import { isAtLeast, parseVersion } from "../../../scripts/engine/version.mjs";

describe("a version of pulumi", () => {
  test.each<[text: string, expected: number[] | undefined, reason: string]>([
    ["v3.259.0", [3, 259, 0], "the output of a release"],
    ["v3.260.0-alpha.1717428624+dirty", [3, 260, 0], "the output of a local build"],
    ["", undefined, "nothing"],
    ["3.259", undefined, "too few numbers"],
  ])("%j is read as %j: %s", (text, expected) => {
    expect(parseVersion(text)).toEqual(expected);
  });

  test.each([
    ["3.200.0", "3.200.0", true, "equal"],
    ["3.1000.0", "3.200.0", true, "numbers are not compared as text"],
    ["3.99.9", "3.200.0", false, "numbers are not compared as text"],
    ["2.300.0", "3.200.0", false, "a smaller first number decides"],
    ["v3.200.0-dev.0", "3.200.0", true, "a pre-release counts as its release"],
    ["unknown", "3.200.0", false, "a text without a version is never recent enough"],
  ])("%s is at least %s: %s, because %s", (version, oldest, expected) => {
    expect(isAtLeast(version, oldest)).toBe(expected);
  });
});
