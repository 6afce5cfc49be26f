// Paths to more access as JSON.
import type { NotVisible } from "../../graph/live.ts";
import type { Path, Paths } from "../../paths/path.ts";
import type { Proofs } from "../../paths/proof.ts";

/** A path without what only the search needs. */
export const pathJson = ({ from, gains, assumes, steps, assumptions }: Path) => ({
  from,
  gains,
  assumes,
  steps,
  ...(assumptions.length > 0 && { assumptions }),
});

export const pathsAsJson = (
  { paths, notSearched }: Paths,
  notVisible: readonly NotVisible[],
  proofs?: Proofs,
): string => {
  const shown = paths.map((path) => ({ ...pathJson(path), ...(proofs && { proof: proofs.get(path) }) }));
  return `${JSON.stringify({ paths: shown, notVisible, notSearched }, undefined, 2)}\n`;
};
