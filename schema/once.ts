// Values that are computed once: of descriptors and messages, which never change, and of the keys of a map.

/** Computes the value of each object once. */
export const once = <Of extends object, T>(compute: (of: Of) => T): ((of: Of) => T) => {
  const cache = new WeakMap<Of, { value: T }>();
  return (of) => {
    let known = cache.get(of);
    if (!known) {
      known = { value: compute(of) };
      cache.set(of, known);
    }
    return known.value;
  };
};

/** The value of the key, which `compute` gives where the map has none. Map.prototype.getOrInsertComputed (TC39 upsert) will replace it. */
export const getOrInsert = <K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  compute: () => V,
): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = compute();
  map.set(key, value);
  return value;
};

/** The rows of a table that is a text, one in a line. */
export const rowsOf = (table: string): string[] => table.trim().split("\n");
