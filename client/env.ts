// The environment of a process, and what no longer counts in it.

export type Env = Readonly<Record<string, string | undefined>>;

export const without = (env: Env, names: readonly string[]): Env => ({
  ...env,
  ...Object.fromEntries(names.map((name) => [name, undefined])),
});

export const SEAL_IS_NOW = "is now npx pulumi-irm apply, which sends what a review has shown and nothing else";

/**
 * Why a run with one of these variables is refused: it was meant to be bound by a review. A CI job that passes on an output which does not
 * exist sets the empty string, and means the same.
 */
export const sealProblem = (env: Env): string | undefined => {
  const names = ["IRM_SEAL", "IRM_SEAL_DIGEST", "IRM_SEAL_REQUIRED"].filter((name) => env[name] !== undefined);
  return names.length === 0 ? undefined : `environment ${names.join(", ")}: this ${SEAL_IS_NOW}; unset it`;
};
