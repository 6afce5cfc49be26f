// Which schema the packages for other languages were generated from.
import { createHash } from "node:crypto";
import { join } from "node:path";

/** The folder of the Python package in the clone, and of the Go module. */
export const PYTHON_SDK = join("sdk", "python");
export const GO_SDK = join("sdk", "go", "irm");

/** The file with the hash, which all of them share: one command writes them. */
export const SCHEMA_HASH = join("sdk", "schema.sha256");

export const schemaHash = (text: string): string => createHash("sha256").update(text).digest("hex");
