// `irm export --into` at a real server: what it adds to a policy, what it leaves as it is, and what it refuses.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { IAM, startPlainServer } from "../harness/api-server.ts";
import { createByHand } from "../harness/by-hand.ts";
import { createUid } from "../harness/records.ts";
import { serveSignedIn, signIn } from "../harness/signed-in.ts";
import { failure, runIrm } from "../support/irm.ts";
import { useOwnFolder } from "../support/test-folder.ts";

const api = await serveSignedIn();
const made = await createByHand(api, api.organization);
const { name: acme } = await api.ok("GET", `${IAM}/groups/${api.organization}`);
useOwnFolder();

const into = (...flags: string[]) => runIrm("export", "--into", "access.yaml", ...flags);
const read = (file = "access.yaml") => readFileSync(file, "utf8");

test("adds what exists to a policy of two lines, with a file of uids, and a second run changes nothing", async () => {
  const first = `# ours\norganization: ${acme} # the company\n`;
  writeFileSync("access.yaml", first);
  const { code, stdout, stderr } = await into();
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect((await runIrm("check")).stderr).toMatch(/^access\.yaml has no mistakes: 8 groups, 7 identities, 1 role, /);
  const [text, uids] = [read(), read("adopt.json")];
  expect(text.startsWith(`${first}groups:\n`)).toBe(true);
  const { identities, access } = parse(text);
  expect(identities["platform-release"]).toEqual({
    in: "platform",
    name: "release",
    github: { repository: "acme/images", branch: "main" },
  });
  expect(access["platform/registry"]).toEqual({ publisher: ["platform-release"] });
  expect(JSON.parse(uids)).toMatchObject({
    groups: { "/": api.organization, platform: made.platform },
    identities: { "platform-release": made.release },
    roles: { publisher: made.publisher },
  });
  // What a policy has no word for is named, and so is each entry.
  expect(stderr).toContain('not added, a policy has no word for 2 repos: "Nginx_1", "mirror"\n');
  expect(stderr).toContain('not added, a policy has no word for 2 identity providers: "sso", "sso with secret"\n');
  expect(stderr).toContain(`not declared: role binding ${made.twin}: grants the same`);
  expect(stderr).toContain("\nadded 23 entries to access.yaml\n  groups.constructor\n  groups.constructor/registry\n");
  expect(stderr).toContain("\n  access.platform/registry.publisher: platform-release\n");
  expect(stderr).toMatch(
    /\nwrote adopt\.json: give it to AccessPolicy, adopt: \{ file: "adopt\.json" \}, or it creates these records again\n$/,
  );
  expect((await into()).stderr).toMatch(/\nadded 0 entries to access\.yaml\n$/);
  expect([read(), read("adopt.json")]).toEqual([text, uids]);
});

// test/access/export/into.test.ts adds any part of an organization to any other.
test("gives another key to what has the key of the policy, and takes an identity of the policy for that of its name", async () => {
  const text = `organization: ${acme}
groups: { platform: }
identities:
  cloud: { name: former, github: { repository: acme/former, branch: main } } # has left
  pusher: { name: release, in: platform, github: { repository: acme/images, branch: main } }
`;
  writeFileSync("access.yaml", text);
  expect((await into()).code).toBe(0);
  for (const line of text.split("\n").slice(2, -1)) expect(read()).toContain(line);
  const { identities, access } = parse(read());
  const [key = ""] = Object.keys(identities).filter((one) => identities[one].aws);
  expect(key).toMatch(/^cloud-[0-9a-f]{16}$/);
  expect(identities[key].name).toBe("cloud");
  expect(access.platform.viewer).toContain(key);
  expect(JSON.parse(read("adopt.json")).identities).toMatchObject({ pusher: made.release, [key]: expect.any(String) });
});

test("docs/export.md shows what its example prints", async () => {
  const page = readFileSync(new URL("../../docs/export.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## Add to a policy that you have\n");
  const [text = "", printed, after] = [...section.matchAll(/```(?:yaml)?\n(.*?)```\n/gs)].map(([, one = ""]) => one);
  const other = await startPlainServer("{ name: acme }");
  const root = (await other.ok("GET", `${IAM}/groups`)).groups as [{ uid: string }];
  const platform = await createUid(other, "groups", root[0].uid, { name: "platform" });
  const product = await createUid(other, "groups", root[0].uid, { name: "product" });
  const github = (repository: string) => ({
    issuer: "https://token.actions.githubusercontent.com",
    subject: `repo:acme@123456/${repository}:ref:refs/heads/main`,
  });
  const identity = (name: string, repository: string) =>
    createUid(other, "identities", platform, { name, claimMatch: github(repository) });
  const [release, nightly] = [await identity("release", "images@456789"), await identity("nightly", "nightly@456798")];
  const bind = async (group: string, identityUid: string, role: string) =>
    createUid(other, "roleBindings", group, { identityUid, roleUid: await other.role(role) });
  for (const one of [release, nightly]) await bind(platform, one, "registry.push");
  await bind(product, release, "viewer");
  await createUid(other, "repos", platform, { name: "nginx" });
  signIn(other);
  // Whoever runs it has an identity too.
  const own = {
    identities: "  root: { github: { repository: acme/x, branch: x } }\n",
    access: "  /: { owner: [root] }\n",
  };
  const withOwner = text.replace(/^(identities|access):\n/gm, (line, name: keyof typeof own) => line + own[name]);
  writeFileSync("access.yaml", withOwner);
  const { stderr } = await into();
  expect(`$ npx pulumi-irm export --into access.yaml\n${stderr}`).toBe(printed);
  expect(read().replace(own.identities, "").replace(own.access, "")).toBe(after);
});

test("--no-adopt writes no file of uids; what the caller cannot see is named, with exit code 3", async () => {
  const reader = await api.actor("reader", { role: "viewer", at: made.platform });
  writeFileSync("access.yaml", `organization: { uid: "${api.organization}" }\n`);
  vi.stubEnv("IRM_TOKEN", reader.token);
  const { code, stderr } = await into("--no-adopt");
  expect(code, stderr).toBe(3);
  expect(stderr).toContain(
    "not visible: identities of this group cannot be listed: identity.list is needed at it (/, ",
  );
  expect(Object.keys(parse(read()).groups)).toEqual(["platform"]);
  expect(existsSync("adopt.json")).toBe(false);
});

describe("refuses, and changes nothing:", () => {
  const stays = async (text: string, message: RegExp, ...flags: string[]) => {
    writeFileSync("access.yaml", text);
    expect(await into(...flags)).toEqual(failure(1, message));
    expect([read(), existsSync("adopt.json")]).toEqual([text, false]);
  };

  test("a policy with mistakes, before any request", async () => {
    vi.stubEnv("IRM_TOKEN", "");
    await stays(
      `organization: ${acme}\naccess: { /: { viewer: [a] } }\n`,
      /^irm export: access\.yaml:2:25: access\.\/\.viewer\[0\]: there is no identity a/,
    );
  });

  test("a policy of another organization", () =>
    stays(
      "organization: other\n",
      new RegExp(
        `^irm export: access\\.yaml is of the organization "other", which you cannot see; you can see these:\n  ${api.organization} "${acme}"\n$`,
      ),
    ));

  test("a name that several records have, with their uids", async () => {
    const twins = [
      await createUid(api, "groups", api.organization, { name: "twin" }),
      await createUid(api, "groups", api.organization, { name: "twin" }),
    ];
    await stays(
      `organization: ${acme}\ngroups: { twin: }\n`,
      /^irm export: access\.yaml:2:11: groups\.twin: the API has 2 groups of this name: \S+, \S+\nin adopt\.json, the uid of a key says which record it is\n$/,
    );
    writeFileSync("adopt.json", JSON.stringify({ groups: { twin: twins[1] } }));
    const { stderr } = await into();
    expect(stderr).toContain(
      `not added: group ${twins[0]} "twin": the policy would have a mistake: group twin has the same name in this group; choose another\n`,
    );
    for (const uid of twins) await api.ok("DELETE", `${IAM}/groups/${uid}`);
  });
});
