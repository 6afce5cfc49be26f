// What the constructors of all resources do. The provider of a dynamic resource is text in its inputs
// (provider/engine/handler-text.ts).
import * as pulumi from "@pulumi/pulumi";
import { type Resource, resources } from "../../schema/index.ts";
import { handlerText } from "../engine/handler-text.ts";
import type { KindName, StateKind } from "../kind/index.ts";
import { outputNames, TYPE_PREFIX } from "../kind/kind.ts";
import { PREVIEW, REPLACE_ON } from "../state/state.ts";
import { adoption } from "./adoption.ts";
import { currentProgram, type Entered, literalsOf, watchProgram } from "./dependencies.ts";
import { boundRecords, checkedRoles, inputsFrom, withSecretOutputs } from "./inputs.ts";
import { settled } from "./removals.ts";
import { afterFirstLookUp, checkProgramConfig, programError } from "./session.ts";

watchProgram();

/** A resource of this package; its uid is the engine's id. */
export abstract class IrmResource extends pulumi.CustomResource {
  /** Path of hexadecimal segments, the ancestors first: what other resources refer to */
  declare readonly uid: pulumi.Output<string>;

  /** `display` adds what a reader of the preview sees beside the arguments. */
  protected constructor(
    kind: KindName,
    name: string,
    args: object,
    opts: pulumi.CustomResourceOptions,
    display: (entered: Entered, inputs: pulumi.Inputs) => pulumi.Inputs = () => ({}),
  ) {
    const descriptor: Resource = resources[kind];
    const { type } = descriptor;
    const given = inputsFrom(descriptor, args);
    const unset = Object.fromEntries(outputNames(descriptor).map((output) => [output, undefined]));
    markHandled(given);
    const declared = {
      type,
      name,
      sharesUid: descriptor.list.sharesUid === true,
      literals: literalsOf(descriptor, given),
    };
    const own = engineInputs(kind, type, name, opts);
    const entered = currentProgram().enter(declared, given, withSecretOutputs(descriptor, opts));
    if (kind === "roleBinding" && opts.id === undefined) claimPlace(entered, "RoleBinding", name, given);
    const isOwn = (reference: unknown) => entered.resourceOf(reference) !== undefined;
    const inputs = { ...given, ...checkedRoles(descriptor, name, given, isOwn) };
    // One that is got by its uid is read, and has no arguments.
    const shown = opts.id === undefined ? display(entered, given) : {};
    const bag = { ...unset, ...inputs, ...adoption(kind, name, inputs, args), ...shown, ...own };
    super(TYPE_PREFIX + type, name, bag, entered.opts);
    failWith(bag);
    entered.constructed(this);
    if (opts.id === undefined) entered.duplicates(kind, name, entered, given);
    Object.assign(this, boundRecords(descriptor, this));
    // Not an output of its own: the id stays known in the preview of an update, other outputs do not.
    (this as { uid: pulumi.Output<string> }).uid = this.id;
  }
}

/** What every resource of ours gives the engine beside its arguments. Throws for an option, or a configuration, that cannot work. */
export const engineInputs = (
  kind: StateKind,
  type: string,
  name: string,
  opts: pulumi.CustomResourceOptions,
): pulumi.Inputs => {
  checkOptions(type, name, opts);
  checkProgramConfig();
  const preview = pulumi.runtime.isDryRun() ? { [PREVIEW]: true } : {};
  const key = afterFirstLookUp(keyOf(type, name, opts.parent));
  return { __provider: handlerText(kind), __key: key, ...optionInputs(opts), ...preview };
};

/**
 * Makes the run fail when an input does. A resource whose input rejects is never registered. In an inline program of the
 * Automation API the SDK reports that only after it has signalled the end of the program, on which the engine deletes what was
 * not registered: a misspelt argument would end access. A pending call that fails keeps the SDK from signalling it
 * (`disconnect()` in @pulumi/pulumi/runtime/settings.ts).
 */
export const failWith = (inputs: pulumi.Inputs): void => {
  const done = pulumi.runtime.rpcKeepAlive() as (outcome?: Promise<never>) => void;
  settled(pulumi.output(inputs)).then(
    () => done(),
    (error) => done(Promise.reject(error)),
  );
};

/** Throws where the bindings of a group are declared twice, as far as the program shows which group it is. */
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

// A look-up may fail before the SDK reads its input. Without a handler until then, Node warns of the rejection.
export const markHandled = (value: unknown): void => {
  if (value instanceof Promise) value.catch(() => undefined);
  else if (
    typeof value === "object" &&
    value !== null &&
    !pulumi.Resource.isInstance(value) &&
    !pulumi.Output.isInstance(value)
  )
    for (const member of Object.values(value)) markHandled(member);
};

// Resource options that the engine, or the SDK, does not apply to dynamic resources: refused with what to do instead, or made to
// work through an input (docs/limits.md).

/** Throws one sentence for an option that cannot work. */
const checkOptions = (type: string, name: string, opts: pulumi.CustomResourceOptions): void => {
  if (opts.import !== undefined)
    throw programError(
      `${type} ${name}: the option import does not work for dynamic resources; take the record over with the argument ` +
        "adopt, its uid, instead (docs/limits.md).",
    );
  if (opts.provider !== undefined)
    throw programError(
      `${type} ${name}: the option provider does not work for dynamic resources; the configuration of the stack and the ` +
        "environment say which service it is, so leave the option out and use one stack for each service.",
    );
};

/** The option that the diff has to apply: of a dynamic resource the engine does not know which properties differ. */
const optionInputs = ({ replaceOnChanges = [] }: pulumi.CustomResourceOptions): pulumi.Inputs =>
  replaceOnChanges.length === 0 ? {} : { [REPLACE_ON]: replaceOnChanges };

/** The resource among all that the intent journal may hold: organisation/project/stack/type::name, as in its URN. */
const keyOf = (type: string, name: string, parent: pulumi.Resource | undefined): string => {
  const stack = [pulumi.getOrganization, pulumi.getProject, pulumi.getStack].map(orDash).join("/");
  return `${stack}/${[...typesAbove(parent), type].join("$")}::${name}`;
};

// In a unit test of a program there may be none, and the SDK throws.
const orDash = (name: () => string): string => {
  try {
    return name();
  } catch {
    return "-";
  }
};

// Two components may each hold a resource of the same type and name.
const typesAbove = (parent: pulumi.Resource | undefined): string[] => {
  if (parent === undefined) return [];
  const { __pulumiType: type = "", __parentResource: above } = parent as unknown as {
    __pulumiType?: string;
    __parentResource?: pulumi.Resource;
  };
  return type === "pulumi:pulumi:Stack" ? [] : [...typesAbove(above), type.replace(TYPE_PREFIX, "")];
};
