// What a preview says beside the steps, of a program in YAML: the plugin sees no program, only one resource at a time.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Program, type Workplace } from "../../harness/engine-workplace.ts";
import { createYamlProgram } from "../../harness/language-program.ts";

const ISSUER = "https://token.actions.githubusercontent.com";
const SECRET = "for our eyes";

describe("a preview of a program in YAML", () => {
  let place: Workplace;
  let program: Program;
  /** of records that others have made, which the program gives as they are */
  let platform: string;
  let audit: string;
  let viewer: string;
  let binding: string;
  beforeAll(async () => {
    place = await createWorkplace();
    const createRecord = async (path: string, record: object) => {
      const { json } = await place.call("POST", `/iam/v2beta1/${path}`, record);
      return json.uid as string;
    };
    platform = await createRecord(`groups/${place.server.organization}`, { name: "platform" });
    const claimMatch = { issuer: ISSUER, subject: "repo:acme/audit:pull_request" };
    audit = await createRecord(`identities/${platform}`, { name: "audit", claimMatch });
    viewer = place.rows("roles", "name = ?", "viewer")[0]?.uid as string;
    binding = await createRecord(`roleBindings/${platform}`, { identityUid: audit, roleUid: viewer });
    program = await createYamlProgram(place, "sentences", source());
  });
  afterAll(() => place.close());

  const source = ({ owner = "acme", name = "ci", capabilities = "groups.list", pairs = "", further = "" } = {}) => `
resources:
  team:
    type: irm:Group
    properties: { parent: ${platform}, name: team }
  ci:
    type: irm:Identity
    properties:
      parent: \${team.uid}
      name: ${name}
      claimMatch: { issuer: "${ISSUER}", subject: "repo:${owner}/shop:pull_request" }
  hidden:
    type: irm:Identity
    properties:
      parent: \${team.uid}
      name: { fn::secret: ${SECRET} }
      claimMatch: { issuer: "${ISSUER}", subject: "repo:acme/other:pull_request" }
  custom:
    type: irm:Role
    properties: { parent: "\${team.uid}", name: custom, capabilities: [${capabilities}] }
  own:
    type: irm:RoleBinding
    properties: { parent: "\${team.uid}", identity: "\${ci.uid}", role: "\${custom.uid}" }
  all:
    type: irm:RoleBinding
    properties: { parent: ${place.server.organization}, identity: ${audit}, role: viewer }
  set:
    type: irm:RoleBindingSet
    properties:
      parent: ${platform}
      bindings:
        - { identity: ${audit}, role: ${viewer} }
        - { identity: "\${ci.uid}", role: editor }
${pairs}${further}`;

  const further = () => `  more:
    type: irm:RoleBinding
    properties: { parent: "\${team.uid}", identity: "\${hidden.uid}", role: editor }
  nested:
    type: irm:Group
    properties: { parent: "\${team.uid}", name: tools }
  below:
    type: irm:RoleBinding
    properties: { parent: "\${nested.uid}", identity: ${audit}, role: editor }
`;

  const previewMessages = async (...options: string[]): Promise<string[]> => {
    const { stdout } = await program.must("preview", "--json", ...options);
    const { diagnostics = [] } = JSON.parse(stdout) as { diagnostics?: { message: string }[] };
    return diagnostics.map(({ message }) => message.trim()).sort();
  };
  const workload = (subject: string) => `a workload whose token has issuer "${ISSUER}" and subject "${subject}"`;

  it("that creates says who can assume what, and names what it gives by a uid that is known", async () => {
    expect(await previewMessages()).toEqual([
      `Identity ci is new: ${workload("repo:acme/shop:pull_request")} can assume it`,
      `Identity hidden is new: ${workload("repo:acme/other:pull_request")} can assume it`,
      "Role custom is new: it grants groups.list",
      'RoleBinding all is new: identity "audit", role "viewer", group "dev"',
      "RoleBinding own is new: identity (not known yet), role (not known yet), group (not known yet)",
      `RoleBindingSet set is new:\n  - takes over "audit" as "viewer", role binding ${binding}\n  - adds (not known yet) as "editor"`,
    ]);
  });

  it("that changes says what was before, and shows no name that is secret", async () => {
    const first = await program.must("up", "--yes", "--skip-preview");
    for (const sentence of [
      `Identity ci is new: ${workload("repo:acme/shop:pull_request")}`,
      "RoleBindingSet set is new:",
    ])
      expect(first.output).toContain(sentence);
    const taken = await place.call("POST", `/iam/v2beta1/roleBindings/${platform}`, {
      identityUid: audit,
      roleUid: place.rows("roles", "name = ?", "owner")[0]?.uid,
    });
    const pairs = `        - { identity: ${audit}, role: owner }\n        - { identity: ${audit}, role: "\${custom.uid}" }\n`;
    program.write(
      source({ owner: "evil", name: "cd", capabilities: "repo.list, repo.create", pairs, further: further() }),
    );
    expect(await previewMessages()).toEqual([
      [
        "Identity ci changes:",
        'name "ci" becomes "cd"',
        `who can assume it, before: ${workload("repo:»acme«/shop:pull_request")}`,
        `who can assume it, after: ${workload("repo:»evil«/shop:pull_request")}`,
      ].join("\n  - "),
      "Role custom changes:\n  - gains repo.create, repo.list\n  - loses groups.list",
      'RoleBinding below is new: identity "audit", role "editor", group (not known yet)',
      'RoleBinding more is new: identity [secret], role "editor", group "platform/team"',
      [
        "RoleBindingSet set changes:",
        `takes over "audit" as "owner", role binding ${taken.json.uid}`,
        'adds "audit" as "custom"',
      ].join("\n  - "),
    ]);
  });

  it("of some of its resources shows uids: which names are secret is not known", async () => {
    const uid = place.rows("identities", "name = ?", SECRET)[0]?.uid;
    const team = place.rows("groups", "name = ?", "team")[0]?.uid;
    expect(await previewMessages("--target", "**::more")).toEqual([
      `RoleBinding more is new: identity ${uid}, role "editor", group ${team}`,
    ]);
  });

  it("is not repeated by the update after it, which says what it does, and what it knows now", async () => {
    const pairs = `        - { identity: ${audit}, role: owner }\n`;
    program.write(
      source({ owner: "evil", name: "cd", capabilities: "repo.list, repo.create", pairs, further: further() }),
    );
    const { output } = await program.must("up", "--yes");
    const [, preview = "", update = ""] = output.split(/^(?:Previewing update|Updating) \(/m);
    const sentences = [
      "Identity ci changes:",
      "Role custom changes:",
      'RoleBinding below is new: identity "audit", role "editor", group (not known yet)',
      "RoleBindingSet set changes:",
    ];
    for (const sentence of sentences) expect(preview).toContain(sentence);
    expect(update).not.toMatch(/(?<!below) is new:| changes:/);
    // The preview did not know its group.
    expect(update).toContain('RoleBinding below is new: identity "audit", role "editor", group "platform/team/tools"');
    expect(update).toContain("RoleBindingSet set: takes over");
  });
});
