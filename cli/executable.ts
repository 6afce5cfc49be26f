// The main module of the executable. Its name chooses: `pulumi-resource-irm` is the plugin that the engine starts, any other name is `irm`.
// It becomes CommonJS, which cannot await here.
import { basename } from "node:path";
import { LAUNCH } from "./own-command.ts";

if (/^pulumi-resource-irm(\.exe)?$/.test(basename(process.argv0))) void import("../plugin/main.ts");
else if (process.argv[2] === LAUNCH) {
  process.argv.splice(2, 1);
  void import("./run/others/launcher.ts");
} else void import("./main.ts");
