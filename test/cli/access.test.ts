// `irm access`: who can do what at a real server, in each format, and what is wrong with a question.
import { expect, test, vi } from "vitest";
import { signInForEach } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { exactFailure, runIrm, success } from "../support/irm.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const { uid: release } = await api.actor("release", { role: publisher, at: registry, in: platform });
signInForEach(api);

const access = (...flags: string[]) => runIrm("access", ...flags);

test("prints where an identity can act, and through what, and as JSON the uids, the name of the role and the binding", async () => {
  expect(await access("--identity", "release")).toEqual(
    success(`Access of release in dev

release  in platform
  assumed by a workload whose token has issuer
    "${api.baseUrl}/dev-issuer" and subject "release"
  platform/registry  through publisher
      tag.create, repo.list

1 identity, 1 binding
`),
  );
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

// test/access/format/answer.test.ts has the forms.
test.each([
  ["markdown", "## Access at `platform/registry` in `dev`: `repo.list`\n"],
  ["html", "<title>Access at platform/registry in dev: repo.list</title>"],
])("prints the answer about a group and a capability as %s", async (format, text) => {
  const question = ["--group", "platform/registry", "--capability", "repo.list"];
  expect(await access(...question, "--format", format)).toEqual(success(expect.stringContaining(text)));
});

test("says what the caller cannot see", async () => {
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
  expect(await access("--identity", "relaese", "--group", "platfrom")).toEqual(
    exactFailure(
      1,
      'irm access: there is no identity "relaese"; did you mean release?\nthere is no group "platfrom"; did you mean platform?\n',
    ),
  );
});
