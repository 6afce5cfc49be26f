// Memoizes functions of descriptors and messages, which never change.

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
