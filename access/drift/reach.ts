// What a record that differs gives: the capabilities of its roles, those that it names, or what the identity holds. It decides the order.
import { capabilityFrom, capabilityName, isObject } from "../../schema/index.ts";
import type { AccessGraph } from "../graph/graph.ts";
import { type Capabilities, capabilitiesIn } from "../review/danger.ts";
import { capabilitiesHeldIn } from "../review/lists.ts";
import { builtInRoles } from "./sent.ts";

/** `values`: of the record, on both sides. */
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
