// Paths to more access as JSON.
import type { NotVisible } from "../../graph/live.ts";
import type { Path, Paths } from "../../paths/path.ts";

/** A path without what only the search needs. */
export const pathJson = ({ from, gains, assumes, steps, assumptions }: Path) => ({
  from,
  gains,
  assumes,
  steps,
  ...(assumptions.length > 0 && { assumptions }),
});

export const pathsAsJson = ({ paths, notSearched }: Paths, notVisible: readonly NotVisible[]): string =>
  `${JSON.stringify({ paths: paths.map(pathJson), notVisible, notSearched }, undefined, 2)}\n`;
