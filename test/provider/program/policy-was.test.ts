// A renamed key of a policy: `was` makes the resource an alias of the former one, so that the record keeps its uid.
import type * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, test, vi } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { AccessPolicy, type PolicyDocument } from "../../../provider/index.ts";
import { reviewBetween } from "../../access/format/reviews.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../../access/graphs.ts";
import { mockEngine } from "../../support/mock-engine.ts";

let registered: string[];
beforeEach(() => {
  registered = [];
  return mockEngine(({ name, type, inputs }) => {
    registered.push(name);
    return { id: type.startsWith("irm:") ? "" : `id of ${name}`, state: { name: inputs.name } };
  });
});

const issuer = "https://issuer.example";
const policy = (was: boolean): PolicyDocument => ({
  organization: "acme",
  groups: { team: { ...(was && { was: "crew" }), groups: { tools: null } } },
  identities: { publish: { in: "team", ...(was && { was: "release" }), claimMatch: { issuer, subject: "s" } } },
  roles: { pusher: { in: "team", ...(was && { was: "publisher" }), can: ["tag.create"] } },
  access: { "team/tools": { pusher: ["publish"] } },
});

/** A role that people get belongs to the organization itself. */
const withPeople = (): PolicyDocument => {
  const one = policy(true);
  const auditor = { was: "inspector", can: ["groups.list"] };
  const people = { sso: { externalGroups: { SRE: ["auditor", "viewer"] } } };
  return { ...one, roles: { ...one.roles, auditor }, people };
};

test("was is an alias of the resource, and of those whose names follow from it", async () => {
  const aliases = new Map<string, unknown>();
  const see: pulumi.ResourceTransformation = ({ name, opts }) => {
    const named = (opts.aliases ?? []).flatMap((alias) => (alias as pulumi.Alias).name ?? []);
    if (named.length > 0) aliases.set(name, named[0]);
    return undefined;
  };
  const identityProviders = { sso: "0123456789abcdef0123456789abcdef01234567/0123456789abcdef" };
  new AccessPolicy("acme", { policy: withPeople(), identityProviders }, { transformations: [see] });
  await vi.waitFor(() => expect(registered).toHaveLength(10));
  expect(Object.fromEntries(aliases)).toEqual({
    "acme/team": "acme/crew",
    "acme/team/tools": "acme/crew/tools",
    "acme:role/pusher": "acme:role/publisher",
    "acme:identity/publish": "acme:identity/release",
    "acme:access/team/tools": "acme:access/crew/tools",
    "acme:role/auditor": "acme:role/inspector",
    "acme:people/sso/auditor/SRE": "acme:people/sso/inspector/SRE",
  });
});

test.each([
  ["its own key", { a: { was: "a" } }, "is its key now; leave was out"],
  ["a key in use", { a: { was: "b" }, b: {} }, "b is the key of another one here, which keeps its own record"],
  ["the same key twice", { a: { was: "c" }, b: { was: "c" } }, "a was c too; one record has one key"],
  ["nothing", { a: { was: "" } }, "is empty; write the key that it had before"],
])("was cannot be %s", (_, groups, text) => {
  const { mistakes } = parsePolicy({ organization: "acme", groups });
  expect(mistakes.map((one) => one.text)).toEqual([text]);
});

/** `crew` with the identity `release`, which is bound to `publisher`. */
const live = () => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  const crew = addGroup(graph, uidIn(ROOT, 1), "crew", ROOT);
  const tools = addGroup(graph, uidIn(crew, 2), "tools", crew);
  const release = addIdentity(graph, uidIn(crew, 16), "release", crew, { issuer, subject: "s" });
  bind(graph, tools, release, addRole(graph, "publisher", ["tag.create"], crew));
  return { graph, release };
};

const reviewed = (document: unknown, { graph }: ReturnType<typeof live>) => {
  const { policy: parsed } = parsePolicy(document);
  const wanted = policyGraph(parsed as never, graph);
  expect(wanted.mistakes).toEqual([]);
  return reviewBetween(graph, newGraph(wanted.graph)).report;
};

test("a review of the policy alone agrees: with was the records keep their uids", () => {
  const now = live();
  const { identities, findings } = reviewed(policy(true), now);
  expect(findings).toEqual([]);
  expect(identities).toMatchObject([
    { uid: now.release, name: "publish", nameBefore: "release", gains: [], losses: [] },
  ]);
});
