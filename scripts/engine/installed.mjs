// Prints which `pulumi` a command in this folder runs, if there is one: nothing is installed. cli/engine-command.ts runs this program.
import { join } from "node:path";
import { editionIn, findEngine } from "./engine.mjs";

const { engine } = await findEngine(process.env, await editionIn(process.cwd()));
if (engine === undefined) process.exit(1);
process.stdout.write(engine.folder === undefined ? "pulumi" : join(engine.folder, "pulumi"));
