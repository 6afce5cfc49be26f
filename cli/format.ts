// The flag --format of the commands that print a report.
import { Option } from "commander";
import { suggestion } from "../schema/index.ts";
import { UsageError } from "./usage.ts";

const FORMATS = ["terminal", "markdown", "json", "html"] as const;
export type Format = (typeof FORMATS)[number];

/** Formats that `irm test` prints. */
export const TEST_FORMATS = ["terminal", "json"] as const;

// The choices are for completion. The command parses the text, so that its error names the command.
export const formatOption = (formats: readonly Format[] = FORMATS): Option =>
  new Option("--format <FORMAT>", "how to print it (default: terminal)")
    .choices(formats)
    .argParser((text: string) => text);

/** The value of --format. */
export const parseFormat = <F extends Format = Format>(
  text: string = "terminal",
  formats: readonly F[] = FORMATS as readonly Format[] as readonly F[],
): F => {
  const format = formats.find((one) => one === text);
  if (format) return format;
  const near = suggestion(text, formats);
  throw new UsageError(`--format takes ${formats.join(", ")}, not ${JSON.stringify(text)}${near}`);
};
