// Creates that an interrupted run left open: in the journals of this machine, and in the engine's state, which all machines share. An
// update under way also has open creates.

import { ourTypeOf, partsOfUrn, stackOfUrn } from "../../pulumi/urn.ts";
import { SECRET, valuesIn } from "../../pulumi/value.ts";
import { isUidp, type Json, resources } from "../../schema/index.ts";
import type { PendingCreate } from "../format/drift.ts";
import { worstFirst } from "../graph/danger.ts";
import { type AccessGraph, pathOf } from "../graph/graph.ts";
import { wordOf } from "./changes.ts";
import type { DriftFacts } from "./facts.ts";

/** A create of a journal without an outcome. */
export interface JournalEntry {
  /** organization/project/stack/Type::name */
  key: string;
  /** `roleBinding` */
  kind: string;
  /** uid of the group; "" at the root */
  parent: string;
  /** when it was sent, in milliseconds */
  at: number;
  /** the record that the response named */
  answered?: string;
}

/** `graphs`: of the services */
export const pendingIn = (
  { run: { left, steps, begun }, preview }: DriftFacts,
  entries: readonly JournalEntry[],
  graphs: readonly AccessGraph[],
): PendingCreate[] => {
  const urns = new Map([...left, ...steps].map(({ urn }) => [nameOf(urn), urn]));
  const planned = new Map(left.map(({ urn, inputs }) => [urn, valuesIn(inputs as Json)]));
  const stack = stackOfUrn(preview.steps[0]?.urn);
  /** With the name of the record and the path of its group, if they are known. */
  const named = (one: Omit<PendingCreate, "name"> & { name: unknown }): PendingCreate => {
    const { name, group } = one;
    const graph = graphs.find(({ groups }) => group !== null && groups.has(group));
    const groupName = graph && group !== null ? pathOf(graph, group) : null;
    return { ...one, name: typeof name === "string" && name !== SECRET ? name : null, groupName };
  };
  const fromJournal = entries
    .filter(({ key }) => stack === undefined || key.split("/").slice(1, 3).join("/") === stack)
    .map(({ key, kind, parent, at, answered }) => {
      const logical = logicalNameIn(key);
      const resource = urns.get(logical) ?? null;
      return named({
        resource,
        logicalName: logical.replace(/^.*?::/, ""),
        kind: Object.values(resources).find(({ field }) => field === kind)?.word ?? kind,
        uid: answered ?? null,
        name: planned.get(resource ?? "")?.name,
        group: parent || null,
        groupName: null,
        time: new Date(at).toISOString(),
        source: "journal",
      });
    });
  const known = new Set(fromJournal.map(({ resource }) => resource));
  const fromState = begun
    .filter(({ urn }) => ourTypeOf(urn) !== undefined && !known.has(urn))
    .map(({ urn, inputs }) => {
      const { name, parent } = valuesIn(inputs as Json);
      return named({
        resource: urns.has(nameOf(urn)) ? urn : null,
        logicalName: partsOfUrn(urn).name,
        kind: wordOf(ourTypeOf(urn) as string),
        ...{ uid: null, name, group: isUidp(parent) ? parent : null, groupName: null },
        ...{ time: null, source: "state" },
      });
    });
  return worstFirst([...fromJournal, ...fromState], ({ groupName, logicalName, kind, time }) => ({
    place: groupName ?? undefined,
    texts: [logicalName, kind, time],
  }));
};

/** `Group::team`, the end of a key of the journal. */
const nameOf = (urn: string) => `${ourTypeOf(urn)}::${partsOfUrn(urn).name}`;

/** The key of a set ends with the uids of group, identity and role. */
const logicalNameIn = (key: string) =>
  key
    .split("/")
    .slice(3)
    .join("/")
    .replace(/(?: [0-9a-f]{40}(?:\/[0-9a-f]{16})*){3}$/, "");
