// The executable that the engine starts: `pulumi-resource-irm ENGINE_ADDRESS`.
import { readFileSync } from "node:fs";
import { systemEnvironment } from "../provider/run/session.ts";
import { runPlugin } from "./run.ts";

const schemaText = () => readFileSync(new URL("./generated/schema.json", import.meta.url), "utf8");

runPlugin(systemEnvironment(), schemaText);
