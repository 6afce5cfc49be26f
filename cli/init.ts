// `irm init`: writes a first policy file, and never over another file.
import { writeFileSync } from "node:fs";
import { parsePolicy } from "../access/policy/index.ts";
import { starterPolicy } from "../access/policy/starter.ts";
import { printable } from "../schema/index.ts";
import { printError } from "./terminal.ts";
import { UsageError } from "./usage.ts";

export interface InitFlags {
  organization: string;
}

export const init = (file: string, { organization }: InitFlags): number => {
  const [mistake] = parsePolicy({ organization }).mistakes;
  if (mistake) throw new UsageError(`--organization: ${mistake.text.split(";")[0]}`);
  try {
    writeFileSync(file, starterPolicy(organization), { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = code === "EEXIST" ? `${file} exists already; give another name` : `cannot write ${file}: ${message}`;
    printError("irm init", text);
    return 1;
  }
  const name = printable(file);
  process.stderr.write(`wrote ${name}: change it to your organization, then run \`irm check ${name}\`\n`);
  return 0;
};
