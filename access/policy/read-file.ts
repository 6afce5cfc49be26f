// Reads a policy file and the files that it includes, each once, and joins them. Sections of several files are one section; a
// record stands in one of them. A group may be opened again to hold further groups, and a row of access to name further
// identities.
import { dirname, isAbsolute, join } from "node:path";
import { joinSources } from "./join.ts";
import { isList, isMap, type MapSource, type Mistake, mapOf, NODES_MAX, type Place, type Source } from "./source.ts";
import { type FindFile, findTextFile, isYaml, outside, TextFileError } from "./text-file.ts";
import { sourceFromYaml } from "./yaml-source.ts";

/** Most files of a policy, those that cannot be read among them. */
const FILES_MAX = 1000;
/** Most bytes of all files of a policy. */
const BYTES_MAX = 16 * 1024 * 1024;

export interface FileSource {
  /** absent: nothing of it can be checked further */
  source?: Source;
  mistakes: Mistake[];
  /** as they are read: the file itself, then what it includes */
  files: string[];
}

interface OpenFile {
  name: string;
  real: string;
}

/** `find` opens a file that must stay in a folder: on the disk, or in a commit. `noMap` is the mistake of a file that does not hold a map. */
export const readSource = (file: string, find: FindFile = findTextFile, noMap = NO_POLICY): FileSource => {
  const folder = dirname(file);
  const mistakes: Mistake[] = [];
  const sources: MapSource[] = [];
  const files: string[] = [];
  const names = new Set<string>();
  /** the files that were read, without links */
  const read = new Set<string>();
  /** the files whose includes are being read */
  const open: OpenFile[] = [];
  const total = { bytes: 0, nodes: 0 };
  /** what is too much of all files together; nothing more is read */
  let tooMuch: string | undefined;
  let isBroken = false;

  const textOf = (name: string, includedAt: Place | undefined): { real: string; text?: string } | undefined => {
    try {
      if (includedAt && !isYaml(name)) throw new TextFileError(`${name} must be a file of YAML: .yaml, .yml or .json`);
      const found = find(name, folder);
      return read.has(found.real) ? found : { ...found, text: found.read() };
    } catch (error) {
      if (!(error instanceof TextFileError)) throw error;
      isBroken = true;
      mistakes.push({
        path: includedAt ? "include" : "",
        text: error.message,
        place: includedAt ?? startOf(name),
      });
      return undefined;
    }
  };

  const readOne = (name: string, includedAt?: Place): void => {
    if (tooMuch) return;
    names.add(name);
    if (names.size > FILES_MAX) {
      tooMuch = `has more than ${FILES_MAX.toLocaleString("en")} files; divide the policy`;
      return;
    }
    const found = textOf(name, includedAt);
    if (!found) return;
    const { real, text } = found;
    const circle = open.findIndex((one) => one.real === real);
    if (circle >= 0) {
      isBroken = true;
      const path = [...open.slice(circle).map((one) => one.name), open[circle]?.name].join(" > ");
      mistakes.push({ path: "include", text: `includes itself: ${path}`, place: includedAt });
      return;
    }
    if (text === undefined) return;
    read.add(real);
    files.push(name);
    total.bytes += Buffer.byteLength(text);
    if (total.bytes > BYTES_MAX) {
      tooMuch = "is larger than 16 MiB with the files that it includes; divide the policy";
      return;
    }
    const { source, mistakes: own } = sourceFromYaml(text, name);
    mistakes.push(...own);
    if (source === undefined) isBroken = true;
    if (!isMap(source)) {
      if (source) mistakes.push({ path: "", text: noMap, place: startOf(name) });
      return;
    }
    total.nodes += source.size;
    if (total.nodes > NODES_MAX) {
      tooMuch = `has more than ${NODES_MAX.toLocaleString("en")} nodes with the files that it includes; divide the policy`;
      return;
    }
    const { include, rest } = splitInclude(source);
    sources.push(rest);
    open.push({ name, real });
    for (const { path, place } of includesOf(include, mistakes)) {
      if (isAbsolute(path)) {
        isBroken = true;
        mistakes.push({ path: "include", text: outside(path), place });
      } else readOne(join(dirname(name), path), place);
    }
    open.pop();
  };

  readOne(file);
  if (tooMuch) return { mistakes: [{ path: "", text: tooMuch, place: startOf(file) }], files };
  const joined = joinSources(sources);
  mistakes.push(...joined.mistakes);
  return { source: isBroken || sources.length === 0 ? undefined : joined.source, mistakes, files };
};

const NO_POLICY =
  "must be a map with organization, groups, identities, roles and access; `npx pulumi-irm init` writes an example";

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
