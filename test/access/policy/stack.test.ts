// A policy beside a stack: records match by the uids of the stack's state, and what the stack manages goes with its key.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import { exportStack } from "../../../access/policy/export-stack.ts";
import { parsePolicy, policyGraph, policyStackFrom, removedBy } from "../../../access/policy/index.ts";
import type { Policy } from "../../../access/policy/policy.ts";
import { proposalFromPolicy } from "../../../access/review/policy.ts";
import type { Report } from "../../../access/review/report.ts";
import { possibleTwins } from "../../../access/review/twins.ts";
import { reviewBetween } from "../format/reviews.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";

const issuer = "https://issuer.example";
const TEAM = uidIn(ROOT, 1);
const RELEASE = uidIn(TEAM, 16);
const BY_HAND = uidIn(TEAM, 17);

/** `release` is of the stack, `by-hand` is not; both are viewers of team. */
const live = (): { graph: GraphBuilder; viewer: string } => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  addGroup(graph, TEAM, "team", ROOT);
  const viewer = addRole(graph, "viewer", ["repo.list"]);
  addIdentity(graph, RELEASE, "release", TEAM, { issuer, subject: "s" });
  addIdentity(graph, BY_HAND, "by-hand", TEAM, { issuer, subject: "t" });
  for (const identity of [RELEASE, BY_HAND]) bind(graph, TEAM, identity, viewer);
  return { graph, viewer };
};

const bindingOf = (graph: GraphBuilder, identity: string): string =>
  [...graph.bindings.values()].find((one) => one.identity === identity)?.id as string;

/** As `pulumi stack export` writes a value that the program made secret. */
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x:y" };

const exportWith = ({ exclusive = false, adopted = {} }: { exclusive?: unknown; adopted?: object } = {}): string => {
  const { graph } = live();
  const urn = (type: string, name: string) => `urn:pulumi:prod::access::${type}::${name}`;
  const parent = urn("irm:index:AccessPolicy", "acme");
  const resource = (type: string, name: string, id: string, more: object = {}) => ({
    urn: urn(`irm:index:AccessPolicy$irm:index:${type}`, name),
    type: `irm:index:${type}`,
    id,
    parent,
    inputs: { name: "acme" },
    ...more,
  });
  const bindings = [{ uid: bindingOf(graph, RELEASE) }];
  const resources = [
    { urn: parent, type: "irm:index:AccessPolicy", outputs: { organization: ROOT } },
    resource("Group", "acme", ROOT),
    resource("Group", "acme/team", TEAM),
    resource("Identity", "acme:identity/release", RELEASE, { outputs: adopted }),
    resource("RoleBindingSet", "acme:access/team", TEAM, { inputs: { exclusive }, outputs: { exclusive, bindings } }),
  ];
  return JSON.stringify({ version: 3, deployment: { resources } });
};

const policyOf = (identities: object, access: object): Policy => {
  const { policy, mistakes } = parsePolicy({ organization: "acme", groups: { team: {} }, identities, access });
  expect(mistakes).toEqual([]);
  return policy as Policy;
};

const review = (policy: Policy, text: string | undefined): Report => {
  const { graph } = live();
  const stack = text === undefined ? undefined : policyStackFrom(text, policy);
  const wanted = policyGraph(policy, graph, stack);
  expect(wanted.mistakes).toEqual([]);
  const isRemoved = stack ? removedBy(stack, graph) : () => false;
  const { after } = proposalFromPolicy(wanted.graph, { graph, notVisible: [] }, isRemoved);
  return reviewBetween(graph, newGraph(after)).report;
};

const match = (subject: string) => ({ in: "team", claimMatch: { issuer, subject } });

describe("a policy of a stack", () => {
  test("that renames a record under its key keeps it", () => {
    const policy = policyOf({ release: { ...match("s"), name: "publish" } }, { team: { viewer: ["release"] } });
    const { identities, findings } = review(policy, exportWith());
    expect(findings).toEqual([]);
    expect(identities).toMatchObject([{ uid: RELEASE, nameBefore: "release", name: "publish", gains: [], losses: [] }]);
    // By names alone the same looks like a new identity.
    expect(review(policy, undefined).identities).toMatchObject([{ uid: null, name: "publish", change: "created" }]);
  });

  test("that renames a key gets another record, unless it says what the key was", () => {
    const access = { team: { viewer: ["publish"] } };
    const renamed = review(policyOf({ publish: match("s") }, access), exportWith());
    expect(renamed.findings.map(({ rule, subject }) => [rule, subject])).toContainEqual(["identity-replaced", RELEASE]);
    const kept = review(policyOf({ publish: { ...match("s"), was: "release" } }, access), exportWith());
    expect(kept.identities).toMatchObject([{ uid: RELEASE, name: "publish", nameBefore: "release" }]);
  });

  test("loses what the stack manages and the policy lacks, and nothing else", () => {
    const { identities } = review(policyOf({}, {}), exportWith());
    expect(identities.map(({ name, change }) => [name, change])).toEqual([["release", "deleted"]]);
  });

  test("loses every other binding of a group whose set is exclusive", () => {
    const policy = policyOf({ release: match("s") }, { team: { viewer: ["release"] } });
    expect(review(policy, exportWith()).identities).toEqual([]);
    const { identities } = review(policy, exportWith({ exclusive: true }));
    expect(identities.map(({ name, losses }) => [name, losses.length])).toEqual([["by-hand", 1]]);
  });

  test("loses what it adopted only with deleteAdopted; a secret setting counts as set", () => {
    const deletedWith = (options: Parameters<typeof exportWith>[0]) =>
      review(policyOf({}, {}), exportWith(options)).identities.map(({ name, change }) => [name, change]);
    expect(deletedWith({ adopted: { adopted: true } })).toEqual([["release", "none"]]);
    expect(deletedWith({ adopted: { adopted: true, deleteAdopted: SECRET } })).toEqual([["release", "deleted"]]);
    const policy = policyOf({ release: match("s") }, { team: { viewer: ["release"] } });
    expect(review(policy, exportWith({ exclusive: SECRET })).identities).toMatchObject([{ name: "by-hand" }]);
  });

  test("takes no record of a key that is elsewhere than the policy has it", () => {
    const moved = exportWith().replace(RELEASE, uidIn(ROOT, 99));
    const policy = policyOf({ release: match("s") }, { team: { viewer: ["release"] } });
    expect(review(policy, moved).identities).toEqual([]);
  });

  test("may create a record beside one of its name that the stack does not have", () => {
    const { graph } = live();
    const twinsOf = (identities: object, ...viewers: string[]): string[] => {
      const policy = policyOf(identities, { team: { viewer: viewers } });
      const stack = policyStackFrom(exportWith(), policy);
      const known = { ids: new Set(stack?.identities.values()), source: "the stack" };
      return possibleTwins(policyGraph(policy, graph, stack), graph, known).map(({ message }) => message);
    };
    expect(twinsOf({ release: match("s"), new: match("n") }, "release", "new")).toEqual([]);
    expect(twinsOf({ "by-hand": match("t") }, "by-hand")).toEqual([
      `identity by-hand: the stack does not have it, and the API has one of its name, ${BY_HAND}: without adopt: "match" the update creates another one, which would get role viewer at team`,
    ]);
  });
});

describe("the state of a stack", () => {
  const folder = mkdtempSync(join(tmpdir(), "stack-"));
  const engine = (source: string): [string, ...string[]] => {
    const script = join(folder, "engine.mjs");
    writeFileSync(script, source);
    return [process.execPath, script];
  };

  test("is read beside the policy, of the stack that is selected or given", async () => {
    const command = engine(
      'console.log(process.argv.includes("--show-name") ? "prod" : process.argv.slice(2).join(" "))',
    );
    expect(await exportStack(command, [folder])).toBeUndefined();
    await expect(exportStack(command, [folder], "dev")).rejects.toThrow(
      "--stack dev: there is no Pulumi.yaml beside the policy, and none in this folder",
    );
    writeFileSync(join(folder, "Pulumi.yaml"), "name: access\n");
    expect(await exportStack(command, [folder])).toEqual({ name: "prod", text: "stack export --non-interactive\n" });
    expect(await exportStack(command, [folder], "dev")).toEqual({
      name: "dev",
      text: "stack export --stack dev --non-interactive\n",
    });
  });

  test("is not there where no stack is selected, and an error where one was asked for", async () => {
    const command = engine('console.error("error: no stack"); process.exitCode = 255');
    expect(await exportStack(command, [folder])).toEqual({});
    await expect(exportStack(command, [folder], "dev")).rejects.toThrow(
      "pulumi stack export --stack dev failed: error: no stack",
    );
  });
});
