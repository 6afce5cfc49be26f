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

/**
 * Node keeps the compiled code of what is loaded from here on (https://nodejs.org/api/module.html#module-compile-cache). Its own folder
 * below the one for temporary files could be made by another user, who would choose what runs here: so it is one of this user.
 */
export function compileCache(): string {
  return `"use strict";
var fs = require("node:fs");
var os = require("node:os");
var path = require("node:path");
var node = require("node:module");
try {
  var base = process.platform === "win32" ? process.env.LOCALAPPDATA : process.env.XDG_CACHE_HOME;
  var folder = path.join(base && path.isAbsolute(base) ? base : path.join(os.homedir(), ".cache"), "pulumi-irm", "compiled");
  fs.mkdirSync(folder, { recursive: true, mode: 448 });
  // Of this user, and not writable by others.
  var isOwn = function (part) {
    var found = fs.lstatSync(part);
    return found.isDirectory() && (!process.getuid || (found.uid === process.getuid() && (found.mode & 18) === 0));
  };
  if (isOwn(path.dirname(folder)) && isOwn(folder)) {
    node.enableCompileCache(folder);
    // The engine may end this process without asking it.
    setTimeout(node.flushCompileCache, 2000).unref();
  }
} catch (error) {
  // Without a folder, each process compiles.
}
`;
}

/** Lists each name, because Node reads the names of a CommonJS module from its text. */
export function entryText(module: string, names: readonly string[], { isCached = false } = {}): string {
  return `"use strict";
require("./supported-node.js");
${isCached ? 'require("./compile-cache.js");\n' : ""}var module_ = require("./${module}");
${names.map((name) => `exports.${name} = module_.${name};`).join("\n")}
`;
}
