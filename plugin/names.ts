// The names of the records that a role binding connects, as this process has met them, if the program does not pass them. The bindings'
// outputs and the log omit a name that is secret on its own record. They omit a name that this process has not met: with `--target`, or on
// a record of another provider, it may be secret.

import type { Env } from "../client/config.ts";
import type { RecordNames } from "../provider/engine/record-names.ts";
import { isBuiltIn, isRoleName } from "../provider/kind/names.ts";
import { bindingsIn } from "../provider/kind/pair.ts";
import { SECRET_NAME } from "../provider/record/state.ts";
import { backendOf } from "../pulumi/project.ts";
import { shortType, urnFrom } from "../pulumi/urn.ts";
import { isUnknown } from "../pulumi/value.ts";
import type { Json } from "../schema/index.ts";

export type Names = ReturnType<typeof createNames>;

/** `onNote` is called for each name that is met. */
export const createNames = (onNote: RecordNames["note"]) => {
  const known = new Map<unknown, string>();
  // A role may be given by its name.
  const nameOf = (uid: unknown) => known.get(uid) ?? (isRoleName(uid) ? uid : undefined);
  return {
    /** A record has this name. */
    note: (uid: unknown, name: unknown, isSecret: boolean) => {
      onNote(uid, name, isSecret);
      if (typeof uid === "string" && uid !== "" && typeof name === "string")
        known.set(uid, isSecret ? SECRET_NAME : name);
    },
    /** The argument `names` of a role binding or a set, for a reader; undefined if the program passes it. */
    shown: (type: string, inputs: Json) => namesOf(type, inputs, nameOf, nameOf),
    /** The argument `names` for the state: names in `outputs` are kept, and unknown names count as secret. */
    stored: (type: string, inputs: Json, outputs: Json = {}) => {
      const before = namesIn(outputs);
      const nameOrSecret = (uid: unknown) =>
        nameOf(uid) ?? before.get(uid) ?? (isUnknown(uid) ? undefined : SECRET_NAME);
      return namesOf(type, inputs, nameOrSecret, (uid) => (isBuiltIn({ uid }) ? nameOf(uid) : nameOrSecret(uid)));
    },
  };
};

type NameOf = (uid: unknown) => string | undefined;

const namesOf = (type: string, inputs: Json, nameOf: NameOf, roleNameOf: NameOf): Json | undefined => {
  const { names, identity, role, parent, bindings } = inputs;
  if (names !== undefined) return undefined;
  if (type === "RoleBinding") return { identity: nameOf(identity), role: roleNameOf(role), group: nameOf(parent) };
  if (type !== "RoleBindingSet" || !Array.isArray(bindings)) return undefined;
  const pairs = bindings.map((pair) => {
    const { identity: who, role: what } = (pair ?? {}) as Json;
    return { identity: nameOf(who), role: roleNameOf(what) };
  });
  return pairs as unknown as Json;
};

/** The names in the outputs, by uid. */
const namesIn = (outputs: Json): ReadonlyMap<unknown, string> => {
  const pairs = [...bindingsIn(outputs, "bindings"), ...bindingsIn(outputs, "unmanaged")] as unknown as Json[];
  const parts = [outputs, ...pairs].flatMap(({ identity, role, group }: Json) => [identity, role, group] as Json[]);
  return new Map(parts.flatMap((part) => (typeof part?.name === "string" ? [[part.uid, part.name]] : [])));
};

// The key of a resource, from its URN: the same as for the dynamic resource of this name (provider/program/form.ts), so one journal serves
// both. A URN lacks the organization of the stack. Our packages for TypeScript and Python pass it; without it, a backend other than Pulumi
// Cloud has one organization, and the id of the provider's resource replaces it. That id is random and in the state, so two stacks of the
// same name never share keys.

/** Type of a resource of ours: `Group`; the token for any other. */
export const typeIn = (urn: string): string => shortType(urnFrom(urn).types.at(-1) as string);

/** The substitute for an organization that neither the package nor the state names. */
export const organizationWithout = (providerId: string, env: Env, cwd: string): string => {
  const backend = backendOf(env, cwd);
  const isCloud = backend === "" || /^https?:/.test(backend);
  return isCloud ? `~${providerId}` : "organization";
};

export const organizationIn = (key: unknown): string | undefined =>
  typeof key === "string" ? key.split("/", 1)[0] : undefined;
