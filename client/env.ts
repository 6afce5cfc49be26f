// The environment of a process.

export type Env = Readonly<Record<string, string | undefined>>;

export const without = (env: Env, names: readonly string[]): Env => ({
  ...env,
  ...Object.fromEntries(names.map((name) => [name, undefined])),
});
