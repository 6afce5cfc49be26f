// The access graph of a live organisation, as its owner and as a caller who sees a part of it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { pathOf } from "../../../access/graph/graph.ts";
import { accessIn } from "../../../access/graph/holds.ts";
import { readLive } from "../../../access/graph/live.ts";
import type { Actor, TestServer } from "../../harness/api-server.ts";
import { startTeam } from "../../harness/team.ts";
import { clientOf } from "../client.ts";

let api: TestServer;
let platform: string;
let registry: string;
let publisher: string;
let reader: Actor;

beforeAll(async () => {
  ({ api, platform, registry, publisher, reader } = await startTeam());
  await api.actor("release", { role: publisher, at: registry });
});
afterAll(() => api.close());

test("the owner sees every group, identity, role and binding, and nothing is missing", async () => {
  const { graph, notVisible } = await readLive(clientOf(api));
  expect(notVisible).toEqual([]);
  expect(pathOf(graph, registry)).toBe("platform/registry");
  expect(pathOf(graph, api.organization)).toBe("/");
  const release = [...graph.identities.values()].find(({ name }) => name === "release");
  expect(release?.relationship).toEqual({ claimMatch: { issuer: api.issuer, subject: "release" } });
  const grants = accessIn(graph).topmostOf(release?.id ?? "");
  expect(grants.map(({ group, capability, role }) => [group, capability, role])).toEqual([
    [registry, "repo.list", publisher],
    [registry, "tag.create", publisher],
  ]);
});

test("a list costs one request, and its completeness one more where it shows nothing of the organisation itself", async () => {
  const paths: string[] = [];
  await readLive(clientOf(api, api.owner.token, paths));
  const absent = `${api.organization}/${"0".repeat(16)}`;
  expect(paths.sort()).toEqual([
    "GET /iam/v2beta1/groups",
    "GET /iam/v2beta1/identities",
    "GET /iam/v2beta1/roleBindings",
    "GET /iam/v2beta1/roles",
    `GET /iam/v2beta1/roles/${absent}`,
  ]);
});

test("a caller who sees one group learns what is not visible above it", async () => {
  const { graph, notVisible } = await readLive(clientOf(api, reader.token));
  expect(notVisible.map(({ kind, group }) => [kind, group])).toEqual([
    ["group", api.organization],
    ["group", platform],
    ["identity", api.organization],
    ["identity", platform],
    ["role", api.organization],
    ["role", platform],
    ["roleBinding", api.organization],
    ["roleBinding", platform],
  ]);
  // The bindings of the group name their roles and identities.
  expect([...graph.bindings.values()].map(({ role }) => graph.roles.get(role)?.name).sort()).toEqual([
    "publisher",
    "viewer",
  ]);
  expect(graph.roles.get(publisher)?.capabilities).toEqual([]);
});
