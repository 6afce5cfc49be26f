// The workplace of the tests of a suite or file.
import { afterAll, beforeAll } from "vitest";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";

/** It is there once the hooks of the suite run, before those that follow, and ends with the suite. */
export const openWorkplace = (...flags: string[]): Workplace => {
  let own: Workplace;
  beforeAll(async () => {
    own = await createWorkplace(flags);
  });
  afterAll(() => own.close());
  return new Proxy({} as Workplace, { get: (_, name) => Reflect.get(own, name) });
};
