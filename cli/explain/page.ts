// The sections of docs/recovery.md, which the package contains.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PAGE, type RecoverySection } from "../../client/recovery.ts";

export interface Section {
  section: RecoverySection;
  /** its heading */
  title: string;
  /** `docs/recovery.md#killed` */
  address: string;
  /** what it says, as Markdown without the heading */
  text: string;
}

export const sectionOf = (section: RecoverySection): Section => {
  const address = `${PAGE}#${section}`;
  const [, part = ""] = page().split(`<a id="${section}"></a>\n`);
  const [heading = "", ...lines] = part.split("\n");
  const end = lines.findIndex((line) => /^(?:<a id=|## )/.test(line));
  const text = lines.slice(0, end < 0 ? lines.length : end).join("\n");
  return { section, title: heading.replace(/^#+ /, ""), address, text: text.trim() };
};

// The compiled commands are one folder deeper.
const PLACES = ["../../", "../../../"];

const page = (): string => {
  const files = PLACES.map((place) => fileURLToPath(new URL(place + PAGE, import.meta.url)));
  return readFileSync(files.find(existsSync) ?? (files[0] as string), "utf8");
};
