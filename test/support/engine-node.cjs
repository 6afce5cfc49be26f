// What each Node process of an engine loads first (`node --require`): it starts in half of the processor time.
/** @type {any} what loads a module is not in its types */
const Module = require("node:module");
const { join, sep } = require("node:path");
const { setFlagsFromString } = require("node:v8");

// The SDK sets this flag while it loads: at one point in the process of the program, at another in the provider's. V8 takes no code
// that was compiled without it, nor the other way round, so these processes would reject what the other one has compiled. Set
// before anything is compiled, the flag lets them share it.
setFlagsFromString("--allow-natives-syntax");
// A Node that is too old for the package has no such cache.
Module.enableCompileCache?.(join(__dirname, "..", "..", "node_modules", ".cache", "pulumi-irm-compiled"));

// Two packages take half of the time that the SDK needs to load. It uses them only where it serialises a function.
const LATE = new Map([
  ["typescript", join("@pulumi", "pulumi", "typescript-shim.js")],
  ["@npmcli/arborist", join("@pulumi", "pulumi", "runtime", "closure", "codePaths.js")],
]);

const { _load: load } = Module;
/** @type {(request: string, parent: NodeJS.Module | undefined, isMain: boolean) => object} */
Module._load = (request, parent, isMain) => {
  const requirer = LATE.get(request);
  const now = () => load(request, parent, isMain);
  return requirer !== undefined && parent?.filename.endsWith(sep + requirer) ? onFirstUse(now) : now();
};

/** @type {(loaded: () => Record<PropertyKey, unknown>) => object} a module that is loaded when one of its members is read */
function onFirstUse(loaded) {
  /** @type {Record<PropertyKey, unknown> | undefined} */
  let module;
  return new Proxy(
    {},
    {
      get: (_, name) => {
        // What `import * as` of compiled code asks of any module.
        if (name === "__esModule") return true;
        module ??= loaded();
        return module[name];
      },
    },
  );
}
