// The common constructor of all resources, in either form (form.ts).

import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { isUidp, parentOf, type Resource, resources } from "../../schema/index.ts";
import type { KindName } from "../kind/index.ts";
import { placeOfRecord } from "../record/id.ts";
import { outputNames } from "../record/kind.ts";
import { noteStored } from "./acknowledge.ts";
import { adoption } from "./adoption.ts";
import { currentProgram, type Entered, literalsOf, watchProgram } from "./dependencies.ts";
import { formOf, requireOneForm, withAliases } from "./form.ts";
import type { BoundRecord } from "./generated/bound-record.ts";
import { boundRecords, inputsFrom, secretArguments, uidOf, withPlanned, withSecretOutputs } from "./inputs.ts";
import { bindingNames, checkRoles, namesToCheck } from "./names.ts";
import { awaitValue, markHandled, withoutDependencies } from "./output.ts";
import { pinPosition } from "./position.ts";
import { isOnCommandLine, programError } from "./session.ts";

watchProgram();

/** The base of all resource classes. */
export abstract class DeclaredResource extends pulumi.CustomResource {
  /** Path of hexadecimal segments, the ancestors first: what other resources refer to */
  declare readonly uid: pulumi.Output<string>;

  /** `bag` is all that the engine gets. */
  protected constructor(token: string, name: string, bag: pulumi.Inputs, entered: Entered) {
    const unpin = pinPosition(new.target);
    try {
      super(token, name, bag, entered.opts);
    } finally {
      unpin();
    }
    failWith(bag);
    (this as { uid: pulumi.Output<string> }).uid = uidOf(this.id, this.uid);
    entered.noteConstructed(this);
  }
}

/** A resource of this package; its uid is the engine's id, once the record exists. */
export abstract class IrmResource extends DeclaredResource {
  protected constructor(kind: KindName, name: string, args: object, opts: pulumi.CustomResourceOptions) {
    const descriptor: Resource = resources[kind];
    const { type } = descriptor;
    const form = formOf(new.target);
    requireOneForm(form, type, name, opts);
    const given = inputsFrom(descriptor, args);
    const unset = Object.fromEntries(["uid", ...outputNames(descriptor)].map((output) => [output, undefined]));
    markHandled(given);
    const declared = {
      type,
      name,
      sharesUid: descriptor.list.sharesUid === true,
      literals: literalsOf(descriptor, given),
    };
    const formInputs = form.inputs(kind, type, name, opts);
    const options = withAliases(form, type, withSecretOutputs(descriptor, opts, given));
    const entered = currentProgram().enter(declared, given, options);
    if (kind === "roleBinding" && opts.id === undefined) claimPlace(entered, "RoleBinding", name, given);
    const inputs = { ...given, ...checkRoles(descriptor, name, given, entered, namesToCheck(form, type, opts)) };
    const adoptInputs = adoption(form.looksUp, kind, name, inputs, args);
    // The names that a reader of the preview sees beside the arguments. A binding that is got by its uid has none.
    const isNamed = kind === "roleBinding" && opts.id === undefined;
    const shown = isNamed ? form.withNames(formInputs, bindingNames(entered, given)) : formInputs;
    const placed = isNamed ? { parent: impliedParent(entered, given) } : {};
    const secrets = form.looksUp && opts.id === undefined ? secretArguments(given) : {};
    const bag = { ...unset, ...inputs, ...placed, ...adoptInputs, ...secrets, ...shown };
    markHandled(bag);
    super(form.prefix + type, name, bag, entered);
    derivePlace(this, descriptor);
    if (kind === "roleBinding") deriveGroup(this);
    if (opts.id === undefined) noteStored(descriptor.field, async () => [await awaitValue(this.id)]);
    Object.assign(this, boundRecords(descriptor, this));
  }
}

/**
 * Derives the output `parent` from the id, since the state lacks it. Without a uid, or in a unit test with its own ids, the given output
 * remains. Most programs read it on few resources, so it is created on access.
 */
const derivePlace = (
  resource: pulumi.CustomResource & { parent?: pulumi.Output<string> },
  { list }: Resource,
): void => {
  const { parent: given } = resource;
  if (given === undefined) return;
  deriveOnRead(resource, "parent", () =>
    withPlanned(resource.id, (id) => (isUidp(id) ? placeOfRecord({ list }, id) || undefined : given)),
  );
};

/** The uid of the output `group`: the state of a native role binding holds only its name. */
const deriveGroup = (resource: pulumi.CustomResource & { group?: pulumi.Output<BoundRecord> }): void => {
  const { group: given } = resource;
  if (given === undefined) return;
  deriveOnRead(resource, "group", () =>
    pulumi.all([resource.id, given]).apply(([id, group]) => {
      const uid = isUidp(id) ? parentOf(id) : "";
      return uid !== "" && group && group.uid === undefined ? { uid, ...(group as object) } : group;
    }),
  );
};

const deriveOnRead = (resource: pulumi.CustomResource, name: string, derive: () => unknown) => {
  let derived: unknown;
  const get = () => {
    derived ??= derive();
    return derived;
  };
  Object.defineProperty(resource, name, { get, enumerable: true, configurable: true });
};

/** Throws if the bindings of a group are declared twice, as far as the program identifies the group. */
export const claimPlace = (
  entered: Entered,
  type: "RoleBinding" | "RoleBindingSet",
  name: string,
  { parent, exclusive }: pulumi.Inputs,
): void => {
  const place = entered.resourceOf(parent) ?? parent;
  if (place === undefined) return;
  const [problem] = entered.places.claim(place, {}, { type, name, exclusive: exclusive === true }) ?? [];
  if (problem) throw programError(`${type} ${name}: ${problem.property}: ${problem.reason}`);
};

/**
 * The group of a role binding, without its dependency if the identity implies it. An identity in the same group is created after the group
 * and deleted before it. Each dependency is stored twice, as a URN.
 */
const impliedParent = (entered: Entered, { parent, identity }: pulumi.Inputs): pulumi.Input<string> => {
  const [group, who] = [entered.resourceOf(parent), entered.resourceOf(identity)];
  const isImplied = group !== undefined && who !== undefined && entered.parentOf(who) === group;
  return isImplied ? withoutDependencies(parent) : parent;
};

// Makes the run of an inline program of the Automation API fail when an input of a resource does.
//
// A resource whose input rejects is never registered. The SDK reports that only after it has signalled the end of the program. On that
// signal the engine deletes resources that were not registered, so a misspelt argument would end access. A pending call that fails keeps
// the SDK from signalling it (`disconnect()` in @pulumi/pulumi/runtime/settings.ts).

const failWith = (inputs: pulumi.Inputs): void => {
  // The command line ends with the rejections that nothing handles, and signals no end (@pulumi/pulumi/cmd/run/index.ts).
  if (isOnCommandLine()) return;
  const before = callsSoFar();
  const done = pulumi.runtime.rpcKeepAlive() as (outcome?: Promise<never>) => void;
  // The SDK waits for it later. Without a handler until then, Node warns of the rejection.
  callsSoFar()?.catch(() => undefined);
  awaitValue(pulumi.output(inputs)).then(
    () => done(),
    (error) => {
      const fail = () => done(Promise.reject(error));
      // The SDK awaits a call once earlier calls have ended. If one of those has failed, it ends the program without this call.
      if (before) before.then(fail, () => done());
      else fail();
    },
  );
};

const require = createRequire(import.meta.url);

/** All pending calls of the program. The SDK's own, not in its types (@pulumi/pulumi/runtime/state.ts); undefined if it has moved. */
const callsSoFar = (): Promise<unknown> | undefined => {
  try {
    const { getStore } = require("@pulumi/pulumi/runtime/state.js") as {
      getStore(): { settings: { rpcDone?: Promise<unknown> } };
    };
    return getStore().settings.rpcDone;
  } catch {
    return undefined;
  }
};
