// A long policy as several files: one for each group directly below the organization, which the first file includes.
import { ROOT } from "../../policy/index.ts";
import { slug } from "../names.ts";
import type { Branch, Draft, Node } from "./build.ts";

const SECTIONS = ["groups", "identities", "roles", "access"] as const;

/** The sections of each file; the first one is `access.yaml`. */
export const splitByGroup = ({ document }: Pick<Draft, "document">): Map<string, Branch> => {
  const first: Branch = new Map();
  const files = new Map<string, Branch>();
  const fileOf = (path: string): Branch => {
    const [group = ""] = path.split("/");
    if (path === ROOT || group === "") return first;
    const file = files.get(group) ?? new Map<string, Node>();
    files.set(group, file);
    return file;
  };
  for (const section of SECTIONS)
    for (const [key, node] of (document.get(section) as Branch | undefined) ?? []) {
      const isRecord = section === "identities" || section === "roles";
      const path = isRecord ? String((node as Branch).get("in") ?? ROOT) : key;
      const file = fileOf(path);
      const own = (file.get(section) as Branch | undefined) ?? new Map<string, Node>();
      file.set(section, own.set(key, node));
    }
  const named = new Map([...files].map(([group, file], i) => [fileName(group, i, [...files.keys()]), file]));
  const head: [string, Node][] = [["organization", document.get("organization") as Node]];
  if (named.size > 0) head.push(["include", [...named.keys()]]);
  return new Map([["access.yaml", new Map([...head, ...first])], ...named]);
};

/** Two groups may have one slug. */
const fileName = (group: string, position: number, groups: readonly string[]): string => {
  const own = slug(group);
  const isOnly = own !== "" && groups.every((other, i) => i === position || slug(other) !== own);
  return `access.${isOnly ? own : `${own || "group"}-${position + 1}`}.yaml`;
};
