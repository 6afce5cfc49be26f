// What each Node process of an engine loads first (`node --require`). The SDK sets this flag while it loads: at one point in the
// process of the program, at another in the provider's. V8 takes no code that was compiled without it, nor the other way round,
// so these processes would reject what the other one has compiled. Set before anything is compiled, the flag lets them share it.
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");
const { setFlagsFromString } = require("node:v8");

setFlagsFromString("--allow-natives-syntax");
// A Node that is too old for the package has no such cache.
enableCompileCache?.(join(__dirname, "..", "..", "node_modules", ".cache", "pulumi-irm-compiled"));
