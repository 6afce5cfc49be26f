// The pictures of README as the repository has them: nothing compares their bytes, which differ from run to run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";
import { pngOf } from "../../scripts/demo/png.ts";

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

test("a picture keeps each of its few colors", () => {
  const [red, gray] = [
    [200, 0, 10, 255],
    [90, 90, 90, 255],
  ] as const;
  const png = pngOf(2, Uint8Array.from([red, gray, red, red].flat()));
  expect(sizeOf(png)).toEqual({ width: 2, height: 2 });
  const dataOf = (type: string): Buffer => {
    const start = png.indexOf(type, 0, "latin1");
    return png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4));
  };
  expect([...dataOf("PLTE")]).toEqual([200, 0, 10, 90, 90, 90]);
  // Each row begins with its filter, 0: none.
  expect([...inflateSync(dataOf("IDAT"))]).toEqual([0, 0, 1, 0, 0, 0]);
});
