// The input of drift: the run of the unchanged program on a copy, and the records before it.
import type { Preview } from "../../pulumi/preview.ts";
import { SECRET, valuesIn } from "../../pulumi/value.ts";
import { capabilityFrom, capabilityName, isObject, type Json } from "../../schema/index.ts";
import type { Copy } from "../copy/copy.ts";
import { type Capabilities, capabilitiesIn } from "../graph/danger.ts";
import { capabilitiesHeldIn } from "../graph/effective-access.ts";
import type { AccessGraph } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import type { Proposal } from "../review/proposal.ts";
import type { LockedRoles } from "../roles/lock.ts";
import type { RunRecord } from "../run/record.ts";
import type { IsHere } from "../run/service.ts";
import { builtInRoles } from "./sent.ts";

/** A service of the run. */
export interface DriftService {
  address: string;
  /** writes that name no service are for the first one */
  isFirst: boolean;
  copy: Copy;
  /** the copy before the run */
  live: Live;
  proposal: Pick<Proposal, "undeclared" | "organizations" | "unknown">;
  isHere: IsHere;
  /** the recorded built-in roles for it */
  recorded: LockedRoles;
  missing?: string | undefined;
}

export interface DriftFacts {
  run: RunRecord;
  /** names the steps that the run could not carry out */
  preview: Preview;
}

// The API lists the name of a record in clear text, even if the program marks it as secret.

const NAMED = ["groups", "identities", "roles", "providers"] as const;

/** The records without the names that a resource of the stack marks as secret. */
export const withoutSecretNames = ({ stored, left }: Pick<RunRecord, "stored" | "left">, live: Live): Live => {
  const { graph } = live;
  const hidden = new Set(
    [...stored, ...left].flatMap(({ id, inputs, outputs }) =>
      [inputs, outputs].some((bag) => valuesIn(bag as Json).name === SECRET) ? [id] : [],
    ),
  );
  if (hidden.size === 0) return live;
  const shown = NAMED.map((kind) => [
    kind,
    new Map([...graph[kind]].map(([id, node]) => [id, hidden.has(id) ? { ...node, name: SECRET } : node])),
  ]);
  return { ...live, graph: { ...graph, ...(Object.fromEntries(shown) as Partial<AccessGraph>) } };
};

// The access of a differing record: its capabilities, the capabilities of the roles that it names, or those of the identity. It decides the
// order.

/** `values`: the values of the record, on both sides. */
export const reachIn = (graph: AccessGraph): ((uid: string | null, values: unknown) => Capabilities) => {
  const held = capabilitiesHeldIn(graph);
  const builtIn = builtInRoles(graph);
  const parts = (value: unknown, key: string): Capabilities[] => {
    if (Array.isArray(value)) return value.flatMap((one) => parts(one, key));
    if (isObject(value)) return Object.entries(value).flatMap(([name, one]) => parts(one, name));
    if (typeof value !== "string") return [];
    if (key === "capabilities") return [[capabilityName(capabilityFrom(value) ?? value)]];
    return key === "role" || key === "defaultRole" ? [capabilitiesIn(graph.roles, builtIn.get(value) ?? value)] : [];
  };
  return (uid, values) => {
    const own = uid !== null && graph.identities.has(uid) ? [held(uid)] : [];
    const all = [...own, ...parts(values, "")];
    return all.includes("unknown") ? "unknown" : all.flatMap((one) => [...one]);
  };
};
