// A renamed key of a policy: `was` makes the resource an alias of the former one, so that the record keeps its uid.
import type * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, test, vi } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { AccessPolicy, type PolicyDocument } from "../../../provider/index.ts";
import { reviewBetween } from "../../access/format/reviews.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../../access/graphs.ts";
import { made, startEngine } from "./policy-engine.ts";

beforeEach(startEngine);

const claimMatch = { issuer: "https://issuer.example", subject: "s" };
const policy = {
  organization: "acme",
  groups: { team: { was: "crew", groups: { tools: null } } },
  identities: { publish: { in: "team", was: "release", claimMatch } },
  roles: { pusher: { in: "team", was: "publisher", can: ["tag.create"] } },
  access: { "team/tools": { pusher: ["publish"] } },
} satisfies PolicyDocument;

test("was is an alias of the resource, and of those whose names follow from it", async () => {
  const aliases = new Map<string, unknown>();
  const see: pulumi.ResourceTransformation = ({ name, opts }) => {
    const named = (opts.aliases ?? []).flatMap((alias) => (alias as pulumi.Alias).name ?? []);
    if (named.length > 0) aliases.set(name, named[0]);
    return undefined;
  };
  // A role that people get belongs to the organization itself.
  const roles = { ...policy.roles, auditor: { was: "inspector", can: ["groups.list"] } };
  const people = { sso: { externalGroups: { SRE: ["auditor", "viewer"] } } };
  const identityProviders = { sso: "0123456789abcdef0123456789abcdef01234567/0123456789abcdef" };
  const args = { policy: { ...policy, roles, people }, identityProviders };
  new AccessPolicy("acme", args, { transformations: [see] });
  await vi.waitFor(() => expect(made).toHaveLength(10));
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

test("a review of the policy alone agrees: with was the records keep their uids", () => {
  const live = newGraph();
  addGroup(live, ROOT, "acme", null);
  const crew = addGroup(live, uidIn(ROOT, 1), "crew", ROOT);
  const tools = addGroup(live, uidIn(crew, 2), "tools", crew);
  const release = addIdentity(live, uidIn(crew, 16), "release", crew, claimMatch);
  bind(live, tools, release, addRole(live, "publisher", ["tag.create"], crew));
  const { graph, mistakes } = policyGraph(parsePolicy(policy).policy as never, live);
  expect(mistakes).toEqual([]);
  const { identities, findings } = reviewBetween(live, newGraph(graph)).report;
  expect(findings).toEqual([]);
  expect(identities).toMatchObject([{ uid: release, name: "publish", nameBefore: "release", gains: [], losses: [] }]);
});
