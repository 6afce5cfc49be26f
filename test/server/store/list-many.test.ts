// Lists of a caller that is bound in many groups beside each other, such as a team's robot. SQLite accepts 1,000
// conditions in one expression.
import { expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, shuffledIds } from "../../harness/api-server.ts";
import { listAll } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";

const GROUPS = Array.from({ length: 1_100 }, (_, i) => `g${i}`);
// The caller is not bound in every eleventh.
const OWN = GROUPS.filter((_, i) => i % 11 > 0);

const lines = (names: string[], line: (name: string) => string) => names.map((name) => `  - ${line(name)}`).join("\n");
const seed = parseSeed(
  `
organization: { name: acme }
groups:
${lines(GROUPS, (name) => `{ name: ${name} }`)}
  - { name: below, parent: g1 }
  - { name: hidden, parent: g0 }
identities:
  - { name: robot, claimMatch: { issuer: "https://issuer.example", subject: s } }
roles:
  - { name: reader, capabilities: [groups.list, repo.list, roles.list] }
bindings:
${lines(OWN, (name) => `{ identity: robot, role: reader, group: ${name} }`)}
repos:
${lines([...GROUPS, "g1/below"], (path) => `{ name: ${path.split("/").at(-1)}, group: ${path} }`)}
`,
  "seed.yaml",
);
const api = await serve({ seed, ids: shuffledIds(7) });
const { identities } = await api.ok("GET", `${IAM}/identities`, { query: { name: "robot" } });
const { uid } = identities[0];
const claimMatch = { issuer: api.issuer, subject: "robot" };
await api.ok("PATCH", `${IAM}/identities/${uid}`, { body: { claimMatch } });
const token: string = await api.token(uid, { subject: "robot" });

const walk = async (path: string, query: Body): Promise<string[]> =>
  (await listAll(api, path, { token, query: { page_size: 200, ...query } })).map(({ name }) => name);
const READABLE = [...OWN, "below"].toSorted();

test.each([
  ["the groups themselves and those below", `${IAM}/groups`],
  ["the records in them and below", `${REGISTRY}/repos`],
])("a caller who is bound in a thousand groups lists %s, in every order", async (_, path) => {
  for (const order_by of ["uid", "create_time"]) expect((await walk(path, { order_by })).toSorted()).toEqual(READABLE);
  expect(await walk(path, { order_by: "name desc" })).toEqual(READABLE.toReversed());
});

test("a caller who is bound in a thousand groups lists the matches of a filter, and the built-in roles", async () => {
  expect(await walk(`${IAM}/groups`, { name: "g0" })).toEqual([]);
  expect(await walk(`${IAM}/groups`, { name: "g1" })).toEqual(["g1"]);
  expect(await walk(`${IAM}/roles`, { name: "viewer" })).toEqual(["viewer"]);
});
