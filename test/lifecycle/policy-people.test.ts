// The people of a policy through a real engine, in both forms: the mappings of external groups are created, reviewed, repaired, changed,
// adopted by another stack and deleted. The identity provider is somebody else's, and never changes.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { reviewOf } from "../harness/irm-command.ts";
import { formsOf } from "../support/form.ts";

const oidc = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true, groupsClaim: "groups" };

describe.each(formsOf(["dynamic", "pulumi-irm"], ["native", "pulumi-irm/plugin"]))(
  "the people of a policy of %s resources",
  (form, module) => {
    let place: Workplace;
    let program: Program;
    let sso: string;
    const source = (people: object, further = "", can = ["groups.list"]) => `
import { AccessPolicy, IdentityProvider } from "${module}";
const uid = "${place.server.organization}";
new AccessPolicy("acme", {
  policy: { organization: { uid }, roles: { auditor: { can: ${JSON.stringify(can)} } }, people: ${JSON.stringify(people)} },
  ${further}
});
`;
    const first = { "acme-sso": { externalGroups: { "/SRE": ["owner"], Audit: ["auditor", "viewer"] } } };
    const options = { ...(form === "native" && { plugin: inject("pluginFolder") }) };
    beforeAll(async () => {
      place = await createWorkplace();
      const [viewer] = place.rows("roles", "name = ?", "viewer");
      const record = { name: "acme-sso", defaultRole: viewer?.uid, oidc };
      const { json } = await place.call("POST", `/iam/v2beta1/identityProviders/${place.server.organization}`, record);
      sso = json.uid as string;
      program = await place.program("people", source(first), {}, options);
      await place.server.takeRequests();
    });
    afterAll(() => place.close());

    const writes = async () =>
      writesOf(await place.server.takeRequests())
        .map(({ operation }) => operation)
        .sort();
    const mappings = () => {
      const names = new Map(place.rows("roles").map(({ uid, name }) => [uid, name]));
      return place
        .rows("external_group_role_mappings", "parent = ?", sso)
        .map(({ external_group_id, role_uid }) => `${external_group_id} ${names.get(role_uid as string)}`)
        .sort();
    };
    const review = async () => {
      const { stdout, stderr } = await reviewOf(program, ["--format", "json"]);
      const { people, unknown, findings } = Report.parse(JSON.parse(stdout || stderr));
      expect(unknown).toEqual([]);
      const shown = people.map(({ subject, gains, losses }) => [subject, gains.length > 0, losses.length > 0]);
      return { shown, found: findings.map(({ rule, subject }) => `${rule} ${subject}`) };
    };

    it("is refused for a name that no identity provider of the organization has", async () => {
      program.write(source({ "acme-soo": { externalGroups: { "/SRE": ["owner"] } } }));
      const preview = await program.run("preview");
      expect(preview.code).not.toBe(0);
      const problem = `people.acme-soo: the organization ${place.server.organization} has no identity provider of this name`;
      expect(preview.output).toContain(`AccessPolicy acme: ${problem}; did you mean acme-sso?`);
      program.write(source(first).replace("organization: { uid }", 'organization: "acme-new"'));
      expect((await program.run("preview")).output).toContain(
        "people.acme-sso: this run creates the organization, so it has no identity provider yet; add people once it has one",
      );
      expect(await writes()).toEqual([]);
    });

    it("is reviewed: who gains what by which external group, through a role that is new too", async () => {
      program.write(source(first));
      const { shown, found } = await review();
      expect(shown).toEqual([
        ["external group /SRE of acme-sso", true, false],
        ["external group Audit of acme-sso", true, false],
      ]);
      expect(found).toContain("gains-owner external group /SRE of acme-sso");
      expect(await writes()).toEqual([]);
    });

    it("is created, one mapping for each role of each external group", async () => {
      await program.must("up", "--yes", "--skip-preview");
      const mapping = "CreateExternalGroupRoleMapping";
      expect(await writes()).toEqual([mapping, mapping, mapping, "CreateRole"]);
      expect(mappings()).toEqual(["/SRE owner", "Audit auditor", "Audit viewer"]);
      await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
      expect(await writes()).toEqual([]);
    });

    // The classes of both forms decide these alike.
    if (form === "dynamic") {
      it("is created again where somebody removed it, and the review says so", async () => {
        const [sre] = place.rows("external_group_role_mappings", "external_group_id = ?", "/SRE");
        await place.call("DELETE", `/iam/v2beta1/externalGroupRoleMappings/${sre?.uid}`);
        await place.server.takeRequests();
        const { shown } = await review();
        expect(shown).toEqual([["external group /SRE of acme-sso", true, false]]);
        await program.must("up", "--refresh", "--yes", "--skip-preview");
        expect(await writes()).toEqual(["CreateExternalGroupRoleMapping"]);
        expect(mappings()).toContain("/SRE owner");
      });

      it("follows the policy: a role of a group ends, and another begins", async () => {
        program.write(source({ "acme-sso": { externalGroups: { "/SRE": ["viewer"], Audit: ["auditor", "viewer"] } } }));
        const { shown } = await review();
        expect(shown).toEqual([["external group /SRE of acme-sso", false, true]]);
        await program.must("up", "--yes", "--skip-preview");
        expect(await writes()).toEqual(["CreateExternalGroupRoleMapping", "DeleteExternalGroupRoleMapping"]);
        expect(mappings()).toEqual(["/SRE viewer", "Audit auditor", "Audit viewer"]);
      });

      it('is adopted by another stack with adopt: "match", which leaves it in place in the end', async () => {
        const people = { "acme-sso": { externalGroups: { Audit: ["auditor"], New: ["viewer"] } } };
        const other = await place.program("adopting", source(people, 'adopt: "match"'), {}, options);
        await other.must("preview");
        const lists = (await place.server.takeRequests()).filter(
          ({ operation }) => operation === "ListIdentityProviders",
        );
        // One answers both: which mappings exist, and the uid of the identity provider.
        expect(lists).toHaveLength(1);
        const { output } = await other.must("up", "--yes");
        const [preview = ""] = output.split("Updating (dev)");
        const uid = place.rows("external_group_role_mappings", "external_group_id = ?", "Audit").map((one) => one.uid);
        const taken = uid.filter((one) => preview.includes(`takes over external group role mapping ${one}`));
        expect(taken, preview).toHaveLength(1);
        expect(output).not.toContain("changes on external");
        expect(await writes()).toEqual(["CreateExternalGroupRoleMapping"]);
        await other.must("destroy", "--yes", "--skip-preview");
        expect(await writes()).toEqual(["DeleteExternalGroupRoleMapping"]);
        expect(mappings()).toEqual(["/SRE viewer", "Audit auditor", "Audit viewer"]);
      });
    }

    it("takes an identity provider of the same program, which the same update creates", async () => {
      const own = `{ parent: "${place.server.organization}", name: "own", defaultRole: "viewer", oidc: ${JSON.stringify(oidc)} }`;
      const people = { own: { externalGroups: { Dev: ["viewer"] } } };
      program.write(source(people, `identityProviders: { own: new IdentityProvider("own", ${own}) },`));
      const { shown } = await review();
      expect(shown).toContainEqual(["external group Dev of own", true, false]);
      await program.must("up", "--yes", "--skip-preview");
      expect(mappings()).toEqual([]);
      const [provider] = place.rows("identity_providers", "name = ?", "own");
      const [dev] = place.rows("external_group_role_mappings");
      expect([dev?.parent, dev?.external_group_id]).toEqual([provider?.uid, "Dev"]);
    });

    it("is destroyed, and the identity provider that it does not create stays as it was", async () => {
      await place.server.takeRequests();
      await program.must("destroy", "--yes", "--skip-preview");
      expect(place.rows("external_group_role_mappings")).toEqual([]);
      expect(await writes()).not.toContain("UpdateIdentityProvider");
      expect(place.rows("identity_providers").map(({ uid }) => uid)).toEqual([sso]);
    });
  },
);
