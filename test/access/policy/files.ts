// Files of policies for tests, and what is read of them.
import { dirname } from "node:path";
import { expect } from "vitest";
import { mistakeText, readPolicy } from "../../../access/policy/parse.ts";
import type { Policy } from "../../../access/policy/policy.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

let count = 0;
/** The files of a policy, `access.yaml` first. */
export const write = (files: Record<string, string>): string => {
  const name = `policy-${++count}`;
  for (const [file, text] of Object.entries(files)) folder.write(`${name}/${file}`, text);
  return folder.path(`${name}/access.yaml`);
};

/** The lines of the mistakes, without the folder. */
export const mistakesOf = (text: string, others: Record<string, string> = {}): string[] => {
  const file = write({ "access.yaml": text, ...others });
  const { policy, mistakes } = readPolicy(file, undefined, { builtIn: [TABLE] });
  expect(policy === undefined).toBe(mistakes.length > 0);
  return mistakes.map((one) => mistakeText(one).replaceAll(`${dirname(file)}/`, ""));
};

export const policyOf = (text: string, others: Record<string, string> = {}): Policy => {
  const { policy, mistakes } = readPolicy(write({ "access.yaml": text, ...others }), undefined, { builtIn: [TABLE] });
  expect(mistakes.map(mistakeText)).toEqual([]);
  return policy as Policy;
};
