// The flag --format of the commands that print a report.
import { Option } from "commander";

export type Format = "terminal" | "markdown" | "json" | "html";

export const formatOption = (...formats: Format[]): Option =>
  new Option("--format <FORMAT>", "how to print it").choices(formats).default("terminal");
