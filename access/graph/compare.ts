/** The order of texts by their UTF-16 units, for `sort`: the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
