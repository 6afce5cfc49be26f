// An engine that is a mock, for tests of AccessPolicy: what a policy registers, and what comes out of the component.
import * as pulumi from "@pulumi/pulumi";
import { expect, vi } from "vitest";
import { AccessPolicy, type AccessPolicyArgs, type PolicyDocument } from "../../../provider/index.ts";
import { awaitValue } from "../../../provider/program/output.ts";
import { mockEngine } from "../../support/mock-engine.ts";

export let made: pulumi.runtime.MockResourceArgs[];
export const startEngine = async () => {
  made = [];
  await mockEngine((args) => {
    made.push(args);
    const id = args.type.startsWith("irm:") ? "" : `id of ${args.name}`;
    return { id, state: { name: args.inputs.name } };
  });
};
export const release = { in: "platform", github: { repository: "acme/images", branch: "main" } };
export const document = {
  organization: "acme",
  groups: { platform: { description: "Builds", groups: { registry: null, clusters: null } }, product: null },
  identities: { release, review: { github: { repository: "acme/*", event: "pull_request" } } },
  roles: { publisher: { in: "platform", can: ["tag.create", "repo.list"] } },
  access: {
    "platform/registry": { publisher: ["release"], editor: ["review"] },
    "/": { viewer: ["review", "release"] },
  },
} satisfies PolicyDocument;

export const create = async (count: number, args: AccessPolicyArgs) => {
  const { organization, groups, identities, roles } = new AccessPolicy("acme", args);
  await vi.waitFor(() => expect(made).toHaveLength(count), 10_000);
  const outputs = await awaitValue(pulumi.output({ organization, groups, identities, roles }));
  return outputs as NonNullable<typeof outputs>;
};

export const registered = (): Record<string, object> =>
  Object.fromEntries(
    made
      .slice(1)
      .map(({ type, name, inputs: { __provider, __key, names, ...inputs } }) => [
        `${type.replace("pulumi-nodejs:dynamic/irm:", "")} ${name}`,
        inputs,
      ]),
  );

export const subject = "repo:acme/images:ref:refs/heads/main";
export const issuer = "https://token.actions.githubusercontent.com";
