// Which schema the Python package was generated from.
import { createHash } from "node:crypto";
import { join } from "node:path";

/** The folder of the Python package in the clone. */
export const PYTHON_SDK = join("sdk", "python");

/** Its file with the hash. */
export const SCHEMA_HASH = join(PYTHON_SDK, "schema.sha256");

export const schemaHash = (text: string): string => createHash("sha256").update(text).digest("hex");
