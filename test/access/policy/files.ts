// Files of policies for tests, and what is read of them.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import { applyEdit, type OpenPolicy, openPolicy, type PolicyEdit } from "../../../access/policy/edit/open.ts";
import { mistakeText, parsePolicy, readPolicy } from "../../../access/policy/parse.ts";
import type { Policy } from "../../../access/policy/policy.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { testFolder } from "../../support/test-folder.ts";
import { ROOT } from "../graphs.ts";

const folder = testFolder();

let count = 0;
/** The files of a policy, `access.yaml` first. */
export const write = (files: Record<string, string>): string => {
  const name = `policy-${++count}`;
  for (const [file, text] of Object.entries(files)) folder.write(`${name}/${file}`, text);
  return folder.path(`${name}/access.yaml`);
};

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

export const objectOf = (value: object): Policy => {
  const { policy, mistakes } = parsePolicy(value, { builtIn: [TABLE] });
  expect(mistakes.map(mistakeText)).toEqual([]);
  return policy as Policy;
};

export const edited = (edit: (opened: OpenPolicy) => PolicyEdit, text: string, others: Record<string, string>) => {
  const file = write({ "access.yaml": text, ...others });
  const made = edit(openPolicy(file));
  applyEdit(made);
  const read = (name: string) => readFileSync(`${dirname(file)}/${name}`, "utf8");
  return { file, entries: made.entries, text: read("access.yaml"), read };
};

const urnOf = (type: string, name: string) => `urn:pulumi:prod::access::${type}::${name}`;
const COMPONENT = "irm:index:AccessPolicy";

/** What a stack has of the policy `name` of the organization, as the engine exports it. `children`: type, name, uid. */
export const policyResources = (name: string, ...children: [type: string, name: string, id: string][]) => {
  const urn = urnOf(COMPONENT, name);
  const resources = [["Group", name, ROOT] as const, ...children].map(([type, own, id]) => ({
    ...{ urn: urnOf(`${COMPONENT}$irm:index:${type}`, own), type: `irm:index:${type}`, id, parent: urn },
    ...{ inputs: { name: "acme" }, outputs: {} },
  }));
  return [{ urn, type: COMPONENT, inputs: {}, outputs: { organization: ROOT } }, ...resources];
};
