// Where the documentation is read: the page of the repository, at the version of this package. A comment and a page that was sent have no
// other way to it; a terminal names the file, which the package contains.
import { readFileSync } from "node:fs";
import type { RuleName } from "../review/report.ts";

const manifest = (): { version: string; repository: { url: string } } =>
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

let base: string | undefined;

/** `docs/review.md#gains-owner` as an address. */
export const docsAddress = (path: string): string => {
  if (base === undefined) {
    const { version, repository } = manifest();
    base = `${repository.url.replace(/^git\+|\.git$/g, "")}/blob/v${version}`;
  }
  return `${base}/${path}`;
};

/** Where a rule is explained: each has a section of its name. */
export const pathOfRule = (rule: RuleName): string => `docs/review.md#${rule}`;
