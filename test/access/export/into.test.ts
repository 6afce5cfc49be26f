// What exists, added to a policy of any part of it: the policy then says all of it, and keeps what it had.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Lexer, parse } from "yaml";
import { intoPolicy } from "../../../access/export/policy/into.ts";
import { projectOf } from "../../../access/export/project.ts";
import type { Contents } from "../../../access/export/read.ts";
import { newGraph } from "../../../access/graph/graph.ts";
import { addBinding, addGroup, addIdentity, addRole, type Listed } from "../../../access/graph/live-record.ts";
import { removalOf } from "../../../access/policy/edit/entries.ts";
import { applyEdit, openPolicy, stackOf } from "../../../access/policy/edit/open.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { isRoot, parentOf } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";
import { testFolder } from "../../support/test-folder.ts";
import { contentsOf, EDITOR, exportedFrom, ORG, VIEWER } from "./contents.ts";

const folder = testFolder();

const GITHUB = "https://token.actions.githubusercontent.com";

/** Names that are something else somewhere, and equal ones in several groups. */
const NAMES = ["a", "b", "team", "__proto__", "constructor", "007", "y", "null", "a b", "...", "1_000"];

/** An organization at random. No two groups, identities or roles of one group have the same name. */
const organization = (seed: number): Contents => {
  const random = createRandom(seed);
  const { pick, below } = random;
  const uidIn = (parent: string): string => `${parent}/${random.hex(16)}`;
  const taken = new Set<string>();
  const nameIn = (parent: string, kind: string): string => {
    for (let number = 0; ; number += 1) {
      const name = number === 0 ? pick(NAMES) : `${pick(NAMES)} ${number}`;
      const key = JSON.stringify([kind, parent, name]);
      if (taken.has(key)) continue;
      taken.add(key);
      return name;
    }
  };
  const some = <T>(max: number, make: () => T): T[] => Array.from({ length: below(max + 1) }, make);
  const group: Listed[] = [];
  const place = (): string => pick([ORG, ...group.map(({ uid }) => uid)]);
  some(8, () => {
    const parent = place();
    group.push({ uid: uidIn(parent), name: nameIn(parent, "group"), description: pick(["", "x: y # z"]) });
  });
  const role = some(3, () => {
    const parent = place();
    return { uid: uidIn(parent), name: nameIn(parent, "role"), capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] };
  });
  const identity = some(8, () => {
    const parent = place();
    const subject = pick(["repo:acme/images:ref:refs/heads/main", "x, y: {z}", "#1"]);
    return { uid: uidIn(parent), name: nameIn(parent, "identity"), claimMatch: { issuer: GITHUB, subject } };
  });
  const builtIn = [VIEWER, EDITOR].map((uid) => ({ uid, name: uid === VIEWER ? "viewer" : "editor" }));
  const roleBinding =
    identity.length === 0
      ? []
      : some(12, () => {
          const parent = place();
          const own = role.filter((one) => `${parent}/`.startsWith(`${parentOf(one.uid)}/`));
          return { uid: uidIn(parent), identity: pick(identity), role: pick([...builtIn, ...own]) };
        });
  return contentsOf({ group, role, identity, roleBinding });
};

/** Some of it, with all that it needs. */
const partOf = ({ records }: Contents, seed: number): Contents => {
  const { below } = createRandom(seed);
  const isIn = below(2) === 0 ? () => true : () => below(3) > 0;
  const group: Listed[] = [];
  const has = ({ uid }: Listed): boolean => parentOf(uid) === ORG || group.some((one) => one.uid === parentOf(uid));
  for (const one of records.group) if (!isRoot(one.uid) && has(one) && isIn()) group.push(one);
  const [role, identity] = [records.role, records.identity].map((some) => some.filter((one) => has(one) && isIn()));
  const roleBinding = records.roleBinding.filter((one) => {
    const [own, held] = [one.identity as Listed, one.role as Listed];
    return has(one) && identity?.includes(own) && (isRoot(held.uid) || role?.includes(held)) && isIn();
  });
  return contentsOf({ group, role: role ?? [], identity: identity ?? [], roleBinding });
};

const comments = (text: string): string[] => [...new Lexer().lex(text)].filter((token) => token.startsWith("#"));

const readIn = (text: string): unknown => parse(text, { mapAsMap: true });

/** Each key and item of the first value is in the second one, in the same order. */
const isKept = (before: unknown, after: unknown): boolean => {
  if (before instanceof Map && after instanceof Map)
    return [...before].every(([key, value], i) => [...after.keys()][i] === key && isKept(value, after.get(key)));
  if (Array.isArray(before) && Array.isArray(after)) return before.every((item, i) => isKept(item, after[i]));
  return before === null || before === after;
};

const STYLES = ["blocks", "brackets", "lines between brackets"] as const;

/** The same policy as somebody else might have written it, with comments. */
const rewritten = (text: string, style: (typeof STYLES)[number]): string => {
  if (style === "blocks") return text.replace(/(?<=^ *[^ \n#].*)$/gm, " # of ours");
  return `# ours\n${JSON.stringify(parse(text), null, style === "brackets" ? undefined : 2)} # and theirs\n`;
};

let count = 0;
test("a policy of any part of an organization gets the rest, and keeps what it has", () => {
  const style = fc.constantFrom(...STYLES);
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.boolean(), style, fc.boolean(), (seed, part, isSplit, written, hasUids) => {
      const whole = organization(seed);
      const files = projectOf(exportedFrom(partOf(whole, part)), "yaml", { isNative: false, isSplit });
      count += 1;
      const at = (name: string): string => folder.path(`${count}/${name}`);
      const names = [...files.keys()].filter((name) => name.startsWith("access"));
      for (const name of names) folder.write(`${count}/${name}`, rewritten(files.get(name) as string, written));
      if (hasUids) folder.write(`${count}/adopt.json`, files.get("adopt.json") as string);
      const file = at("access.yaml");
      const opened = openPolicy(file);
      const { pick, below } = createRandom(part);
      const { policy } = opened;
      // What was taken out of the policy comes back.
      if (policy.identities.size > 0 && below(2) === 0)
        applyEdit(removalOf(opened, { identities: [pick([...policy.identities.keys()])] }));

      const before = new Map(names.map((name) => [name, readFileSync(at(name), "utf8")]));
      const { edit, unsaid } = intoPolicy(openPolicy(file), exportedFrom(whole), whole, true);
      expect(unsaid).toEqual([]);
      applyEdit(edit);
      const after = openPolicy(file);

      const live = newGraph();
      const { records, builtInRoles } = whole;
      for (const { uid, name } of records.group) addGroup(live, uid, String(name));
      for (const one of records.identity) addIdentity(live, one);
      for (const one of records.role) addRole(live, one);
      for (const [uid, name] of builtInRoles) addRole(live, { uid, name });
      for (const one of records.roleBinding) addBinding(live, one);
      const { graph, mistakes } = policyGraph(after.policy, live, stackOf(after));
      expect(mistakes).toEqual([]);
      for (const kind of ["groups", "identities", "roles", "bindings"] as const)
        expect([...graph[kind].keys()].sort(), kind).toEqual([...live[kind].keys()].sort());
      for (const [id, { name, relationship }] of graph.identities)
        expect(live.identities.get(id)).toMatchObject({ name, relationship });

      for (const [name, text] of before) {
        const now = readFileSync(at(name), "utf8");
        expect(comments(now)).toEqual(comments(text));
        expect(isKept(readIn(text), readIn(now)), now).toBe(true);
      }
      const second = intoPolicy(after, exportedFrom(whole), whole, true);
      expect(second.edit).toEqual({ entries: [], files: [] });
    }),
    { numRuns: 50 },
  );
});
