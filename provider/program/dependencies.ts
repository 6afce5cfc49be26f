// The order of a program that writes plain uids. The engine knows only the dependencies that Outputs carry, and deletes independent
// resources in random order. A blocked delete holds one of its few workers. So waiting in the delete cannot finish a chain deeper than
// --parallel. Therefore a parent, identity or role that is the uid of another resource of the program, written as text, becomes the
// dependency that an Output would have carried.
//
// Best effort: it may miss an edge (provider/reconcile/delete.ts then waits), but must never hang and never throw.
import { setImmediate } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { isRoot, isUidp, parentOf, type Resource } from "../../schema/index.ts";
import { argumentReferencesOf, typeOfToken } from "../record/kind.ts";
import { bindingPlaces } from "../run/session.ts";
import { skipsCheckpoints } from "../run/stored-stack.ts";
import { watchEnd } from "./end.ts";
import { awaitValue } from "./output.ts";
import { isConstructed, perRun, programError } from "./session.ts";

// A registration that takes longer is ignored: no text of the program can hold its uid yet.
const TIMEOUT_MS = 10_000;

/** A uid that the program gives as text, and the type of the record that it is of. */
export interface Literal {
  uid: string;
  type: string;
}

interface Entering {
  type: string;
  /** logical name */
  name: string;
  /** it has the uid of its group */
  sharesUid: boolean;
  literals: readonly Literal[];
}

/** A resource of ours as its constructor saw it. */
interface Entry extends Entering {
  inputs: pulumi.Inputs;
  opts: pulumi.CustomResourceOptions;
  /** known once it is constructed */
  resource?: pulumi.CustomResource;
}

export type Entered = ReturnType<ReturnType<typeof programWith>["enter"]>;

export const currentProgram = perRun((monitor) => {
  const program = programWith(TIMEOUT_MS);
  // The plugin itself sees the end of a program of which it constructs a part.
  if (monitor && !isConstructed()) {
    refuseOtherResources();
    watchEnd({ monitor, ...program });
  }
  return program;
});

/** Makes a program that only imports this package, and constructs nothing, report the resources that leave the stack. */
export const watchProgram = (): void => {
  try {
    currentProgram();
  } catch {
    // No engine: not a Pulumi program.
  }
};

const programWith = (timeoutMs: number) => {
  const entries: Entry[] = [];
  const byResource = new Map<pulumi.Resource, Entry>();
  const byId = new Map<unknown, pulumi.Resource>();
  const byUid = new Map<string, pulumi.Resource>();
  const places = bindingPlaces();
  const waits = new Map<Entry, readonly Entry[] | undefined>();

  const candidates = (uid: string, type: string) =>
    entries.filter((one) => one.type === type && one.resource && mayHaveUid(one, uid));

  // The entry's uid may be `uid`, judged by its parent, its parent's parent and so on. So each wait is for an entry one level higher, and
  // these waits cannot form a cycle.
  const mayHaveUid = ({ inputs: { parent } }: Entry, uid: string): boolean => {
    if (parent === undefined || isRoot(uid)) return parent === undefined && isRoot(uid);
    if (typeof parent === "string") return parent === parentOf(uid);
    const [owner, ...others] = ownersOf(parent) ?? [];
    return owner !== undefined && others.length === 0 && mayHaveUid(owner, parentOf(uid));
  };

  // The entries behind an Output; undefined if a part of it comes from elsewhere.
  const ownersOf = (value: unknown) => {
    if (!pulumi.Output.isInstance(value)) return undefined;
    return filterKnown([...resourcesOf(value)].map((resource) => byResource.get(resource)));
  };

  // The entries that the registration of an entry waits for, as the program wrote it (dependsOn, parent, inputs) and by waits like ours;
  // undefined if some are unknown.
  const waitsOf = (one: Entry) => {
    if (!waits.has(one)) waits.set(one, findWaits(one));
    return waits.get(one);
  };
  const findWaits = (one: Entry): Entry[] | undefined => {
    const named = filterKnown(resourcesDependedOn(one.opts.dependsOn)?.map((resource) => byResource.get(resource)));
    const read = filterKnown(outputsIn(one.inputs).map(ownersOf));
    if (!named || !read) return undefined;
    const parent = one.opts.parent && byResource.get(one.opts.parent);
    const literal = one.literals.flatMap(({ uid, type }) => candidates(uid, type));
    return [...named, ...read.flat(), ...(parent ? [parent] : []), ...literal];
  };

  const mayWaitFor = (one: Entry, target: Entry): boolean => {
    const seen = new Set<Entry>();
    const queue = [one];
    for (let next = queue.pop(); next; next = queue.pop()) {
      if (next === target) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      const behind = waitsOf(next);
      if (!behind) return true;
      queue.push(...behind);
    }
    return false;
  };

  const edgesOf = async (entry: Entry): Promise<pulumi.Resource[]> => {
    try {
      // Includes resources that the same synchronous part of the program constructs after this one.
      await setImmediate();
      const found = entry.literals.map(({ uid, type }) => {
        const free = candidates(uid, type).filter((one) => !mayWaitFor(one, entry));
        return findRegistered(uid, free, timeoutMs);
      });
      return (await Promise.all(found)).filter((resource) => resource !== undefined);
    } catch {
      // The program continues without the edge.
      return [];
    }
  };

  return {
    /** all resources constructed so far */
    resources: () => entries.flatMap(({ resource }) => resource ?? []),
    /** its sets of role bindings */
    sets: (): readonly Entry[] =>
      entries.filter(({ type, resource }) => type === "RoleBindingSet" && resource !== undefined),
    /** ids of the records that it adopts (`recordId`) */
    adopted: new Set<string>(),
    /** Registers a resource; returns `opts` with the dependencies that its plain uids imply. */
    enter(own: Entering, inputs: pulumi.Inputs, opts: pulumi.CustomResourceOptions) {
      const entry: Entry = { ...own, inputs, opts };
      const { sharesUid, literals } = own;
      entries.push(entry);
      waits.clear();
      const noteConstructed = (resource: pulumi.CustomResource) => {
        entry.resource = resource;
        byResource.set(resource, entry);
        const { uid = resource.id } = resource as { uid?: pulumi.Output<string> };
        byId.set(resource.id, resource).set(uid, resource);
        awaitValue(uid).then(
          // A uid as text names the group, even if an association shares it.
          (known) => known !== undefined && !sharesUid && byUid.set(known, resource),
          () => undefined,
        );
        waits.clear();
      };
      const hasNone = literals.length === 0;
      // The SDK waits for promises in dependsOn, and flattens nested lists (@pulumi/pulumi/runtime/dependsOn.ts).
      const edges = hasNone ? [] : edgesOf(entry).then((found) => [opts.dependsOn ?? [], ...found]);
      return {
        opts: hasNone ? opts : { ...opts, dependsOn: edges as Promise<pulumi.Resource[]> },
        noteConstructed,
        places,
        /** the resource of the program whose uid this is, by the Output that the resource itself holds */
        resourceOf: (reference: unknown) => byId.get(reference),
        /** the arguments of a resource that the program declares; undefined for one that is got by its uid */
        inputsOf: (resource: pulumi.Resource) => {
          const found = byResource.get(resource);
          return found?.opts.id === undefined ? found?.inputs : undefined;
        },
        /** the group in which the program declares the resource */
        parentOf: (resource: pulumi.Resource) => byId.get(byResource.get(resource)?.inputs.parent),
        /** the resource with this uid, among the uids known once all plain uids of the inputs are resolved */
        resourceWith: async (uid: string) => {
          await edges;
          return byUid.get(uid);
        },
      };
    },
  };
};

export const literalsOf = (descriptor: Resource, inputs: pulumi.Inputs): Literal[] =>
  argumentReferencesOf(descriptor).flatMap(({ path, type }) => {
    const value = path
      .split(".")
      .reduce<unknown>((holder, name) => (isPlain(holder) ? holder[name] : undefined), inputs);
    const values = typeof value === "string" ? [value] : isPlain(value) ? Object.values(value) : [];
    return values.filter(isUidp).map((uid) => ({ uid, type }));
  });

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const filterKnown = <T>(list: (T | undefined)[] | undefined) =>
  list?.every((item) => item !== undefined) ? (list as T[]) : undefined;

const resourcesOf = (output: pulumi.Output<unknown>) =>
  (output as unknown as { resources(): Set<pulumi.Resource> }).resources();

/** The resources of a dependsOn; undefined when they come by a promise. */
const resourcesDependedOn = (dependsOn: unknown): pulumi.Resource[] | undefined => {
  if (dependsOn === undefined) return [];
  if (Array.isArray(dependsOn)) return filterKnown(dependsOn.map(resourcesDependedOn))?.flat();
  return pulumi.Resource.isInstance(dependsOn) ? [dependsOn] : undefined;
};

const outputsIn = (value: unknown): pulumi.Output<unknown>[] => {
  if (pulumi.Output.isInstance(value)) return [value];
  if (typeof value !== "object" || value === null || value instanceof Promise) return [];
  return Object.values(value).flatMap(outputsIn);
};

/** The entry's resource whose uid is `uid`; undefined when none has it, or none registers within the timeout. */
const findRegistered = (
  uid: string,
  entries: readonly Entry[],
  timeoutMs: number,
): Promise<pulumi.Resource | undefined> =>
  new Promise((resolve) => {
    let remaining = entries.length;
    if (remaining === 0) return resolve(undefined);
    const finish = (resource?: pulumi.Resource) => {
      clearTimeout(timer);
      resolve(resource);
    };
    const timer = setTimeout(finish, timeoutMs);
    const note = (found: string | undefined, resource: pulumi.Resource) => {
      remaining--;
      if (found === uid) finish(resource);
      else if (remaining === 0) finish();
      else timer.refresh();
    };
    for (const { resource } of entries as Required<Entry>[])
      awaitValue(resource.id).then(
        (found) => note(found, resource),
        () => note(undefined, resource),
      );
  });

// Without checkpoints, resources of other providers are refused (provider/engine/open-stacks.ts): they keep no journal. The provider sees those
// in the state; only the program sees new ones, as it constructs them.

const stacks = new WeakSet<object>();

/** In this run of a program, from now on. */
const refuseOtherResources = (): void => {
  const stack = pulumi.runtime.getStackResource();
  if (!skipsCheckpoints(process.env) || stack === undefined || stacks.has(stack)) return;
  stacks.add(stack);
  pulumi.runtime.registerStackTransformation(({ type, name, opts, resource }) => {
    const isRead = (opts as pulumi.CustomResourceOptions).id !== undefined;
    const isOwn = type.startsWith("pulumi:") || typeOfToken(type) !== undefined;
    // The SDK marks a custom resource later, and its class may be from another copy of the SDK.
    const isComponent = "registerOutputs" in resource;
    if (!isComponent && !isRead && !isOwn)
      throw programError(
        `PULUMI_SKIP_CHECKPOINTS: ${type} ${name} is of another provider, which keeps no journal: what a killed run did with it would be lost. ` +
          "Put it into a stack of its own, or unset PULUMI_SKIP_CHECKPOINTS.",
      );
    return undefined;
  });
};

// A program of the command line loads this module before it declares anything.
refuseOtherResources();
