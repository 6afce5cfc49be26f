// Adds existing records that a policy lacks to its files. Existing entries do not change, even if the service has another value.

import { dirname, join } from "node:path";
import { getOrInsert, isAncestorOrSelf, isRoot, parentOf } from "../../../schema/index.ts";
import { newGraph } from "../../graph/graph.ts";
import { ADD, type Listed } from "../../graph/live-record.ts";
import { type Added, type ChangedFile, PolicyEditError, withEntries } from "../../policy/edit/document.ts";
import { additionOf, withAddition } from "../../policy/edit/entries.ts";
import { type OpenPolicy, stackOf } from "../../policy/edit/open.ts";
import { policyGraph } from "../../policy/graph.ts";
import { mistakeText } from "../../policy/parse.ts";
import { mappingsOf, ROOT } from "../../policy/policy.ts";
import { UIDS_FILE } from "../../policy/uids.ts";
import { quote } from "../../text.ts";
import type { Export } from "../model.ts";
import type { ChooseTop, Contents } from "../read.ts";
import { type Entry, Reference } from "../value.ts";
import { type Base, type Draft, draftPolicy, type Place } from "./build.ts";
import { entriesAt } from "./policy.ts";

export type Into = ReturnType<typeof intoPolicy>;

/** `hasUids`: the program adopts the records. Throws a PolicyEditError if the policy cannot be extended. */
export const intoPolicy = (opened: OpenPolicy, all: Export, contents: Contents, hasUids: boolean) => {
  const base = baseOf(opened, all, contents);
  const reasons = new Map<Entry, string>();
  for (;;) {
    const draft = draftPolicy(all, new Set(reasons.keys()), base);
    const { mistakes } = withAddition(opened, draft.document);
    const fresh = new Map([...draft.places].filter(([entry]) => !base.places.has(entry)));
    const wrong = mistakes.flatMap((mistake) =>
      entriesAt(mistake, fresh).map((entry) => [entry, mistake.text] as const),
    );
    for (const [entry, text] of wrong) reasons.set(entry, `the policy would have a mistake: ${text}`);
    if (wrong.length > 0) continue;
    const [mistake] = mistakes;
    if (mistake) throw new PolicyEditError(`${opened.file} cannot have all of it: ${mistakeText(mistake)}`);
    const edit = additionOf(opened, draft.document);
    const uids = hasUids ? uidsFile(opened, draft, fresh) : [];
    const isSaid = saidIn(opened, all);
    return {
      edit: { ...edit, files: [...edit.files, ...uids] },
      /** records that the policy does not get, with the reason; undefined for a kind that no policy declares */
      unsaid: all.entries
        .filter((entry) => !draft.places.has(entry) && !isSaid(entry))
        .map((entry) => ({ entry, why: reasons.get(entry) ?? whyNot(entry, draft.places) })),
      /** the file of uids that did not exist */
      newUids: uids.find(({ before }) => before === undefined)?.name,
    };
  }
};

/** The organization of the policy, among the groups that the caller can list. Throws a PolicyEditError. */
export const organizationIn =
  ({ file, policy, adopted }: OpenPolicy): ChooseTop =>
  (groups) => {
    const { name, uid = adopted?.uids.groups.get(ROOT) } = policy.organization;
    const visible = groups.filter((one) => isRoot(one.uid));
    // A caller who cannot see the organization may see groups in it.
    if (uid !== undefined && groups.some((one) => isAncestorOrSelf(uid, one.uid))) return uid;
    const found = uid === undefined ? visible.filter((one) => one.name === name) : [];
    const [top, second] = found;
    const lines = (some: readonly Listed[]) => some.map((one) => `\n  ${one.uid} ${quote(one.name)}`).join("");
    if (second !== undefined)
      throw new PolicyEditError(
        `${file}: ${found.length} organizations have the name ${quote(name)}; give organization: { uid: … } of one:${lines(found)}`,
      );
    if (top !== undefined) return top.uid;
    const which = uid ?? quote(name);
    throw new PolicyEditError(
      `${file} is of the organization ${which}, which you cannot see; you can see ${visible.length === 0 ? "none" : `these:${lines(visible)}`}`,
    );
  };

/** The entries that the policy declares: by the uids beside it, or by their names in their groups. */
const baseOf = (opened: OpenPolicy, { entries, top }: Export, contents: Contents): Base => {
  const { policy } = opened;
  const live = newGraph();
  for (const kind of ["group", "identity", "role"] as const)
    for (const record of contents.records[kind]) ADD[kind](live, record);
  const own = { ...policy, bindings: [], people: new Map() };
  const { groups, identities, roles, mistakes } = policyGraph(own, live, stackOf(opened));
  if (mistakes.length > 0) {
    const advice = `in ${join(dirname(opened.file), UIDS_FILE)}, the uid of a key says which record it is`;
    throw new PolicyEditError([...mistakes.map(mistakeText), advice].join("\n"));
  }
  const byUid = new Map(entries.map((entry) => [`${entry.kind} ${entry.uid}`, entry]));
  const places = new Map<Entry, Place>();
  const note = (kind: Entry["kind"], uid: string | undefined, section: Place["section"], key: string, path = key) => {
    const entry = byUid.get(`${kind} ${uid}`);
    if (entry) places.set(entry, { section, key, path });
  };
  note("group", top, "groups", ROOT, "organization");
  for (const [key, uid] of groups) if (key !== ROOT) note("group", uid, "groups", key);
  for (const [key, uid] of identities) note("identity", uid, "identities", key);
  for (const [key, uid] of roles) if (policy.roles.has(key)) note("role", uid, "roles", key);
  const keyOf = (value: unknown) => (value instanceof Reference ? places.get(value.entry)?.key : String(value));
  const rows = new Set(policy.bindings.map(({ group, role, identity }) => JSON.stringify([group, role, identity])));
  for (const entry of entries) {
    if (entry.kind !== "roleBinding") continue;
    const group = parentOf(entry.uid) === top ? ROOT : keyOf(entry.parent);
    const row = [group, keyOf(entry.args.get("role")), keyOf(entry.args.get("identity"))];
    if (rows.has(JSON.stringify(row))) places.set(entry, { section: "access", key: String(group), path: "access" });
  }
  return {
    places,
    has: (section, key) => policy[section].has(key),
    identitiesIn: (group, role) => policy.bindings.filter((one) => one.group === group && one.role === role).length,
  };
};

/** The file of uids, extended with all records that the policy then has. */
const uidsFile = (
  { file, adopted }: OpenPolicy,
  { places }: Draft,
  fresh: ReadonlyMap<Entry, Place>,
): ChangedFile[] => {
  if (adopted === undefined && [...fresh.values()].every(({ section }) => section === "access")) return [];
  const missing = new Map<string, Map<string, Added>>();
  for (const [{ uid }, { section, key }] of places) {
    if (section === "access" || adopted?.uids[section].has(key)) continue;
    getOrInsert(missing, section, () => new Map<string, Added>()).set(key, uid);
  }
  if (missing.size === 0) return [];
  const before = adopted?.text;
  const after = withEntries(before ?? NO_UIDS, UIDS_FILE, missing);
  const name = adopted?.name ?? join(dirname(file), UIDS_FILE);
  return [{ name, real: adopted?.real ?? name, before, after }];
};

/** As an export writes them. */
const NO_UIDS = `${JSON.stringify({ groups: {}, identities: {}, roles: {} }, null, 2)}\n`;

/** Identity providers that the policy names, and the roles that it gives to their external groups. */
const saidIn = ({ policy }: OpenPolicy, { entries }: Export): ((entry: Entry) => boolean) => {
  const nameOf = (value: unknown) =>
    value instanceof Reference ? String(value.entry.args.get("name")) : String(value);
  const mappings = new Set(mappingsOf(policy).map((one) => JSON.stringify([one.provider, one.externalGroupId])));
  const known = new Set(
    entries.filter(({ kind, args }) => kind === "identityProvider" && policy.people.has(String(args.get("name")))),
  );
  return (entry) =>
    known.has(entry) ||
    (entry.kind === "externalGroupRoleMapping" &&
      mappings.has(JSON.stringify([nameOf(entry.parent), entry.args.get("externalGroupId")])));
};

const KINDS: readonly Entry["kind"][] = ["group", "role", "identity", "roleBinding"];

const whyNot = ({ kind, parent, args }: Entry, places: ReadonlyMap<Entry, Place>) => {
  if (!KINDS.includes(kind)) return undefined;
  const isMissing = (value: unknown) => value instanceof Reference && !places.has(value.entry);
  if (isMissing(parent)) return "its group is not in the policy";
  if (kind !== "roleBinding") return "a policy has no word for one of its fields";
  return isMissing(args.get("role")) ? "its role is not in the policy" : "its identity is not in the policy";
};
