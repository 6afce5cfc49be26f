// A provider of others, written with the SDK's own provider server: the folder of its executable. It notes each request and each process.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "../support/process.ts";
import { root } from "./api-process.ts";

/**
 * `other:index:Thing` has an input `text` and an output `made`. The function `other:index:look` returns its `name` as `value`. The component
 * `other:index:Remote` has a thing, and an output `label`.
 */
export const writeOtherProvider = (folder: string) => {
  mkdirSync(folder, { recursive: true });
  const [requests, processes] = [join(folder, "requests"), join(folder, "processes")];
  const executable = `#!/bin/sh\nexec '${process.execPath}' '${join(folder, "provider.cjs")}' "$@"\n`;
  writeFileSync(join(folder, "pulumi-resource-other"), executable, { mode: 0o755 });
  writeFileSync(join(folder, "provider.cjs"), source(requests, processes));
  const linesIn = (file: string): string[] =>
    existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : [];
  const begun = (): { pid: number; env: Record<string, string> }[] =>
    linesIn(processes).map((line) => JSON.parse(line));
  return {
    folder,
    /** Each request that has reached it in a review since the last time, once, such as `create stays`. */
    takeReviewed: () => {
      const lines = linesIn(requests).map((line) => JSON.parse(line) as { request: string; isReviewed: boolean });
      writeFileSync(requests, "");
      return [...new Set(lines.filter((one) => one.isReviewed).map((one) => one.request))].toSorted();
    },
    /** pids of its processes that still run */
    running: () => begun().flatMap(({ pid }) => (isRunning(pid) ? pid : [])),
    /** what each of its processes has of the variables that concern it */
    environments: () => begun().map(({ env }) => env),
  };
};

const schema = {
  name: "other",
  version: "1.2.3",
  resources: {
    "other:index:Thing": {
      inputProperties: { text: { type: "string" } },
      requiredInputs: ["text"],
      properties: { text: { type: "string" }, made: { type: "string" } },
      required: ["text", "made"],
    },
  },
  functions: {
    "other:index:look": {
      inputs: { type: "object", properties: { name: { type: "string" } } },
      outputs: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
    },
  },
};

const VARIABLES = ["IRM_TOKEN", "IRM_IDENTITY_TOKEN_FILE", "OTHER_CLOUD", "PULUMI_HOME", "PULUMI_DEBUG_PROVIDERS"];

const source = (requests: string, processes: string): string => `
const { appendFileSync } = require("node:fs");
const pulumi = require(${JSON.stringify(join(root, "node_modules", "@pulumi", "pulumi"))});
const { main } = require(${JSON.stringify(join(root, "node_modules", "@pulumi", "pulumi", "provider"))});
const isReviewed = process.env.IRM_RUN !== undefined;
const note = (request) => appendFileSync(${JSON.stringify(requests)}, JSON.stringify({ request, isReviewed }) + "\\n");
const env = Object.fromEntries(${JSON.stringify(VARIABLES)}.map((name) => [name, process.env[name]]));
appendFileSync(${JSON.stringify(processes)}, JSON.stringify({ pid: process.pid, env }) + "\\n");
const thing = (inputs) => ({ ...inputs, made: "made of " + inputs.text });
main({
  version: "1.2.3",
  schema: ${JSON.stringify(JSON.stringify(schema))},
  check: async (urn, olds, news) => (note("check"), { inputs: news }),
  diff: async (id, urn, olds, news) => ({ changes: olds.text !== news.text }),
  create: async (urn, inputs) => (note("create " + inputs.text), { id: inputs.text, outs: thing(inputs) }),
  update: async (id, urn, olds, news) => (note("update " + news.text), { outs: thing(news) }),
  delete: async (id) => note("delete " + id),
  read: async (id, urn, props) => (note("read " + id), { id, props: thing({ text: id }), inputs: { text: id } }),
  invoke: async (token, { name }) => (note("look " + name), { outputs: { value: name } }),
  construct: async (name, type, inputs, options) => {
    note("construct " + name);
    const parent = new pulumi.ComponentResource(type, name, {}, options);
    const inputsOfThing = { text: "part", made: undefined };
    new pulumi.CustomResource("other:index:Thing", name + "-part", inputsOfThing, { parent, version: "1.2.3" });
    return { urn: parent.urn, state: { label: "of " + name } };
  },
}, process.argv.slice(2));
`;
