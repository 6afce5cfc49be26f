// `irm access`: who can do what at a real server, in each format, and what is wrong with a question.
import { expect, test, vi } from "vitest";
import { signInForEach } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { failure, runIrm } from "../support/irm.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const { uid: release } = await api.actor("release", { role: publisher, at: registry, in: platform });
signInForEach(api);

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

test("reports a missing address", async () => {
  vi.stubEnv("IRM_BASE_URL", "");
  expect(await access()).toEqual(failure(1, "IRM_BASE_URL"));
});
