// The provider of one operation, as the engine calls it, dynamic or native. Values are those of the engine's state.
import type { StateKind } from "../../../provider/kind/index.ts";
import type { CheckFailure } from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";

export const ADAPTERS = ["dynamic", "native"] as const;

export type Adapter = (typeof ADAPTERS)[number];

export interface Named {
  /** logical name */
  name: string;
  kind: StateKind;
  /** default: of a resource that no component holds */
  urn?: string;
}

/** `RoleBinding` */
export const typeOf = (kind: StateKind): string => kind.charAt(0).toUpperCase() + kind.slice(1);

/** What a state has of a resource. */
export interface Snapshot {
  id: string;
  inputs: Json;
  outputs: Json;
}

/** The error of a create or an update whose record is not ready (ErrorResourceInitFailed). */
interface HalfDone extends Error {
  id: string;
  properties: Json;
  reasons: string[];
}

export const isHalfDone = (error: unknown): error is HalfDone => (error as Partial<HalfDone>).id !== undefined;

export interface Provider {
  /** `olds`: the inputs in the state; `news`: the inputs in the program. */
  check(resource: Named, olds: Json, news: Json): Promise<{ inputs: Json; failures: CheckFailure[] }>;
  diff(resource: Named, stored: Snapshot, inputs: Json): Promise<{ changes: boolean; replaces: string[] }>;
  /** A preview shows a create, or an update of what is stored. */
  preview(resource: Named, inputs: Json, stored?: Snapshot): Promise<void>;
  create(resource: Named, inputs: Json): Promise<Snapshot>;
  update(resource: Named, stored: Snapshot, inputs: Json): Promise<Snapshot>;
  /** undefined: it no longer exists */
  read(resource: Named, stored: Snapshot): Promise<Snapshot | undefined>;
  delete(resource: Named, stored: Snapshot): Promise<void>;
  /** ^C */
  cancel(): Promise<void>;
  /** The operation is over. */
  end(): Promise<void>;
}
