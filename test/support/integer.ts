// Whole numbers as keys and signatures write them: big-endian bytes.
export const integerFromBytes = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);

/** As few bytes as it needs, or exactly `length`. */
export const bytesFromInteger = (value: bigint, length = 0): Buffer => {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(2 * Math.max(length, Math.ceil(hex.length / 2)), "0"), "hex");
};
