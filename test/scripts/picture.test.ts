// The pictures of README as the repository has them: nothing compares their bytes, which differ from run to run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";

// The header of an extended WebP file (https://developers.google.com/speed/webp/docs/riff_container).
const sizeOf = (webp: Buffer) => {
  expect(`${webp.toString("latin1", 0, 4)} ${webp.toString("latin1", 8, 16)}`).toBe("RIFF WEBPVP8X");
  return { width: webp.readUIntLE(24, 3) + 1, height: webp.readUIntLE(27, 3) + 1 };
};

test("the light and the dark picture have the same size, and at most 150 kB each", () => {
  const [light, dark] = ["light", "dark"].map((scheme) =>
    readFileSync(join(root, "docs", "images", `review-${scheme}.webp`)),
  ) as [Buffer, Buffer];
  expect(sizeOf(dark)).toEqual(sizeOf(light));
  expect(sizeOf(light).width).toBe(1800);
  for (const { length } of [light, dark]) expect(length).toBeLessThanOrEqual(150_000);
});
