// A program as data, and the program that reads it: whatever it declares, its text is the same for each form.
import type { Json } from "../../../schema/index.ts";
import type { Declared } from "../../harness/small-engine/program.ts";

/** A resource with options of the engine. In `options`, `deletedWith` is the name of another resource. */
export interface Resource extends Declared {
  options?: Json;
}

export interface Described {
  resources: Resource[];
  policies: { name: string; args: Json; options?: Json }[];
  /** the file of `adopt`; undefined: there is none */
  uids?: Json | undefined;
  /** resources of another provider: their texts, by name */
  others: Readonly<Record<string, string>>;
  /** at another service, by an explicit provider: address and resources */
  second?: { provider: Json; resources: Resource[] };
}

export const DESCRIPTION = "program.json";

/** One program of several: their names differ. */
export const together = (all: readonly Described[]): Described => {
  const second = all.flatMap((one) => one.second ?? []);
  return {
    resources: all.flatMap(({ resources }) => resources),
    policies: all.flatMap(({ policies }) => policies),
    others: Object.assign({}, ...all.map(({ others }) => others)),
    ...(second[0] && { second: { ...second[0], resources: second.flatMap(({ resources }) => resources) } }),
  };
};

/** A reference is a resource, its uid, or a value that is computed from it: by the length of its name. */
export const sourceFor = (module: string): string => `
import * as pulumi from "@pulumi/pulumi";
import * as irm from "${module}";
import { readFileSync } from "node:fs";
const { resources, policies, others, second } = JSON.parse(readFileSync("${DESCRIPTION}", "utf8"));
class Other extends pulumi.dynamic.Resource {
  constructor(name: string, text: string) {
    super({ create: async (inputs: any) => ({ id: inputs.text, outs: inputs }), update: async (_: any, __: any, inputs: any) => ({ outs: inputs }) }, name, { text });
  }
}
const made: any = {};
for (const [name, text] of Object.entries(others)) made[name] = new Other(name, text as string);
const referred = (name: string): any => {
  const ways = [made[name], made[name].uid, pulumi.output(made[name].uid).apply((uid: any) => uid)];
  return ways[name.length % ways.length];
};
const valueOf = (one: any): any => {
  if (Array.isArray(one)) return one.map(valueOf);
  if (typeof one !== "object" || one === null) return one;
  if ("ref" in one) return referred(one.ref);
  if ("other" in one) return made[one.other].text;
  if ("secret" in one) return pulumi.secret(one.secret);
  return Object.fromEntries(Object.entries(one).map(([key, value]) => [key, valueOf(value)]));
};
const declare = (provider?: any) => ({ name, kind, inputs, options = {} }: any) => {
  const type = kind.charAt(0).toUpperCase() + kind.slice(1);
  const { deletedWith, ...own } = options;
  const more = { ...own, ...(deletedWith && { deletedWith: made[deletedWith] }), ...(provider && { provider }) };
  made[name] = new (irm as any)[type](name, valueOf(inputs), more);
};
resources.forEach(declare());
if (second) second.resources.forEach(declare(new (irm as any).Provider("second", second.provider)));
for (const { name, args, options } of policies) new irm.AccessPolicy(name, args, options);
`;
