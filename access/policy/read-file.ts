// Reads a policy file and the files that it includes, each once, and joins them. Sections of several files are one section; a
// record stands in one of them. A group may be opened again to hold further groups, and a row of access to name further
// identities.
import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { joinSources } from "./join.ts";
import { isList, isMap, type MapSource, type Mistake, mapOf, NODES_MAX, type Place, type Source } from "./source.ts";
import { sourceFromYaml } from "./yaml-source.ts";

/** Most bytes of one file. */
export const FILE_MAX = 4 * 1024 * 1024;

export interface FileSource {
  /** absent: nothing of it can be checked further */
  source?: Source;
  mistakes: Mistake[];
  /** as they are read: the file itself, then what it includes */
  files: string[];
}

export const readSource = (file: string): FileSource => {
  const mistakes: Mistake[] = [];
  const sources: MapSource[] = [];
  const files: string[] = [];
  /** real paths of the files that were read, and of those whose includes are being read */
  const seen = new Set<string>();
  const open: string[] = [];
  let isBroken = false;

  const readOne = (name: string, includedAt?: Place): void => {
    const text = textOf(name);
    if (typeof text !== "string") {
      isBroken = true;
      mistakes.push({ path: includedAt ? "include" : "", text: text.problem, place: includedAt ?? startOf(name) });
      return;
    }
    const real = realpathSync(name);
    if (open.includes(real)) {
      isBroken = true;
      const circle = [...open.slice(open.indexOf(real)), real].map((path) =>
        files.find((one) => realpathSync(one) === path),
      );
      mistakes.push({ path: "include", text: `includes itself: ${circle.join(" > ")}`, place: includedAt });
      return;
    }
    if (seen.has(real)) return;
    seen.add(real);
    files.push(name);
    const { source, mistakes: own } = sourceFromYaml(text, name);
    mistakes.push(...own);
    if (source === undefined) isBroken = true;
    if (!isMap(source)) {
      if (source) mistakes.push({ path: "", text: EMPTY, place: startOf(name) });
      return;
    }
    const { include, rest } = splitInclude(source);
    sources.push(rest);
    open.push(real);
    for (const { path, place } of includesOf(include, mistakes))
      readOne(isAbsolute(path) ? path : join(dirname(name), path), place);
    open.pop();
  };

  readOne(file);
  const total = sources.reduce((sum, { size }) => sum + size, 0);
  if (total > NODES_MAX) {
    const text = `has more than ${NODES_MAX.toLocaleString("en")} nodes with the files that it includes; divide the policy`;
    return { mistakes: [{ path: "", text, place: startOf(file) }], files };
  }
  const joined = joinSources(sources);
  mistakes.push(...joined.mistakes);
  return { source: isBroken || sources.length === 0 ? undefined : joined.source, mistakes, files };
};

const EMPTY = "must be a map with organization, groups, identities, roles and access; `irm init` writes an example";

const startOf = (file: string): Place => ({ file, line: 1, column: 1 });

const splitInclude = (source: MapSource): { include?: Source; rest: MapSource } => {
  const include = source.entries.get("include")?.value;
  const rest = new Map(source.entries);
  rest.delete("include");
  return { include, rest: mapOf(rest, source.place) };
};

const includesOf = (include: Source | undefined, mistakes: Mistake[]): { path: string; place?: Place }[] => {
  if (include === undefined) return [];
  if (!isList(include)) {
    mistakes.push({ path: "include", text: "must be a list of files", place: include.place });
    return [];
  }
  return include.items.flatMap((item, i) => {
    const path = "scalar" in item ? item.scalar : undefined;
    if (typeof path === "string" && path !== "") return [{ path, place: item.place }];
    mistakes.push({ path: `include[${i}]`, text: "must be the name of a file", place: item.place });
    return [];
  });
};

// One byte more than allowed shows that a file is too large, whatever it is: a pipe has no size.
const textOf = (file: string): string | { problem: string } => {
  const bytes = Buffer.allocUnsafe(FILE_MAX + 1);
  let length = 0;
  try {
    const descriptor = openSync(file, "r");
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(descriptor, bytes, length, bytes.length - length, null);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return { problem: `cannot read ${file}: ${(error as Error).message}` };
  }
  if (length > FILE_MAX)
    return { problem: `${file} is larger than 4 MiB; divide the policy into files and include them` };
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } catch {
    // the only error of decoding
    return { problem: `${file} is not UTF-8` };
  }
};
