// The classes of a provider that answers at once: the fields and the names of ours, and nothing besides. The plugin does not import this file,
// since its bundle has no SDK.
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { outputsOf } from "./outputs.ts";

type Args = Readonly<Record<string, unknown>>;
type Class = new (name: string, args: Args, opts?: pulumi.CustomResourceOptions) => pulumi.CustomResource;

/** The text of our dynamic resources, so that its length is no difference. */
const texts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("./handler-texts.json", import.meta.url), "utf8"),
);

/** `isDynamic`: the provider is a text in the inputs; otherwise it is a plugin. */
export const classOf = (type: string, isDynamic: boolean): Class => {
  const token = (isDynamic ? "pulumi-nodejs:dynamic/irm:" : "irm:index:") + type;
  const hidden = isDynamic ? { __provider: texts[type] } : {};
  const { outs } = outputsOf(type, {});
  const unset = Object.fromEntries(Object.keys(outs).map((name) => [name, undefined]));
  return class extends pulumi.CustomResource {
    constructor(name: string, args: Args, opts: pulumi.CustomResourceOptions = {}) {
      super(token, name, { ...unset, ...(uidsOf(args) as Args), ...hidden }, opts);
    }
  };
};

/** References as the uids of what they refer to. */
const uidsOf = (value: unknown): unknown => {
  if (pulumi.CustomResource.isInstance(value)) return value.id;
  if (Array.isArray(value)) return value.map(uidsOf);
  if (typeof value !== "object" || value === null || pulumi.Output.isInstance(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, uidsOf(member)]));
};
