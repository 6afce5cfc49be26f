// The policy of an export: everything that a policy can express without a mistake. The program beside it declares the entries with
// mistakes.
import { getOrInsert } from "../../../schema/index.ts";
import { parsePolicy } from "../../policy/parse.ts";
import { ROOT } from "../../policy/policy.ts";
import type { Mistake } from "../../policy/source.ts";
import { presets } from "../../preset/presets.ts";
import { yamlText } from "../../text.ts";
import { commentText } from "../literal.ts";
import type { Export } from "../model.ts";
import { slug } from "../names.ts";
import type { Entry } from "../value.ts";
import { type Branch, branchIn, type Draft, draftPolicy, type Node, type Place, SECTIONS } from "./build.ts";

export const policyOf = (all: Export): Draft => {
  const excluded = new Set<Entry>();
  for (;;) {
    const draft = draftPolicy(all, excluded);
    const { mistakes } = parsePolicy(plain(draft.document));
    if (mistakes.length === 0) return draft;
    const wrong = mistakes.flatMap((mistake) => entriesAt(mistake, draft.places));
    // A mistake of the whole policy, such as its size: the program declares everything.
    for (const entry of wrong.length > 0 ? wrong : draft.places.keys()) excluded.add(entry);
    if (draft.places.size === 0) return draft;
  }
};

/** The entries whose part of the policy has the mistake: the innermost group, or the whole row of a role. */
export const entriesAt = ({ path }: Mistake, places: ReadonlyMap<Entry, Place>): Entry[] => {
  const around = [...places].filter(([, place]) => isWithin(path, place.path) || isWithin(place.path, path));
  const longest = Math.max(...around.map(([, place]) => Math.min(place.path.length, path.length)));
  return around.filter(([, place]) => Math.min(place.path.length, path.length) === longest).map(([entry]) => entry);
};

const isWithin = (path: string, outer: string) =>
  path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);

const plain = (node: Node): unknown => {
  if (node instanceof Map) return Object.fromEntries([...node].map(([key, value]) => [key, plain(value)]));
  return Array.isArray(node) ? node.map(plain) : node;
};

// A long policy as several files: one for each group directly below the organization, which the first file includes.

/** The sections of each file; the first one is `access.yaml`. */
export const splitByGroup = ({ document }: Pick<Draft, "document">): Map<string, Branch> => {
  const first: Branch = new Map();
  const files = new Map<string, Branch>();
  const fileOf = (path: string): Branch => {
    const [group = ""] = path.split("/");
    return group === "" ? first : getOrInsert(files, group, () => new Map<string, Node>());
  };
  for (const section of SECTIONS)
    for (const [key, node] of (document.get(section) as Branch | undefined) ?? []) {
      const isRecord = section === "identities" || section === "roles";
      const path = isRecord ? String((node as Branch).get("in") ?? ROOT) : key;
      branchIn(fileOf(path), section).set(key, node);
    }
  const names = fileNames([...files.keys()]);
  const named = new Map([...files.values()].map((file, i) => [names[i] as string, file]));
  const head: [string, Node][] = [["organization", document.get("organization") as Node]];
  if (named.size > 0) head.push(["include", [...named.keys()]]);
  return new Map([["access.yaml", new Map([...head, ...first])], ...named]);
};

/** Two groups may have one slug. A number must not turn it into the slug of a third one, whose file would replace the other. */
const fileNames = (groups: readonly string[]) => {
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

// The files of a policy: access.yaml, and the uids of the records that it adopts.

const SCHEMA = "./node_modules/pulumi-irm/access.schema.json";

/** A file of a policy as YAML. `comment`: lines at its head, none with a line break. */
export const policyText = (document: Branch, comment: readonly string[] = []): string => {
  const head = commentText("#", [`yaml-language-server: $schema=${SCHEMA}`, ...comment]);
  return `${head}\n\n${yamlText(document, (key) => Object.hasOwn(presets, key))}`;
};

/** The file for AccessPolicy's `adopt: { file }`: the uid of each record, by path or key. `resources`: of the program beside it. */
export const adoptionText = ({ places }: Draft, resources: ReadonlyMap<string, string> = new Map()): string => {
  const uids = {
    groups: new Map<string, string>(),
    identities: new Map<string, string>(),
    roles: new Map<string, string>(),
    ...(resources.size > 0 && { resources }),
  };
  for (const [{ uid }, { section, key }] of places) if (section !== "access") uids[section].set(key, uid);
  const sections = Object.entries(uids).map(([name, own]) => [name, Object.fromEntries(own)]);
  return `${JSON.stringify(Object.fromEntries(sections), null, 2)}\n`;
};
