// `irm access`: who can do what at a real server, in each format, and what is wrong with a question.
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { startTeam } from "../harness/team.ts";
import { runIrm } from "../support/irm.ts";

const team = await startTeam();
const { api, platform, registry, reader } = team;
const release: string = (await api.actor("release", { role: team.publisher, at: registry, in: platform })).uid;
beforeEach(() => {
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  return () => vi.unstubAllEnvs();
});
afterAll(() => api.close());

const access = (...flags: string[]) => runIrm("access", ...flags);

test("prints where an identity can act, and through what", async () => {
  expect(await access("--identity", "release")).toEqual({
    code: 0,
    stdout: `Access of release in dev

release  in platform
  assumed by a workload whose token has issuer
    "${api.baseUrl}/dev-issuer" and subject "release"
  platform/registry  through publisher
      tag.create, repo.list

1 identity, 1 binding
`,
    stderr: "",
  });
});

test("prints who can act at a group, also through bindings above", async () => {
  const { stdout } = await access("--group", "platform/registry", "--capability", "repo.list");
  expect(stdout.replaceAll(/^ {2}assumed by .*\n( {4}.*\n)*/gm, "")).toBe(`Access at platform/registry in dev: repo.list

owner  in /
  /  through owner

reader  in /
  platform/registry  through viewer

release  in platform
  platform/registry  through publisher

3 identities, 3 bindings
`);
});

test("prints JSON: uids, the name of the role, and the binding", async () => {
  const { stdout } = await access("--identity", release, "--format", "json");
  const grant = { identity: release, group: registry, role: "publisher" };
  const { identities, ...others } = JSON.parse(stdout);
  expect(identities).toMatchObject([
    { identity: release, name: "release", group: platform, assumable: { claimMatch: { subject: "release" } } },
  ]);
  expect(others).toEqual({
    grants: [
      { ...grant, capability: "tag.create", binding: expect.stringMatching(`^${registry}/`) },
      { ...grant, capability: "repo.list", binding: expect.stringMatching(`^${registry}/`) },
    ],
    unknown: [],
    people: [],
    notVisible: [],
  });
});

test("prints Markdown", async () => {
  expect(
    (await access("--identity", "release", "--format", "markdown")).stdout,
  ).toBe(`## Access of \`release\` in \`dev\`

<details open><summary><code>release</code>  in <code>platform</code></summary>

- assumed by \`a workload whose token has issuer "${api.baseUrl}/dev-issuer" and subject "release"\`
- \`platform/registry\`  through \`publisher\`: \`tag.create\`, \`repo.list\`

</details>

<sub>1 identity, 1 binding</sub>
`);
});

test("prints a page", async () => {
  const { code, stdout } = await access("--group", "/", "--format", "html");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^<!doctype html>\n/);
  expect(stdout).toContain("<title>Access at / in dev</title>");
  expect(stdout).toContain('through <b><bdi class="path">owner</bdi></b>');
});

test("says what the caller cannot see, in each format", async () => {
  vi.stubEnv("IRM_TOKEN", reader.token);
  const text = (await access("--identity", "release")).stdout;
  expect(text).toContain("/registry  through publisher  (unknown: the role cannot be read)");
  expect(text).toContain("Not visible to you, so access may be missing here\n- groups of /, ");
  const { grants, unknown, notVisible } = JSON.parse(
    (await access("--identity", "release", "--format", "json")).stdout,
  );
  expect(grants).toEqual([]);
  expect(unknown).toEqual([
    {
      identity: release,
      group: registry,
      role: "publisher",
      binding: expect.stringMatching(`^${registry}/`),
      message: "the capabilities of role publisher cannot be read: roles.list is needed where it is defined",
    },
  ]);
  expect(notVisible).toHaveLength(12);
  for (const format of ["markdown", "html"])
    expect((await access("--identity", "release", "--format", format)).stdout).toContain(
      "so access may be missing here",
    );
});

test("reports all unknown names at once, with exit code 1 and nothing on stdout", async () => {
  expect(await access("--identity", "relaese", "--group", "platfrom")).toEqual({
    code: 1,
    stdout: "",
    stderr:
      'irm access: there is no identity "relaese"; did you mean release?\nthere is no group "platfrom"; did you mean platform?\n',
  });
});

test.each([
  [["--capability", "tag.craete"], '--capability: there is no capability "tag.craete"; did you mean tag.create'],
  [
    ["--format", "htm"],
    "option '--format <FORMAT>' argument 'htm' is invalid. Allowed choices are terminal, markdown, json, html.",
  ],
])("%j is a usage error with the nearest, before any request", async (flags, sentence) => {
  vi.stubEnv("IRM_TOKEN", "");
  const { code, stdout, stderr } = await access(...flags);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`irm access: ${sentence}`);
  expect(stderr).toMatch(/\nRun `npx pulumi-irm access --help`.\n$/);
});

test("reports a missing address", async () => {
  vi.stubEnv("IRM_BASE_URL", "");
  const { code, stderr } = await access();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("IRM_BASE_URL") });
});
