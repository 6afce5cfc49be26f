// The dynamic adapter in this process, with the environment of a test.
import { dynamicProvider } from "./dynamic.ts";
import { type OutsideOptions, outsideWith } from "./environment.ts";
import type { Provider } from "./provider.ts";

/** `stack`: organization/project/stack */
export const dynamicHere = ({ stack, ...options }: OutsideOptions & { stack: string }): Promise<Provider> =>
  dynamicProvider(outsideWith(options), stack);
