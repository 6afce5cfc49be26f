// The recorded previews (record.ts), and previews that tests write by hand.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AccessGraph, newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { planFrom } from "../../../access/preview/plan.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Review } from "../../../access/review/report.ts";
import { placeholderUid } from "../../../client/placeholder-uid.ts";
import type { Json } from "../../../schema/index.ts";
import { ROOT } from "../graphs.ts";

export const NOW_MS = Date.parse("2026-11-22T00:00:00Z");

interface Node {
  id: string;
}

interface Recorded {
  preview: { steps: Json[] } & Json;
  live: Record<"groups" | "identities" | "roles" | "bindings", Node[]> & Pick<Live, "notVisible">;
}

export const recorded = (name: string): { preview: Recorded["preview"]; live: Live } => {
  const { preview, live } = JSON.parse(
    readFileSync(join(import.meta.dirname, "fixtures", `${name}.json`), "utf8"),
  ) as Recorded;
  const { notVisible, ...lists } = live;
  const maps = Object.entries(lists).map(([kind, nodes]) => [kind, new Map(nodes.map((node) => [node.id, node]))]);
  return { preview, live: { graph: newGraph(Object.fromEntries(maps) as AccessGraph), notVisible } };
};

export const reviewFrom = (preview: unknown, live: Live): Review =>
  reviewOf(planFrom(parsePreview(JSON.stringify(preview), "a test"), live), {
    notVisible: live.notVisible,
    nowMs: NOW_MS,
    deny: [],
    allow: [],
  });

export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const tokenOf = (type: string): string => `pulumi-nodejs:dynamic/irm:${type}`;

export const urnOf = (type: string, name: string): string => `urn:pulumi:dev::access::${tokenOf(type)}::${name}`;

type Dependencies = Record<string, string[]>;

const placeholders = new Map<string, string>();

/** What the preview shows in place of the uid of the record that a resource creates. */
export const placeholderOf = (type: string, name: string): string => {
  const urn = urnOf(type, name);
  const uid = placeholders.get(urn) ?? (placeholderUid(ROOT) as string);
  placeholders.set(urn, uid);
  return uid;
};

/** A step as the engine prints it. */
export const created = (type: string, name: string, inputs: Json, propertyDependencies: Dependencies = {}): Json => ({
  op: "create",
  urn: urnOf(type, name),
  newState: {
    type: tokenOf(type),
    custom: true,
    inputs: { ...(inputs.adopt === undefined && { uid: placeholderOf(type, name) }), ...inputs },
    propertyDependencies,
  },
});

/** The same of a native resource, whose step does not show its placeholder; and the placeholder. */
export const createdNative = (type: string, name: string, inputs: Json): { step: Json; uid: string } => {
  const urn = nativeUrnOf(type, name);
  return {
    step: { op: "create", urn, newState: { type: `irm:index:${type}`, custom: true, inputs } },
    uid: placeholderUid(ROOT, urn) as string,
  };
};

const nativeUrnOf = (type: string, name: string): string => `urn:pulumi:dev::access::irm:index:${type}::${name}`;

export const changed = (
  op: string,
  type: string,
  name: string,
  id: string,
  states: { old?: Json; outputs?: Json; new?: Json; dependencies?: Dependencies },
): Json => ({
  op,
  urn: urnOf(type, name),
  oldState: { type: tokenOf(type), custom: true, id, inputs: states.old ?? {}, outputs: states.outputs ?? {} },
  ...(states.new && {
    newState: {
      type: tokenOf(type),
      custom: true,
      inputs: states.new,
      propertyDependencies: states.dependencies ?? {},
    },
  }),
});
