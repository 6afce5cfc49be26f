// The dynamic adapter in this process, with the environment of a test.
import { dynamicProvider } from "./dynamic.ts";
import { type EnvironmentOptions, environmentWith } from "./environment.ts";
import type { Provider } from "./provider.ts";

/** `stack`: organization/project/stack */
export const dynamicHere = ({ stack, ...options }: EnvironmentOptions & { stack: string }): Promise<Provider> =>
  dynamicProvider(environmentWith(options), stack);
