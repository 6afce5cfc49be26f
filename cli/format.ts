// The flag --format of the commands that print a report.
import { Option } from "commander";
import { suggestion } from "../schema/index.ts";
import { UsageError } from "./usage.ts";

const FORMATS = ["terminal", "markdown", "json", "html"] as const;
export type Format = (typeof FORMATS)[number];

// The choices are for completion. The command parses the text, so that its error names the command.
export const formatOption = (): Option =>
  new Option("--format <FORMAT>", "how to print it (default: terminal)")
    .choices(FORMATS)
    .argParser((text: string) => text);

/** The value of --format. */
export const parseFormat = (text: string = "terminal"): Format => {
  const format = FORMATS.find((one) => one === text);
  if (format) return format;
  const near = suggestion(text, FORMATS);
  throw new UsageError(`--format takes ${FORMATS.join(", ")}, not ${JSON.stringify(text)}${near}`);
};
