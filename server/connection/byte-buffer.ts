// Bytes that arrive in chunks of any size. Small chunks are copied together. Otherwise each byte of a body that is sent byte
// by byte would keep an object and the socket's buffer alive.

export interface ByteBuffer {
  add(chunk: Buffer): void;
  /** Returns and removes everything so far. */
  take(): Buffer;
}

const SMALL = 1024;
const BLOCK = 16 * 1024;

export const createByteBuffer = (): ByteBuffer => {
  let parts: Buffer[] = [];
  // The last part, while it has room.
  let block: Buffer | undefined;
  let filled = 0;

  const close = () => {
    if (block) parts.push(block.subarray(0, filled));
    block = undefined;
    filled = 0;
  };
  return {
    add: (chunk) => {
      if (chunk.length >= SMALL || (parts.length === 0 && !block)) {
        close();
        parts.push(chunk);
        return;
      }
      if (block && filled + chunk.length > BLOCK) close();
      block ??= Buffer.allocUnsafe(BLOCK);
      block.set(chunk, filled);
      filled += chunk.length;
    },
    take: () => {
      close();
      const [only, ...more] = parts;
      const all = only && more.length === 0 ? only : Buffer.concat(parts);
      parts = [];
      return all;
    },
  };
};
