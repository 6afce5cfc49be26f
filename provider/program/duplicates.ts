// Warns in the preview of two resources of one program that declare the same. What is compared is what the program refers to (a resource
// of its own, also one whose uid is not known yet, or a uid) and what it gives in plain; nothing of it is printed. Each provider may be
// another service.
import * as pulumi from "@pulumi/pulumi";
import type { Json } from "../../schema/index.ts";
import type { KindName } from "../kind/index.ts";
import { awaitValue } from "./output.ts";

/** What the program knows of its resources. */
interface Entered {
  resourceOf(reference: unknown): pulumi.Resource | undefined;
}

/** Reports a resource that duplicates an earlier one of the same program. */
export type Duplicates = (
  kind: KindName,
  resource: string,
  entered: Entered,
  inputs: pulumi.Inputs,
  provider: pulumi.ProviderResource | undefined,
) => void;

export const duplicates = (): Duplicates => {
  const first = new Map<string, string>();
  const numbers = new Map<pulumi.Resource | undefined, number>();
  const numberOf = (resource: pulumi.Resource | undefined): string => {
    numbers.set(resource, numbers.get(resource) ?? numbers.size);
    return `#${numbers.get(resource)}`;
  };

  // A resource by its uid, or by a number while it has none; undefined for what a preview does not know.
  const identify = async (entered: Entered, reference: unknown): Promise<string | undefined> => {
    const resource = entered.resourceOf(reference);
    if (!resource) return (await awaitValue(pulumi.output(reference))) as string | undefined;
    const { uid: own, id } = resource as pulumi.CustomResource & { uid?: pulumi.Output<string> };
    return (await awaitValue(own ?? id)) ?? numberOf(resource);
  };

  const marks: Partial<Record<KindName, (entered: Entered, inputs: pulumi.Inputs) => Promise<unknown[]>>> = {
    roleBinding: (entered, { identity, role, parent }) =>
      Promise.all([identity, role, parent].map((reference) => identify(entered, reference))),
    identity: async (_entered, { claimMatch, staticKeys }) => {
      const { issuer, subject } = ((await awaitValue(pulumi.output(claimMatch ?? staticKeys))) ?? {}) as Json;
      return [issuer, subject];
    },
  };

  const report = async (...[kind, resource, entered, inputs, provider]: Parameters<Duplicates>): Promise<void> => {
    const parts = await marks[kind]?.(entered, inputs);
    if (!parts?.every((part) => typeof part === "string" && part !== "")) return;
    const mark = JSON.stringify([kind, numberOf(provider), ...parts]);
    const other = first.get(mark);
    first.set(mark, other ?? resource);
    if (other !== undefined) await pulumi.log.warn(TEXTS[kind]?.(resource, other) ?? "");
  };

  return (...args) => {
    const [kind] = args;
    // A value that cannot be compared fails where it is used.
    if (marks[kind]) report(...args).catch(() => undefined);
  };
};

const TEXTS: Partial<Record<KindName, (resource: string, other: string) => string>> = {
  roleBinding: (resource, other) =>
    `RoleBinding ${resource} duplicates RoleBinding ${other}: the same role to the same identity in the same group. ` +
    "Remove one of them from the program.",
  identity: (resource, other) =>
    `Identity ${resource} has the same issuer and subject as Identity ${other}: a token exchange that names no identity ` +
    "fails for both. Name the identity in each exchange (IRM_IDENTITY), or keep one of them.",
};
