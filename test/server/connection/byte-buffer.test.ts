// The body of a request as it arrives: the same bytes, whatever the chunks.
import { describe, expect, test } from "vitest";
import { createByteBuffer } from "../../../server/connection/bounds.ts";

const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 251));

describe("bytes that arrive", () => {
  test.each([
    ["one by one", [1]],
    ["in chunks of 100", [100]],
    ["in chunks of 64 KiB", [65_536]],
    ["in chunks of any size", [1, 5000, 3, 1023, 1024, 17]],
  ])("%s are unchanged", (_, sizes) => {
    const buffer = createByteBuffer();
    for (let at = 0, i = 0; at < BYTES.length; i += 1) {
      const size = sizes[i % sizes.length] as number;
      buffer.add(BYTES.subarray(at, at + size));
      at += size;
    }
    expect(buffer.take().equals(BYTES)).toBe(true);
    expect(buffer.take()).toHaveLength(0);
  });

  test("in chunks that are overwritten later are copied, except the first and the large ones", () => {
    const buffer = createByteBuffer();
    buffer.add(Buffer.from("a"));
    const chunk = Buffer.from("b");
    buffer.add(chunk);
    chunk.write("c");
    expect(buffer.take().toString()).toBe("ab");
  });
});
