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
  const names = fileNames([...files.keys()]);
  const named = new Map([...files.values()].map((file, i) => [names[i] as string, file]));
  const head: [string, Node][] = [["organization", document.get("organization") as Node]];
  if (named.size > 0) head.push(["include", [...named.keys()]]);
  return new Map([["access.yaml", new Map([...head, ...first])], ...named]);
};

/** Two groups may have one slug. Its number must not make it that of a third one, whose file would replace the other. */
const fileNames = (groups: readonly string[]): string[] => {
  const slugs = groups.map(slug);
  const taken = new Set(slugs);
  return slugs.map((own, i) => {
    let name = own;
    const isOnly = own !== "" && slugs.indexOf(own) === slugs.lastIndexOf(own);
    for (let number = i + 1; !isOnly && taken.has(name); number += 1) name = `${own || "group"}-${number}`;
    taken.add(name);
    return `access.${name}.yaml`;
  });
};
