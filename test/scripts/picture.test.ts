// The pictures of README as the repository has them: nothing compares their bytes, which differ from run to run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";

const sizeOf = (png: Buffer) => {
  expect(png.toString("latin1", 0, 16)).toBe("\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
};

test("the light and the dark picture have the same size, and at most 150 kB each", () => {
  const [light, dark] = ["light", "dark"].map((scheme) =>
    readFileSync(join(root, "docs", "images", `review-${scheme}.png`)),
  ) as [Buffer, Buffer];
  expect(sizeOf(dark)).toEqual(sizeOf(light));
  expect(sizeOf(light).width).toBe(1800);
  for (const { length } of [light, dark]) expect(length).toBeLessThanOrEqual(150_000);
});
