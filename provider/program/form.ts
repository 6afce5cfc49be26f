// The two forms of a resource. A dynamic one carries its provider as text in its inputs (below); `pulumi-irm` exports this form. A native
// one is served by the plugin (plugin/); `pulumi-irm/plugin` exports this form. A class is dynamic unless it is registered here, and each
// class is written once: its native form is a subclass without members.
//
// Each form is an alias of the other, so a stack moves either way without a change.
import * as pulumi from "@pulumi/pulumi";
import { placeInStack } from "../../pulumi/urn.ts";
import { getOrInsert } from "../../schema/index.ts";
import type { StateKind } from "../kind/index.ts";
import { TOKEN_PREFIX, TYPE_PREFIX } from "../record/kind.ts";
import { KEY, PREVIEW, PROVIDER, REPLACE_ON, RUN, type RunInput } from "../record/state.ts";
import { afterFirstLookUp, checkProgramConfig, hasEngine, perRun, programError } from "./session.ts";

export interface Form {
  /** of the type tokens */
  prefix: string;
  /** of the other form */
  aliasPrefix: string;
  /** whether the program looks up the records that its arguments name; otherwise the plugin does */
  looksUp: boolean;
  /** The inputs that the engine gets beside the arguments. Throws for an option, or a configuration, that cannot work. */
  inputs(kind: StateKind, type: string, name: string, opts: pulumi.CustomResourceOptions): pulumi.Inputs;
  /** The inputs with the names that a reader sees for a role binding. */
  withNames(own: pulumi.Inputs, names: pulumi.Inputs): pulumi.Inputs;
}

const dynamicForm: Form = {
  prefix: TYPE_PREFIX,
  aliasPrefix: TOKEN_PREFIX,
  looksUp: true,
  inputs: (kind, type, name, opts) => {
    checkOptions(type, name, opts);
    checkProgramConfig();
    const preview = pulumi.runtime.isDryRun() ? { [PREVIEW]: true } : {};
    const key = afterFirstLookUp(keyOf(type, name, opts.parent));
    // The option that the diff has to apply: for a dynamic resource the engine does not know which properties differ.
    const replaceOn = opts.replaceOnChanges?.length ? { [REPLACE_ON]: opts.replaceOnChanges } : {};
    return { [PROVIDER]: handlerText(kind), [KEY]: key, ...replaceOn, ...preview };
  },
  withNames: (own, names) => ({ ...own, names }),
};

const nativeForm: Form = {
  prefix: TOKEN_PREFIX,
  aliasPrefix: TYPE_PREFIX,
  looksUp: false,
  inputs: () => {
    const organization = orUndefined(pulumi.getOrganization);
    // Set in an update as well, since programs in other languages do not report whether it is a preview.
    const isPreview = pulumi.runtime.isDryRun();
    const preview = isPreview || hasEngine() ? { isPreview } : {};
    return { [RUN]: { ...(organization !== undefined && { organization }), ...preview } satisfies RunInput };
  },
  withNames: (own, names) => ({ ...own, [RUN]: { ...own[RUN], names } }),
};

/** A value for classes; subclasses of a registered class share its value. */
export const perClass = <T>(usual: T) => {
  const registered = new WeakMap<object, T>();
  const of = (type: object | null): T =>
    type === null ? usual : (registered.get(type) ?? of(Object.getPrototypeOf(type)));
  return {
    register: (type: object, value: T): void => {
      registered.set(type, value);
    },
    /** `type` is `new.target` of a constructor. */
    of,
  };
};

const forms = perClass(dynamicForm);

export const formOf = forms.of;

/** Makes classes native. */
export const registerNative = (...types: object[]): void => {
  for (const type of types) forms.register(type, nativeForm);
};

const declaredForms = perRun(() => new Map<string, Form>());

/** Throws if the program declares a resource in both forms: they would manage one record, since each may become the other. */
export const requireOneForm = (
  form: Form,
  type: string,
  name: string,
  { parent, id }: pulumi.CustomResourceOptions,
): void => {
  // A resource that is got by its uid manages nothing.
  if (id !== undefined) return;
  const key = placeInStack([...typesAbove(parent), type], name);
  const first = getOrInsert(declaredForms(), key, () => form);
  if (first !== form)
    throw programError(
      `${type} ${name}: declared as a dynamic resource ("pulumi-irm") and as a native one ("pulumi-irm/plugin"), which is one resource ` +
        "in two forms; remove one of them, or give it another name (docs/resources.md#native-plugin).",
    );
};

/** The options with the aliases of the other form: the resource itself, and the former names that the program gives. */
export const withAliases = (
  { aliasPrefix }: Form,
  type: string,
  opts: pulumi.CustomResourceOptions,
): pulumi.CustomResourceOptions => {
  const other = { type: aliasPrefix + type };
  const given = opts.aliases ?? [];
  const former = given.flatMap((alias) => (isUntyped(alias) ? [{ ...alias, ...other }] : []));
  return { ...opts, aliases: [...given, other, ...former] };
};

const isUntyped = (alias: pulumi.Input<pulumi.URN | pulumi.Alias>): alias is pulumi.Alias =>
  typeof alias === "object" && !pulumi.Output.isInstance(alias) && !("then" in alias) && alias.type === undefined;

// Resource options that the engine, or the SDK, does not apply to dynamic resources: refused with an alternative, or passed through an
// input (docs/resources.md#limits).

/** Throws one sentence for an option that cannot work. */
const checkOptions = (type: string, name: string, opts: pulumi.CustomResourceOptions): void => {
  if (opts.import !== undefined)
    throw programError(
      `${type} ${name}: the option import does not work for dynamic resources; take the record over with the argument ` +
        "adopt, its uid, instead (docs/resources.md#limits).",
    );
  if (opts.provider !== undefined)
    throw programError(
      `${type} ${name}: the option provider does not work for dynamic resources; the configuration of the stack and the ` +
        "environment say which service it is, so leave the option out and use one stack for each service.",
    );
};

/** The resource among all that the intent journal may hold: organization/project/stack/type::name, as in its URN. */
const keyOf = (type: string, name: string, parent: pulumi.Resource | undefined) => {
  const stack = [pulumi.getOrganization, pulumi.getProject, pulumi.getStack].map((part) => orUndefined(part) ?? "-");
  return `${stack.join("/")}/${placeInStack([...typesAbove(parent), type], name)}`;
};

// A unit test of a program may have no name, and the SDK throws.
const orUndefined = (name: () => string) => {
  try {
    return name();
  } catch {
    return undefined;
  }
};

// Two components may each hold a resource of the same type and name.
const typesAbove = (parent: pulumi.Resource | undefined): string[] => {
  if (parent === undefined) return [];
  const { __pulumiType: type = "", __parentResource: above } = parent as unknown as {
    __pulumiType?: string;
    __parentResource?: pulumi.Resource;
  };
  return type === "pulumi:pulumi:Stack" ? [] : [...typesAbove(above), type];
};

// How Pulumi finds our code again. A dynamic resource carries its provider as text in the input `__provider`. The state of each resource
// has it twice, and refresh and delete run it from there. The names in it must never change.
//
// pulumi.dynamic.Resource would serialise an object into that text: 2,197 characters for six methods that import this package, 318 ms for
// the first of them; kilobytes for an object per resource. The SDK's provider also accepts our own text, one for every resource of a kind
// (it calls `exports.handler()`): 57 to 72 characters. The file backend writes the whole state at every step, so bytes per resource are
// seconds. With a provider that does nothing, 500 creates took 17 s with a text of 197 characters, 37 s with one object, 52 s with an
// object each. test/provider/engine/dynamic.test.ts fails when an SDK changes any of it.

/**
 * The handler: it returns the methods of `pulumi-irm/dynamic` (handler.ts). `require` looks in the node_modules of the program, and this
 * repository is there too (scripts/setup/own-package.mjs).
 */
export const handlerText = (kind: StateKind): string =>
  `exports.handler=()=>require('pulumi-irm/dynamic').kinds.${kind}`;
