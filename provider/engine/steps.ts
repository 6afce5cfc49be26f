// The steps that the methods of a kind run between configuration and answer. Most kinds are records of the API; a set of role bindings is
// not.
import type { PlannedAdoption } from "../../client/preview-marks.ts";
import type { Json } from "../../schema/index.ts";
import type { OpenStack } from "../attribution/stack.ts";
import type { CheckFailure, DiffResult, Reading, ReadResult } from "../reconcile/index.ts";
import type { Kind } from "../record/kind.ts";
import type { Sentences } from "../run/sentences.ts";
import type { Ledger, Session } from "../run/session.ts";
import type { RecordNames } from "./record-names.ts";

/** A record that a state holds. */
export interface Held {
  kind: Kind;
  uid: string;
  /** key of the resource that declares it */
  owner?: string | undefined;
  /** the resource keeps it, unless it is replaced. `adopted`: it may be in the state of another resource, whose deletion leaves it */
  kept?: { adopted: boolean } | undefined;
}

/** Whether one of these arguments is secret. */
export type IsSecret = (names: readonly string[]) => boolean;

/** The arguments that a preview may show. */
export interface Shown {
  /** undefined if unknown, so none is shown */
  isSecret?: IsSecret | undefined;
  /** whether the API's names may be shown for records that the program gives by uid: its secret names are known */
  showsNames: boolean;
  /** the group that held the record is deleted, so a replacement loses nothing */
  mayReplace?: boolean;
}

/** A resource of an open stack as its records are now. */
export interface Observed {
  /** outputs that replace those in the state */
  outputs: Json;
  /** they differ from those */
  differs: boolean;
}

/** An argument `adopt` for which there is no record. */
export interface NotFound {
  adopt: string;
  reason: string;
}

/** The arguments after a look-up, and the problems of names. */
export interface LookedUp {
  news: Json;
  failures: CheckFailure[];
  missing?: NotFound;
  /** the values for the engine in place of failed look-ups */
  shown?: Json;
}

/** `reason`: why the service does not answer, since that is known. */
export interface Offline {
  readonly reason: Error | undefined;
}

/** How a check looks up the records that the program names. */
export interface LookUp {
  /** otherwise the program has done so */
  looksUp: boolean;
  offline: Offline;
  /** undefined if unknown */
  isSecret: IsSecret | undefined;
}

export interface Steps {
  /** The arguments with the record that `adopt` names, and the problems of names. */
  lookUp(olds: Json, asked: Json, how: LookUp): Promise<LookedUp>;
  /** The inputs in the API's spelling, and all problems. Logs the lines that a preview shows about them. */
  check(olds: Json, news: Json, shown: Shown): Promise<{ inputs: Json; failures: CheckFailure[] }>;
  /** Whether an update from the inputs `olds` to these creates records, so that it gets its own time (provider/record/id.ts). */
  createsMore(olds: Json, inputs: Json): boolean;
  /** A preview shows a create with these inputs. Returns the record that the update adopts instead; undefined if none. */
  planned(inputs: Json): Promise<PlannedAdoption | undefined>;
  /** The classes of a program derive the output `parent` from the id. */
  derivesParent: boolean;
  /** The uid of a new resource, if a preview knows it. */
  knownUid(inputs: Json, taken: PlannedAdoption | undefined): Promise<string | undefined>;
  /** The records in the outputs of a resource. `news` are the inputs of a resource that the program declares. */
  held(id: string, outputs: Json, news?: Json): Held[];
  diff(id: string, olds: Json, news: Json): Promise<DiffResult>;
  /** Undefined: it is deleted. `stored` are the outputs in the state. */
  observe(session: Session, stack: OpenStack, id: string, stored: Json): Promise<Observed | undefined>;
  /**
   * A refresh or an update of an open stack stores these outputs; undefined: it is deleted. Returns the result of `observe`, if it is
   * known.
   */
  noteRead(
    session: Session,
    stack: OpenStack,
    id: string,
    stored: Json,
    outputs: Json | undefined,
  ): Promise<Observed | undefined>;
  create(session: Session, inputs: Json): Promise<{ id: string; outs: Json }>;
  read(session: Session, id: string, stored: Json, about: Reading): Promise<ReadResult>;
  update(session: Session, id: string, olds: Json, news: Json): Promise<{ outs: Json }>;
  delete(session: Session, id: string, stored: Json): Promise<void>;
}

/** The parts of the process that steps need. */
export interface StepParts {
  ledger(): Promise<Ledger>;
  connect(): Promise<Session>;
  /** a preview works without them, and then shows less */
  hasCredentials(): Promise<boolean>;
  log(text: string): void;
  /** logs it for the reader of a preview; the update after that preview does not repeat it */
  sentence: Sentences["log"];
  /** folder that the process runs in */
  cwd: string;
  names: RecordNames;
  /** The program declares the resource with this key. A refresh also compares, in the other direction, and declares nothing. */
  isDeclared(key: unknown): boolean;
}
