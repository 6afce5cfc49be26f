// Without checkpoints, a program that declares a resource of another provider is refused while it declares it.
import * as pulumi from "@pulumi/pulumi";
import { afterEach, expect, it, vi } from "vitest";
import { Group } from "../../../provider/index.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { GROUP, ORG } from "../../support/scripted.ts";

class RandomPet extends pulumi.CustomResource {
  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    super("random:index/randomPet:RandomPet", name, {}, opts);
  }
}

class Team extends pulumi.ComponentResource {
  constructor(name: string) {
    super("acme:index:Team", name);
  }
}

/** The error that the program of a stack ends with. */
const errorOf = async (program: () => void): Promise<string | undefined> => {
  await mockEngine(() => ({ id: GROUP, state: {} }));
  const ended = Promise.withResolvers<string | undefined>();
  const init = async (): Promise<void> => {
    try {
      program();
      ended.resolve(undefined);
    } catch (error) {
      ended.resolve((error as Error).message);
    }
  };
  await pulumi.runtime.runInPulumiStack(init);
  const error = await ended.promise;
  // A component registers its outputs.
  await pulumi.runtime.disconnect();
  return error;
};

afterEach(() => vi.unstubAllEnvs());

const pet = () => new RandomPet("pet");

const REFUSAL =
  "PULUMI_SKIP_CHECKPOINTS: random:index/randomPet:RandomPet pet is of another provider, which keeps no journal: what a killed run did with it would be lost. " +
  "Put it into a stack of its own, or unset PULUMI_SKIP_CHECKPOINTS.";

it.each<[string, string, () => unknown, string | undefined]>([
  ["without checkpoints is refused where it declares a resource of another provider", "true", pet, REFUSAL],
  ["without checkpoints may read one", "true", () => new RandomPet("read", { id: "1" }), undefined],
  ["without checkpoints may have components", "true", () => new Team("component"), undefined],
  ["with checkpoints is not refused", "", pet, undefined],
])("a program %s", async (_, skips, declare, expected) => {
  vi.stubEnv("PULUMI_SKIP_CHECKPOINTS", skips);
  const error = await errorOf(() => {
    new Group("team", { parent: ORG, name: "team" });
    declare();
  });
  expect(error).toBe(expected);
});
