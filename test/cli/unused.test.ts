// `irm access --unused` at a real server: identities, covered role bindings, roles of nobody, and what leaves a policy.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { IAM } from "../harness/api-server.ts";
import { DAY_MS } from "../harness/clock.ts";
import { createUid } from "../harness/records.ts";
import { serveSignedIn } from "../harness/signed-in.ts";
import { failure, runIrm } from "../support/irm.ts";
import { useOwnFolder } from "../support/test-folder.ts";

const api = await serveSignedIn();
useOwnFolder();
const { name: acme } = await api.ok("GET", `${IAM}/groups/${api.organization}`);
const platform = await createUid(api, "groups", api.organization, { name: "platform" });
const registry = await createUid(api, "groups", platform, { name: "registry" });
const role = (name: string) => createUid(api, "roles", platform, { name, capabilities: ["CAP_REPO_LIST"] });
const [reader, lister, idle] = [await role("reader"), await role("lister"), await role("idle")];
const { uid: nightly } = await api.actor("nightly", { role: "viewer", in: platform });
const { uid: release } = await api.actor("release", { role: "viewer", in: platform });
const bind = async (identityUid: string, at: string, name: string) =>
  createUid(api, "roleBindings", at, { identityUid, roleUid: name.length >= 40 ? name : await api.role(name) });
const covered = {
  below: await bind(release, registry, "viewer"),
  reader: await bind(release, platform, reader),
};
await bind(release, platform, "editor");
const equal = [await bind(release, registry, "owner"), await bind(release, registry, "owner")].sort();
const { uid: twin } = await api.actor("twin", { in: platform });
const same = [await bind(twin, platform, reader), await bind(twin, platform, lister)].sort();

api.clock.advance(100 * DAY_MS);
api.owner.token = await api.token(api.identity, { subject: "owner" });
for (const [uid, subject] of [
  [release, "release"],
  [twin, "twin"],
] as const)
  await api.token(uid, { subject });

const unused = (days: string, ...flags: string[]) => runIrm("access", "--unused", days, ...flags);

test("prints JSON", async () => {
  const { code, stdout, stderr } = await unused("90d", "--format", "json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { identities, covered: found, roles } = JSON.parse(stdout);
  expect(identities).toEqual([
    { identity: nightly, name: "nightly", group: platform, lastSeen: "2026-01-28T12:54:21.189Z", bindings: 1 },
  ]);
  const at = (group: string, name: string) => ({ identity: release, group, role: name });
  expect(found).toHaveLength(4);
  expect(found).toEqual(
    expect.arrayContaining([
      { binding: covered.below, ...at(registry, "viewer"), by: expect.objectContaining({ role: expect.any(String) }) },
      {
        binding: covered.reader,
        ...at(platform, "reader"),
        by: expect.objectContaining({ group: expect.any(String) }),
      },
      { binding: equal[1], ...at(registry, "owner"), by: { binding: equal[0], group: registry, role: "owner" } },
      expect.objectContaining({ binding: same[1], identity: twin, by: expect.objectContaining({ binding: same[0] }) }),
    ]),
  );
  expect(roles).toEqual([{ role: idle, name: "idle", group: platform }]);
});

test("prints what docs/access.md shows; a shorter time has more identities, and a longer one fewer", async () => {
  const page = readFileSync(new URL("../../docs/access.md", import.meta.url), "utf8");
  const [, shown] = /prints the access that you can remove:\n\n```\n(.*?)```/s.exec(page) ?? [];
  expect((await unused("90d")).stdout).toBe(shown);
  expect(JSON.parse((await unused("101d", "--format", "json")).stdout).identities).toEqual([]);
  const all = JSON.parse((await unused("0d", "--format", "json")).stdout).identities;
  expect(all.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(["nightly", "owner", "release"]),
  );
});

test("says what it cannot see, and calls no role nobody's where bindings are hidden", async () => {
  const part = await api.actor("part", { role: "viewer", at: registry });
  await createUid(api, "roles", registry, { name: "own", capabilities: ["CAP_REPO_LIST"] });
  vi.stubEnv("IRM_TOKEN", part.token);
  const { stdout, stderr } = await unused("90d", "--format", "json");
  expect(JSON.parse(stdout).roles.map(({ name }: { name: string }) => name)).toEqual(["own"]);
  expect(stderr).toContain("not visible to you, so this may be incomplete: groups of /, ");
});

const policy = `# of the platform team
organization: ${acme}
groups: { platform: { groups: { registry: {} } } }
identities:
  nightly: { in: platform, claimMatch: { issuer: "https://issuer.example", subject: nightly } } # ends soon
  release: { in: platform, claimMatch: { issuer: "https://issuer.example", subject: release } } # stays
roles:
  reader: { in: platform, can: [repo.list] }
  # for later
  idle: { in: platform, can: [repo.list] }
access:
  /:
    viewer: [nightly, release]
  platform:
    editor: [release] # publishes
    reader: [release]
  platform/registry: { viewer: [release], owner: [release] }
tests:
  - { name: reads at night, identity: nightly, cannot: [{ capability: tag.create }] }
`;

test("--write removes them from a policy, and a second run has nothing to remove", async () => {
  writeFileSync("access.yaml", policy);
  const { code, stderr } = await unused("90d", "--write", "access.yaml");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `removed 5 entries from access.yaml
  access./.viewer: nightly
  access.platform.reader: release
  access.platform/registry.viewer: release
  identities.nightly
  roles.idle
the test "reads at night" names nightly: change it
`,
  });
  expect((await unused("90d", "--write", "access.yaml")).stderr).toBe("removed 0 entries from access.yaml\n");
});

test("--write takes the uids of what goes out of adopt.json, where equal names are no obstacle", async () => {
  const twinOfNightly = await createUid(api, "identities", platform, { name: "nightly" });
  writeFileSync("access.yaml", policy);
  const without = await unused("90d", "--write", "access.yaml");
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining("the API has 2 identities of this name") });
  const uids = { groups: { platform }, identities: { nightly, release }, roles: { idle } };
  const textOf = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;
  writeFileSync("adopt.json", textOf(uids));
  const { code, stderr } = await unused("90d", "--write", "access.yaml");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^removed 5 entries from access\.yaml\n/),
  });
  expect(readFileSync("adopt.json", "utf8")).toBe(textOf({ ...uids, identities: { release }, roles: {} }));
  await api.ok("DELETE", `${IAM}/identities/${twinOfNightly}`);
});

test("--write keeps what the policy needs, and says so", async () => {
  writeFileSync(
    "access.yaml",
    policy
      .replace("    editor: [release] # publishes\n", "    idle: [release]\n")
      .replace(", owner: [release]", "")
      .replace("viewer: [nightly, release]", "console_viewer: [nightly]"),
  );
  const { stderr } = await unused("90d", "--write", "access.yaml");
  expect(stderr).toContain("access.platform.reader: release stays: what covers it is not in the policy\n");
  expect(stderr).toContain("access.platform/registry.viewer: release stays: what covers it is not in the policy\n");
  expect(stderr).toContain("roles.idle stays: the policy gives it, and no update has done so yet\n");
});

test("a policy with mistakes is reported, and stays as it is", async () => {
  const text = "organization: acme\naccess: { /: { viewer: [a] } }\n";
  writeFileSync("p.yaml", text);
  expect(await unused("90d", "--write", "p.yaml")).toEqual(
    failure(1, /^irm access: p\.yaml:2:25: access\.\/\.viewer\[0\]: there is no identity a/),
  );
  expect(readFileSync("p.yaml", "utf8")).toBe(text);
});
