// Mappings of external groups in native TypeScript, YAML and Python: created, imported, looked up, read, replaced and deleted.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { reviewOf } from "../harness/irm-command.ts";
import { createPythonProgram, createYamlProgram, withoutPython } from "../harness/language-program.ts";
import { onlyInSoak } from "../support/form.ts";

interface Values {
  organization: string;
  /** a mapping that somebody made by hand */
  legacy: string;
  /** its identity provider */
  holder: string;
  /** name of the built-in role of the mapping that the program makes */
  role: string;
  /** uid of the role of the other one */
  viewer: string;
}

interface Language {
  source(values: Values): string;
  /** A program without resources. With it, what is the same in every language is tested too. */
  empty?: string;
  create(place: Workplace, source: string): Promise<Program>;
}

const typescript = ({ organization, legacy, holder, role, viewer }: Values) => `
import {
  ExternalGroupRoleMapping, getExternalGroupRoleMapping, IdentityProvider, listExternalGroupRoleMappings,
} from "pulumi-irm/plugin";

const scope = "${organization}";
const oidc = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true };
const sso = new IdentityProvider("sso", { parent: scope, name: "sso", defaultRole: "viewer", oidc });
new ExternalGroupRoleMapping("sre", { parent: sso, externalGroupId: "SRE", role: "${role}", scope });
const old = { parent: "${holder}", externalGroupId: "Legacy", role: "${viewer}", scope };
new ExternalGroupRoleMapping("legacy", old, { import: "${legacy}" });
export const found = (await getExternalGroupRoleMapping({ uid: "${legacy}" })).externalGroupId;
export const listed: string[] = [];
for await (const one of listExternalGroupRoleMappings({ identityProviderUid: "${holder}" })) listed.push(one.uid);
`;

const yaml = ({ organization, legacy, holder, role, viewer }: Values) => `
resources:
  sso:
    type: irm:IdentityProvider
    properties:
      parent: ${organization}
      name: sso
      defaultRole: viewer
      oidc: { issuer: "https://login.acme.example", clientId: console, pkceEnabled: true }
  sre:
    type: irm:ExternalGroupRoleMapping
    properties: { parent: "\${sso.uid}", externalGroupId: SRE, role: ${role}, scope: ${organization} }
  legacy:
    type: irm:ExternalGroupRoleMapping
    properties: { parent: "${holder}", externalGroupId: Legacy, role: ${viewer}, scope: ${organization} }
    options: { import: "${legacy}" }
variables:
  own:
    fn::invoke: { function: irm:getExternalGroupRoleMapping, arguments: { uid: "${legacy}" } }
  all:
    fn::invoke: { function: irm:listExternalGroupRoleMappings, arguments: { identityProviderUid: "${holder}" } }
outputs:
  found: \${own.externalGroupId}
  listed: ["\${all.externalGroupRoleMappings[0].uid}"]
`;

const python = ({ organization, legacy, holder, role, viewer }: Values) => `
import pulumi
import pulumi_irm as irm

scope = "${organization}"
oidc = {"issuer": "https://login.acme.example", "client_id": "console", "pkce_enabled": True}
sso = irm.IdentityProvider("sso", parent=scope, name="sso", default_role="viewer", oidc=oidc)
irm.ExternalGroupRoleMapping("sre", parent=sso.uid, external_group_id="SRE", role="${role}", scope=scope)
irm.ExternalGroupRoleMapping(
    "legacy",
    parent="${holder}",
    external_group_id="Legacy",
    role="${viewer}",
    scope=scope,
    opts=pulumi.ResourceOptions(import_="${legacy}"),
)
pulumi.export("found", irm.get_external_group_role_mapping(uid="${legacy}").external_group_id)
listed = irm.list_external_group_role_mappings(identity_provider_uid="${holder}").external_group_role_mappings
pulumi.export("listed", [one.uid for one in listed])
`;

const life =
  ({ source, empty, create }: Language) =>
  () => {
    let place: Workplace;
    let program: Program;
    let values: Values;
    beforeAll(async () => {
      place = await createWorkplace();
      const { organization } = place.server;
      const [viewer] = place.rows("roles", "name = ?", "viewer");
      const createRecord = async (path: string, record: object) =>
        (await place.call("POST", `/iam/v2beta1/${path}`, record)).json.uid as string;
      const oidc = { issuer: "https://old.acme.example", clientId: "console", pkceEnabled: true };
      const provider = { name: "old", defaultRole: viewer?.uid, oidc };
      const holder = await createRecord(`identityProviders/${organization}`, provider);
      const mapping = { externalGroupId: "Legacy", roleUid: viewer?.uid, scope: organization };
      const legacy = await createRecord(`externalGroupRoleMappings/${holder}`, mapping);
      values = { organization, legacy, holder, role: "viewer", viewer: viewer?.uid as string };
      program = await create(place, source(values));
      await place.server.takeRequests();
    });
    afterAll(() => place.close());

    const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation);
    const mappings = () => place.rows("external_group_role_mappings", "external_group_id = 'SRE'");
    const roleNamed = (name: string) => place.rows("roles", "name = ?", name)[0]?.uid;

    it("is created, another one is imported and looked up, and a read changes nothing", async () => {
      const { output } = await program.must("up", "--yes", "--skip-preview");
      expect(output).toMatch(/legacy\s+imported/);
      expect(await writes()).toEqual(["CreateIdentityProvider", "CreateExternalGroupRoleMapping"]);
      const [sso] = place.rows("identity_providers", "name = 'sso'");
      expect(mappings()).toMatchObject([
        { parent: sso?.uid, role_uid: roleNamed("viewer"), scope: values.organization },
      ]);
      const { resources } = program.state();
      const storedMapping = (name: string) =>
        resources.find(({ urn }) => urn.endsWith(`ExternalGroupRoleMapping::${name}`));
      expect(resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs).toEqual({
        found: "Legacy",
        listed: [values.legacy],
      });
      expect(storedMapping("sre")).toMatchObject({
        id: mappings()[0]?.uid,
        outputs: { externalGroupId: "SRE", identityProviderUid: sso?.uid, scope: values.organization },
      });
      expect(storedMapping("legacy")?.id).toBe(values.legacy);
      await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
      expect(await writes()).toEqual([]);
    });

    it("is replaced for another role, the new one before the old one", async () => {
      program.write(source({ ...values, role: "editor" }));
      const preview = await program.must("preview", "--json");
      const { steps } = JSON.parse(preview.stdout) as {
        steps: { op: string; urn: string; replaceReasons?: string[] }[];
      };
      expect(steps.filter(({ op }) => op === "replace")).toMatchObject([
        { urn: expect.stringMatching(/::sre$/), replaceReasons: ["role"] },
      ]);
      await program.must("up", "--yes", "--skip-preview");
      expect(await writes()).toEqual(["CreateExternalGroupRoleMapping", "DeleteExternalGroupRoleMapping"]);
      expect(mappings().map(({ role_uid }) => role_uid)).toEqual([roleNamed("editor")]);
    });

    if (empty !== undefined)
      it("is created again after it was removed by hand", async () => {
        await place.call("DELETE", `/iam/v2beta1/externalGroupRoleMappings/${mappings()[0]?.uid}`);
        await place.server.takeRequests();
        await program.must("up", "--refresh", "--yes", "--skip-preview");
        expect(await writes()).toEqual(["CreateExternalGroupRoleMapping"]);
        expect(mappings()).toHaveLength(1);
      });

    if (empty !== undefined)
      it("blocks the deletion of its identity provider where somebody else made it, and the review says so", async () => {
        const [sso] = place.rows("identity_providers", "name = 'sso'");
        const foreign = { externalGroupId: "Foreign", roleUid: roleNamed("viewer"), scope: values.organization };
        const { json } = await place.call("POST", `/iam/v2beta1/externalGroupRoleMappings/${sso?.uid}`, foreign);
        program.write(empty);
        const { code, stdout, stderr } = await reviewOf(program, ["--format", "json"]);
        expect(code, stderr).toBe(3);
        const failed = Report.parse(JSON.parse(stdout)).steps.filter(({ ok }) => !ok);
        expect(failed).toMatchObject([
          {
            op: "delete",
            urn: expect.stringMatching(/::sso$/),
            error: expect.stringContaining(`external group role mapping ${json.uid}`),
          },
        ]);
        const destroy = await program.run("destroy", "--yes", "--skip-preview");
        expect(destroy.code).not.toBe(0);
        expect(destroy.output).toContain("forceDestroy: true deletes them too");
        expect(destroy.output).toContain(`external group role mapping ${json.uid}`);
        expect(place.rows("identity_providers", "name = 'sso'")).toHaveLength(1);
        await place.call("DELETE", `/iam/v2beta1/externalGroupRoleMappings/${json.uid}`);
      });

    it("is gone after destroy, an imported one too, and the identity provider that nobody declares stays", async () => {
      await program.must("destroy", "--yes", "--skip-preview");
      expect(place.rows("external_group_role_mappings")).toEqual([]);
      expect(place.rows("identity_providers").map(({ uid }) => uid)).toEqual([values.holder]);
    });
  };

describe(
  "mappings of external groups in native TypeScript",
  life({
    source: typescript,
    empty: "export {};",
    create: (place, source) => place.program("external", source, {}, { plugin: inject("pluginFolder") }),
  }),
);
describe.skipIf(onlyInSoak)(
  `mappings of external groups in YAML${onlyInSoak}`,
  life({
    source: yaml,
    create: (place, source) => createYamlProgram(place, "external", source),
  }),
);
describe.skipIf(withoutPython || onlyInSoak)(
  `mappings of external groups in Python${withoutPython || onlyInSoak}`,
  life({ source: python, create: (place, source) => createPythonProgram(place, "external", source) }),
);
