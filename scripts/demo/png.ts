// A PNG with a palette (https://www.w3.org/TR/png-3/). Of a page of text it is a third of the PNG that a browser writes.
import { crc32, deflateSync } from "node:zlib";

/** Enough for the shades at the edges of letters. */
const COLORS = 64;

/** @param pixels four bytes each: red, green, blue, and alpha, which is left out */
export const pngOf = (width: number, pixels: Uint8Array): Buffer => {
  const height = pixels.length / 4 / width;
  const { palette, indexOf } = paletteOf(pixels);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = indexOf.get(colorAt(pixels, y * width + x)) as number;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each pixel, which is an index.
  header.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(channels))),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
};

const colorAt = (pixels: Uint8Array, index: number): number =>
  ((pixels[index * 4] as number) << 16) | ((pixels[index * 4 + 1] as number) << 8) | (pixels[index * 4 + 2] as number);

const channels = (color: number): [number, number, number] => [color >> 16, (color >> 8) & 255, color & 255];

/** The most frequent colors. Each other color gets the nearest of them. */
const paletteOf = (pixels: Uint8Array): { palette: number[]; indexOf: Map<number, number> } => {
  const counts = new Map<number, number>();
  for (let i = 0; i < pixels.length / 4; i++) {
    const color = colorAt(pixels, i);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, COLORS)
    .map(([color]) => color);
  const nearest = (color: number): number => {
    const distances = palette.map((one) =>
      Math.hypot(...channels(one).map((value, i) => value - (channels(color)[i] as number))),
    );
    return distances.indexOf(Math.min(...distances));
  };
  return { palette, indexOf: new Map([...counts.keys()].map((color) => [color, nearest(color)])) };
};
