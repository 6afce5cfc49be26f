// Adoption, on the side of the program: the record is looked up while the program runs, so that the preview's log shows
// the record and the changes to it. The engine receives the uid.
import * as pulumi from "@pulumi/pulumi";
import { containsUnknown } from "../../pulumi/value.ts";
import { isUidp, type Json, parentOf } from "../../schema/index.ts";
import type { NotFound } from "../engine/steps.ts";
import type { KindName } from "../kind/index.ts";
import { recordId } from "../record/id.ts";
import { MATCH } from "../record/state.ts";
import { currentProgram } from "./dependencies.ts";
import { programError, programSession } from "./session.ts";
import { storedUids } from "./stored-resources.ts";

/**
 * The input `adopt` as a uid; nothing if the program does not adopt. If the plugin looks up the record, it gets `adopt` unchanged. `args`
 * are the arguments as the resource received them.
 */
export const adoption = (
  looksUp: boolean,
  kind: KindName,
  name: string,
  inputs: pulumi.Inputs,
  args: object,
): pulumi.Inputs => {
  if (inputs.adopt === undefined) return matchInput(kind, name, inputs, matches.get(args));
  if (!looksUp) {
    noteAdopted(kind, inputs.adopt);
    return {};
  }
  const { adopt, parent, name: recordName, identity, role, email } = inputs;
  const identifying = pulumi.output({ adopt, parent, name: recordName, identity, role, email });
  const found = identifying.apply(async (own): Promise<Json | NotFound> => {
    // A group that the update creates holds no records yet.
    if (pulumi.runtime.isDryRun() && containsUnknown(own)) return pulumi.unknown as Json;
    return lookUp(kind, name, own as Json, await pulumi.isSecret(identifying));
  });
  logChanges(kind, name, found, inputs);
  return { adopt: found.apply((one) => ("reason" in one ? one : one.uid)) };
};

/** Notes that the record stays: the resource that has managed it so far may leave the program. */
const noteAdopted = (kind: KindName, uid: pulumi.Input<string>) => {
  const { adopted } = currentProgram();
  pulumi.output(uid).apply((known) => adopted.add(recordId(kind, known)));
};

const matches = new WeakMap<object, Promise<Json | undefined>>();

/**
 * The arguments of a resource that adopts `match`, or creates its record if there is none. Unlike with `adopt`, the engine's side decides:
 * a resource that is in the stack keeps its record (provider/engine/methods.ts).
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
  const logged = match.then((record) => {
    // Only the uid is known of a record that could not be listed.
    if (record === undefined || Object.keys(record).length < 2) return;
    // The record is in the place that the arguments name, which a preview may not know yet.
    const placed = inputs.root === true ? inputs : { ...inputs, parent: parentOf(record.uid as string) };
    logChanges(kind, name, pulumi.output(record) as unknown as pulumi.Output<Json>, placed);
  });
  // A look-up that fails is reported where the input is read.
  logged.catch(() => undefined);
  return { [MATCH]: match.then((record) => record?.uid) };
};

// Loaded when a program adopts a record: most programs do not. If there is no record, the provider decides: the resource may have had it.
const lookUp = async (kindName: KindName, name: string, args: Json, isSecret: boolean): Promise<Json | NotFound> => {
  const [{ kindRecords }, own] = await Promise.all([import("../kind/index.ts"), import("../engine/adoption.ts")]);
  const kind = kindRecords[kindName];
  const head = `${kind.type} ${name}: adopt`;
  const problem = own.adoptProblem(args.adopt);
  if (problem !== undefined) throw programError(`${head}: ${problem}`);
  const found = await own.findAdopted(kind, await programSession(), args);
  const [match, ...others] = found;
  const stored = await storedUids(kind.type, name);
  if (!match || others.length > 0) {
    // The resource has its record, or had it before the refresh of this run.
    if (stored.includes(args.adopt)) return { uid: args.adopt };
    const reason = own.notOneRecord(kind, args, found, isSecret);
    if (match) throw programError(`${head}: ${reason}`);
    return { adopt: args.adopt as string, reason };
  }
  noteAdopted(kindName, match.uid as string);
  const text = stored.includes(match.uid) ? undefined : own.adoptionText(kind, name, match, isSecret);
  if (text !== undefined) await pulumi.log.info(text);
  return match;
};

const logChanges = (
  kindName: KindName,
  name: string,
  found: pulumi.Output<Json | NotFound>,
  inputs: pulumi.Inputs,
): void => {
  pulumi
    .all([found, pulumi.output(inputs), pulumi.isSecret(pulumi.output(inputs))] as const)
    .apply(async ([record, args, isSecret]) => {
      const [{ kindRecords }, { adoptionChanges }] = await Promise.all([
        import("../kind/index.ts"),
        import("../engine/adoption.ts"),
      ]);
      const [kind, own] = [kindRecords[kindName], record as unknown as Json];
      // Nothing was found, or the resource has the record and the engine shows the changes of an update.
      if (!isUidp(own.uid) || (await storedUids(kind.type, name)).includes(own.uid)) return;
      const text = await adoptionChanges(kind, programSession, name, own, args as Json, isSecret);
      if (text !== undefined) await pulumi.log.info(text);
    });
};
