// What a program says of itself, at its head: where it comes from, and what it does not declare.
import { printable, resources } from "../../schema/index.ts";
import { quote } from "../text.ts";
import type { Export, LeftOut } from "./model.ts";

const ADOPTED = "The first `pulumi up` takes the records of adopt.json over and changes nothing.";

const CREATED =
  "`pulumi up` creates the same records on another service, beside an organization of the same name if there is one. After it, remove `allowDuplicate`.";

/** Lines of a comment. None of them has a line break, whatever a name holds. */
export const headComment = (all: Export): string[] => [
  `What ${all.isPart ? "Terraform manages" : "exists"}${placeText(all)}, written by irm export.`,
  all.isAdopted ? ADOPTED : CREATED,
  ...section("The caller cannot see, so the program does not have:", all.notVisible.map(notVisibleText)),
  ...section("Others name, and no list had (gone meanwhile, or not visible):", all.notListed),
  ...section("The program does not declare:", all.leftOut.map(leftOutText)),
];

const placeText = ({ title, top }: Export): string => (top === "" ? "" : ` below ${quote(title)} (${printable(top)})`);

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  - ${line}`)];

/** `role bindings of this group cannot be listed: … (platform, 7209…)` */
export const notVisibleText = ({ message, group, path }: Export["notVisible"][number]): string =>
  printable(group === "" ? message : `${message} (${path}, ${group})`);

/** `role binding 7209…/a033… "name": why` */
export const leftOutText = ({ kind, uid, name, why }: LeftOut): string =>
  `${[resources[kind].word, printable(uid), name === "" ? "" : quote(name)].filter(Boolean).join(" ")}: ${why}`;
