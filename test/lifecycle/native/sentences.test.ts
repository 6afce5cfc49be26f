// What a preview says beside the steps, of a program in YAML: the plugin sees no program, only one resource at a time. And what it says
// while the service is down.
import { beforeAll, describe, expect, it } from "vitest";
import type { Program } from "../../harness/engine-workplace.ts";
import { createYamlProgram } from "../../harness/language-program.ts";
import { countOf, diagnosticsOf } from "../../support/diagnostics.ts";
import { openWorkplace } from "../place.ts";

const ISSUER = "https://token.actions.githubusercontent.com";
const SECRET = "for our eyes";

describe("a preview of a program in YAML", () => {
  const place = openWorkplace();
  let program: Program;
  /** of records that others have made, which the program gives as they are */
  let platform: string;
  let audit: string;
  let viewer: string;
  let binding: string;
  beforeAll(async () => {
    platform = await place.create(`groups/${place.server.organization}`, { name: "platform" });
    const claimMatch = { issuer: ISSUER, subject: "repo:acme/audit:pull_request" };
    audit = await place.create(`identities/${platform}`, { name: "audit", claimMatch });
    viewer = place.rows("roles", "name = ?", "viewer")[0]?.uid as string;
    binding = await place.create(`roleBindings/${platform}`, { identityUid: audit, roleUid: viewer });
    program = await createYamlProgram(place, "sentences", source());
  });

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

  const sentencesOf = async (...options: string[]): Promise<string[]> => {
    const { stdout } = await program.must("preview", "--json", ...options);
    const { diagnostics = [] } = JSON.parse(stdout) as { diagnostics?: { message: string }[] };
    return diagnostics.map(({ message }) => message.trim()).sort();
  };
  const workload = (subject: string) => `a workload whose token has issuer "${ISSUER}" and subject "${subject}"`;

  it("that creates says who can assume what, and names what it gives by a uid that is known", async () => {
    expect(await sentencesOf()).toEqual([
      `Identity ci is new: ${workload("repo:acme/shop:pull_request")} can assume it`,
      `Identity hidden is new: ${workload("repo:acme/other:pull_request")} can assume it`,
      "Role custom is new: it grants groups.list",
      'RoleBinding all is new: identity "audit", role "viewer", group "dev"',
      "RoleBinding own is new: identity (not known yet), role (not known yet), group (not known yet)",
      `RoleBindingSet set is new:\n  - takes over "audit" as "viewer", role binding ${binding}\n  - adds (not known yet) as "editor"`,
    ]);
    await program.must("up", "--yes", "--skip-preview");
  });

  it("that changes says what was before, and shows no name that is secret", async () => {
    const owner = { identityUid: audit, roleUid: place.uidOf("roles", "owner") };
    const taken = await place.create(`roleBindings/${platform}`, owner);
    const pairs = `        - { identity: ${audit}, role: owner }\n        - { identity: ${audit}, role: "\${custom.uid}" }\n`;
    program.write(
      source({ owner: "evil", name: "cd", capabilities: "repo.list, repo.create", pairs, further: further() }),
    );
    expect(await sentencesOf()).toEqual([
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
        `takes over "audit" as "owner", role binding ${taken}`,
        'adds "audit" as "custom"',
      ].join("\n  - "),
    ]);
  });

  it("of some of its resources shows uids: which names are secret is not known", async () => {
    const uid = place.rows("identities", "name = ?", SECRET)[0]?.uid;
    const team = place.rows("groups", "name = ?", "team")[0]?.uid;
    expect(await sentencesOf("--target", "**::more")).toEqual([
      `RoleBinding more is new: identity ${uid}, role "editor", group ${team}`,
    ]);
  });

  it("is not repeated by the update after it, which says what it does, and what it knows now", async () => {
    const pairs = `        - { identity: ${audit}, role: owner }\n`;
    program.write(
      source({ owner: "evil", name: "cd", capabilities: "repo.list, repo.create", pairs, further: further() }),
    );
    const { output } = await program.must("up", "--yes");
    const [, preview = "", updated = ""] = output.split(/^(?:Previewing update|Updating) \(/m);
    for (const kind of ["Identity ci", "Role custom", "RoleBindingSet set"])
      expect(preview).toContain(`${kind} changes:`);
    expect(preview).toContain('RoleBinding below is new: identity "audit", role "editor", group (not known yet)');
    expect(updated).not.toMatch(/(?<!below) is new:| changes:/);
    // The preview did not know its group.
    expect(updated).toContain('RoleBinding below is new: identity "audit", role "editor", group "platform/team/tools"');
    expect(updated).toContain("RoleBindingSet set: takes over");
  });

  // The engine tells a plugin only with the first step whether it is a preview.
  it("without the service warns once, and an up ends with one error and changes nothing", async () => {
    const groups = Array.from(
      { length: 12 },
      (_, i) => `  team ${i}:
    type: irm:Group
    properties: { parent: ${platform}, name: team ${i}${i === 1 ? ", adopt: match" : ""} }
`,
    );
    program.write(source({ owner: "evil", name: "cd", further: further() + groups.join("") }));
    const before = program.state().resources;
    await place.server.stop();

    const preview = await program.must("preview");
    const shown = diagnosticsOf(preview.output);
    for (const text of [
      "warning: the service is not asked, and this shows what is known without it: UNAVAILABLE:",
      "Is the service running, and is irm:baseUrl (or IRM_BASE_URL) its address?",
    ])
      expect(countOf(shown, text), shown).toBe(1);
    expect(preview.output).toMatch(/\+ 12 to create/);

    const up = await program.run("up", "--yes", "--skip-preview");
    const diagnostics = diagnosticsOf(up.output);
    expect(up.code).not.toBe(0);
    expect(diagnostics.match(/^ +error: (?!update failed)/gm), diagnostics).toHaveLength(1);
    expect(diagnostics).toContain("error: UNAVAILABLE: ");
    expect(diagnostics).not.toContain("failed for the same reason");
    expect(program.state().resources).toHaveLength(before.length);
  });
});
