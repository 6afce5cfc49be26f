// Whole numbers as keys and signatures write them: big-endian bytes.
export const integerFromBytes = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);

/** As few bytes as it needs, or exactly `length`. */
export const bytesFromInteger = (value: bigint, length = 0): Buffer => {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(2 * Math.max(length, Math.ceil(hex.length / 2)), "0"), "hex");
};

/** The inverse of `value` modulo `modulus`, by the extended Euclidean algorithm. */
export const inverse = (value: bigint, modulus: bigint): bigint => {
  let [r, next] = [modulus, value % modulus];
  let [t, nextT] = [0n, 1n];
  while (next > 0n) {
    const quotient = r / next;
    [r, next] = [next, r - quotient * next];
    [t, nextT] = [nextT, t - quotient * nextT];
  }
  return t < 0n ? t + modulus : t;
};
