// Facts about the program, from the calls for its resources. At the end of a preview they show which resources leave the stack
// (removals.ts).

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { RELATIONSHIPS } from "../access/graph/live-record.ts";
import type { Env } from "../client/config.ts";
import type { DeclaredSet, NewIdentity } from "../provider/engine/review.ts";
import { kindRecords } from "../provider/kind/index.ts";
import { pairsIn } from "../provider/kind/pair.ts";
import { type Kind, SET_TYPE } from "../provider/record/kind.ts";
import { isEngine } from "../pulumi/process.ts";
import { placeOfUrn, urnFrom } from "../pulumi/urn.ts";
import type { Json } from "../schema/index.ts";
import { containsSecret, type Marked } from "./value.ts";

export interface CheckedResource {
  urn: string;
  type: string;
  kind: Kind | undefined;
  isNew: boolean;
  /** the program's inputs, with the marks of secrets */
  asked: Marked;
  /** after the check */
  inputs: Json;
  isRefused: boolean;
  /** It is of a class of this package, in TypeScript. */
  isOfClass: boolean;
}

export type ProgramNotes = ReturnType<typeof programNotes>;

export const programNotes = () => {
  /** of its resources in the stack */
  const places = new Set<string>();
  const sets: DeclaredSet[] = [];
  /** those that the update creates */
  const identities: NewIdentity[] = [];
  let isOfClasses: boolean | undefined;
  const notes = {
    /** A call about a resource failed, so that the engine ends the run. */
    hasFailed: false,
    /** Whether the engine plans the steps of resources. Undefined until a call shows it. */
    isPreview: undefined as boolean | undefined,
    /** The engine asks for a component, which it never does for a program in TypeScript. */
    hasComponent: false,
    /** In TypeScript the program's own classes see its end. Undefined if this process was asked about none of its resources. */
    get isTypescript(): boolean | undefined {
      return notes.hasComponent ? false : isOfClasses;
    },
    ...{ places, sets, identities },
    noteCheck: ({ urn, type, kind, isNew, asked, inputs, isRefused, isOfClass }: CheckedResource) => {
      isOfClasses ??= isOfClass;
      places.add(placeOfUrn(urn));
      notes.hasFailed ||= isRefused;
      const { name } = urnFrom(urn);
      if (type === SET_TYPE) sets.push({ name, parent: inputs.parent as string, pairs: pairsIn(inputs) });
      if (kind === kindRecords.identity && isNew) identities.push({ name, record: openMembers(asked, inputs) });
    },
  };
  return notes;
};

/** The members of an identity that a reader may see. */
const openMembers = (asked: Marked, inputs: Json): Json => {
  const names = ["parent", "name", ...RELATIONSHIPS].filter((name) => !containsSecret(asked[name]));
  return Object.fromEntries(names.flatMap((name) => (inputs[name] === undefined ? [] : [[name, inputs[name]]])));
};

// The engine's command, and whether it calls the plugin for all resources of the program. With --target or --exclude it silently omits
// some. The plugin then knows neither which names are secret nor which resources the program no longer declares. Only the engine's command
// line shows this, not the protocol.

export interface EngineOptions {
  isWholeProgram: boolean;
  /** Undefined for another command, or if it is unknown. */
  run: EngineRun | undefined;
}

/** A run of a program: a preview, an update without a preview, or both, each with its own plugin. */
export type EngineRun = "preview" | "update" | "either";

/** `pid` is the engine's. Nothing is known of another process, or if the system does not show it. */
export const engineOptions = (pid: number, env: Env): EngineOptions => {
  const [program = "", ...options] = commandLineOf(pid);
  if (!isEngine(program)) return { isWholeProgram: false, run: undefined };
  // Long, or among short ones: `-yt URN`. A false match only hides names and lines.
  const leavesOut = options.some((option) => /^-(-(target|exclude)|[^-]*[tx])/.test(option));
  // The engine also takes each option from the environment.
  const isWholeProgram = !leavesOut && !Object.keys(env).some((name) => /^PULUMI_OPTION_(TARGET|EXCLUDE)/i.test(name));
  const command = options.find((option) => Object.hasOwn(COMMANDS, option));
  const run = command === undefined ? undefined : COMMANDS[command];
  const skipsPreview = options.some((option) => /^-(-skip-preview(=true)?$|[^-]*f)/.test(option));
  return { isWholeProgram, run: run === "either" && skipsPreview ? "update" : run };
};

/** The commands of the engine that call a plugin, with their other names. */
const COMMANDS: Readonly<Record<string, EngineRun | undefined>> = {
  preview: "preview",
  pre: "preview",
  up: "either",
  update: "either",
  refresh: undefined,
  destroy: undefined,
  import: undefined,
  watch: undefined,
};

const commandLineOf = (pid: number): string[] => {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
      : execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).split(/\s+/);
  } catch {
    return [];
  }
};
