// The files at the root of the package, as text: CommonJS that any Node can read, so that an old Node gets a clear message.

/** `range` is `engines.node` of package.json: `>=22.19`. */
export function supportedNode(name: string, range: string): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(range) ?? [];
  if (major === undefined || minor === undefined)
    throw new TypeError(`engines.node must be ">=MAJOR.MINOR", not ${range}`);
  return `"use strict";
// An older Node cannot load the modules of this package. People read this error, so its stack is the message alone: the
// Pulumi SDK prints the message of a RunError. In a provider process it prints the error with its stack.
var version = process.versions.node.split(".");
if (version[0] < ${major} || (version[0] == ${major} && version[1] < ${minor})) {
  var error = new Error("${name}: Node " + process.versions.node + " is too old; Node ${major}.${minor} or later is required");
  error.stack = error.message;
  Object.defineProperty(error, "__pulumiRunError", { value: true });
  Object.defineProperty(error, "toString", {
    value: function () {
      return error.name;
    },
  });
  throw error;
}
`;
}

/** Lists each name, because Node reads the names of a CommonJS module from its text. */
export function entryText(module: string, names: readonly string[]): string {
  return `"use strict";
require("./supported-node.js");
var module_ = require("./${module}");
${names.map((name) => `exports.${name} = module_.${name};`).join("\n")}
`;
}
