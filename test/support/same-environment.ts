// A process runs file after file, so each must leave the environment as it was: a credential that stays decides what another file signs in with.
import { afterAll, expect } from "vitest";

const before = { ...process.env };

// The hooks of the file itself run first.
afterAll(() => {
  const after = { ...process.env };
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  expect(after).toEqual(before);
});
