// The executable that the engine starts: `pulumi-resource-irm ENGINE_ADDRESS`.
import { existsSync, readFileSync } from "node:fs";
import { systemEnvironment } from "../provider/run/session.ts";
import { runPlugin } from "./run.ts";

// In the build the schema is beside this file.
const schemaText = () => {
  const [built, own] = ["./schema.json", "./generated/schema.json"].map((path) => new URL(path, import.meta.url)) as [
    URL,
    URL,
  ];
  return readFileSync(existsSync(built) ? built : own, "utf8");
};

runPlugin(systemEnvironment(), schemaText);
