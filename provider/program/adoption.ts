// Adoption, on the side of the program: the record is looked up while the program runs, so that the preview's log shows
// the record and the changes to it. The engine receives the uid.
import * as pulumi from "@pulumi/pulumi";
import { isUidp, type Json, parentOf } from "../../schema/index.ts";
import type { KindName } from "../kind/index.ts";
import { type Kind, pluralOf, title } from "../kind/kind.ts";
import { valueAt } from "../state/path.ts";
import { MATCH } from "../state/state.ts";
import { currentProgram } from "./dependencies.ts";
import { programError, programSession } from "./session.ts";

export interface AdoptArgs {
  /**
   * Adopts an existing record: its uid, or "match" for the only one with this parent and name (of a role binding: with
   * this identity and role, of a group invite: with this role and address, of an account association: in this group). It is
   * left in place when the resource is deleted.
   */
  adopt?: pulumi.Input<string>;
  /** An adopted record is deleted with the resource; default: it is left in place */
  deleteAdopted?: boolean;
}

/** The input `adopt` as a uid; nothing when the program does not adopt. `args` are the arguments as the resource got them. */
export const adoption = (kind: KindName, name: string, inputs: pulumi.Inputs, args: object = {}): pulumi.Inputs => {
  if (inputs.adopt === undefined) return matchInput(kind, name, inputs, matches.get(args));
  const { adopt, parent, name: recordName, identity, role, email } = inputs;
  const identifying = pulumi.output({ adopt, parent, name: recordName, identity, role, email });
  const found = identifying.apply(async (own) => lookUp(kind, name, own as Json, await pulumi.isSecret(identifying)));
  logChanges(kind, name, found, inputs);
  return { adopt: found.apply(({ uid }) => uid as string) };
};

const matches = new WeakMap<object, Promise<Json | undefined>>();

/**
 * The arguments of a resource that adopts `match`, or creates its record where there is none. Unlike with `adopt`, the engine's side
 * decides: a resource that is in the stack keeps its record (provider/engine/methods.ts).
 */
export const withMatch = <Args extends object>(args: Args, match: Promise<Json | undefined>): Args => {
  matches.set(args, match);
  return args;
};

const matchInput = (
  kind: KindName,
  name: string,
  inputs: pulumi.Inputs,
  match: Promise<Json | undefined> | undefined,
): pulumi.Inputs => {
  if (match === undefined) return {};
  const logMatch = (record: Json | undefined): void => {
    if (record === undefined) return;
    // It is in the place that the arguments name, which a preview may not know yet.
    const placed = inputs.root === true ? inputs : { ...inputs, parent: parentOf(record.uid as string) };
    logChanges(kind, name, pulumi.output(record) as unknown as pulumi.Output<Json>, placed);
  };
  // A look-up that fails is reported where the input is read.
  match.then(logMatch).catch(() => undefined);
  return { [MATCH]: match.then((record) => record?.uid) };
};

// The program cannot see what the engine's state holds, so it looks each time.
const DONE_BEFORE =
  "If this resource has adopted its record in an earlier run, adopt has done its work: remove it from the program.";

// Secret names are not logged.
const lookUp = async (kindName: KindName, name: string, args: Json, secret: boolean): Promise<Json> => {
  const { adopt, parent = "" } = args;
  const [{ kindRecords }, { isMatch, recordId }, { listAll, listChildren }, { desiredFrom, withUids }, { observe }] =
    await Promise.all([
      import("../kind/index.ts"),
      import("../kind/record.ts"),
      import("../../client/paginate.ts"),
      import("../state/desired.ts"),
      import("../state/normal-form.ts"),
    ]);
  const kind: Kind = kindRecords[kindName];
  const head = `${kind.type} ${name}: adopt`;
  if (adopt !== "match" && !isUidp(adopt)) throw programError(`${head}: must be "match", or the uid of the record`);
  const session = await programSession();
  const identifying = (await withUids(session, desiredFrom(kind, args))).args;
  const records =
    adopt === "match"
      ? listChildren(session, kind.list, parent as string, kind.filters(identifying))
      : listAll(session, kind.list, { uidp: { ids: [adopt] } });
  const matches: Json[] = [];
  for await (const one of records) {
    const record = observe(kind, one);
    // Checked again: a service that ignored a filter must not choose the adopted record.
    const isMeant = adopt === "match" ? isMatch(kind, record, identifying) : record.uid === adopt;
    if (isMeant) matches.push(record);
  }
  const [match, ...others] = matches;
  if (match && others.length === 0) {
    currentProgram().adopted.add(recordId(kind.field, match.uid as string));
    const shown = secret ? "" : title(match);
    await pulumi.log.info([`${kind.type} ${name} adopts ${kind.word} ${match.uid}`, shown].filter(Boolean).join(" "));
    return match;
  }
  const what =
    adopt === "match"
      ? `${pluralOf(kind.word)} that match in ${parent || "no group"}`
      : `${pluralOf(kind.word)} with the uid ${adopt}`;
  const lines = matches.map((record) => [record.uid, secret ? "" : record.name].filter(Boolean).join(" "));
  const problem = [`${head}: ${matches.length || "no"} ${what}; exactly one is needed`, ...lines].join("\n  - ");
  throw programError(`${problem}\n${DONE_BEFORE}`);
};

// Secret values are not logged.
const logChanges = (kindName: KindName, name: string, found: pulumi.Output<Json>, inputs: pulumi.Inputs): void => {
  pulumi
    .all([found, pulumi.output(inputs), pulumi.isSecret(pulumi.output(inputs))] as const)
    .apply(async ([record, args, secret]) => {
      const [{ kindRecords }, { placeOf }, { changeOf }, { desiredFrom }, state] = await Promise.all([
        import("../kind/index.ts"),
        import("../kind/record.ts"),
        import("../state/changes.ts"),
        import("../state/desired.ts"),
        import("../state/state.ts"),
      ]);
      const kind = kindRecords[kindName];
      const { uid } = record as unknown as { uid: string };
      const desired = desiredFrom(kind, state.withOrderedLists(kind, state.canonicalize(kind, args as Json)));
      const { paths } = changeOf(desired, placeOf(kind, uid), record as unknown as Json);
      const at = (holder: Json, path: string) => JSON.stringify(valueAt(holder, path)) ?? "nothing";
      const lines = paths.map((path) =>
        secret ? path : `${path}: ${at(record as unknown as Json, path)} becomes ${at(desired.args, path)}`,
      );
      const head = `${kind.type} ${name} changes on ${kind.word} ${uid}:`;
      if (lines.length > 0) await pulumi.log.info([head, ...lines].join("\n  - "));
    });
};
