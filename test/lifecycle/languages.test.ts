// The same program in TypeScript, with dynamic and with native resources, in YAML, in Python and in Go: the stored rows, what the engine
// says of each resource, and the requests that the server saw.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { withoutPlaceholders } from "../../client/placeholder-uid.ts";
import { GO_MODULE } from "../../plugin/schema/language.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type ProgramOptions, type Workplace } from "../harness/engine-workplace.ts";
import { reviewOf } from "../harness/irm-command.ts";
import {
  createGoProgram,
  createMovingProgram,
  createPythonProgram,
  createYamlProgram,
  withoutGo,
  withoutPython,
} from "../harness/language-program.ts";

const ISSUER = "https://token.actions.githubusercontent.com";

/** A program in the folder of a workplace that begins with these values, and what follows from its language. */
interface Language {
  source(organization: string, values: Values): string;
  create(place: Workplace, name: string, source: string): Promise<Program>;
  /** Whether the program computes which identity and which role a binding has. */
  computes?: true;
  /** Whether the engine says which property of a resource changes; it does of native resources. */
  properties: boolean;
}

interface Values {
  description: string;
  claim: Readonly<Record<string, string>>;
  capabilities: readonly string[];
  /** the group of the binding to a built-in role */
  bound: "sub" | "team";
  /** the built-in role of the other binding */
  role: string;
}

const before: Values = {
  description: "Builds things",
  claim: { subject: "repo:acme/app:ref:refs/heads/main" },
  capabilities: ["groups.list"],
  bound: "sub",
  role: "editor",
};
const after: Values = {
  description: "Builds everything",
  claim: { subjectPattern: "repo:acme/.*" },
  capabilities: ["groups.list", "repo.list"],
  bound: "team",
  role: "owner",
};

const yaml = (organization: string, { description, claim, capabilities, bound, role }: Values) => `
resources:
  team:
    type: irm:Group
    properties: { parent: ${organization}, name: team, description: ${description} }
  sub:
    type: irm:Group
    properties: { parent: "\${team.uid}", name: sub }
  ci:
    type: irm:Identity
    properties:
      parent: \${team.uid}
      name: ci
      claimMatch: ${JSON.stringify({ issuer: ISSUER, ...claim })}
  custom:
    type: irm:Role
    properties: { parent: "\${team.uid}", name: custom, capabilities: [${capabilities}] }
  built-in:
    type: irm:RoleBinding
    properties: { parent: "\${${bound}.uid}", identity: "\${ci.uid}", role: viewer }
  own:
    type: irm:RoleBinding
    properties: { parent: "\${sub.uid}", identity: "\${chosen.identity}", role: "\${chosen.role}" }
  other:
    type: irm:RoleBinding
    properties: { parent: "\${sub.uid}", identity: "\${ci.uid}", role: ${role} }
variables:
  viewer:
    fn::invoke: { function: irm:getRole, arguments: { name: viewer } }
  chosen:
    identity: { fn::select: [1, ["\${team.uid}", "\${ci.uid}"]] }
    role: { fn::select: [1, ["\${team.uid}", "\${custom.uid}"]] }
outputs: { viewer: "\${viewer.uid}" }
`;

const python = (organization: string, { description, claim, capabilities, bound, role }: Values) => `
import pulumi
import pulumi_irm as irm

team = irm.Group("team", parent="${organization}", name="team", description="${description}")
sub = irm.Group("sub", parent=team.uid, name="sub")
ci = irm.Identity("ci", parent=team.uid, name="ci", claim_match=${JSON.stringify({ issuer: ISSUER, ...snakeCase(claim) })})
custom = irm.Role("custom", parent=team.uid, name="custom", capabilities=${JSON.stringify(capabilities)})
irm.RoleBinding("built-in", parent=${bound}.uid, identity=ci.uid, role="viewer")
chosen = pulumi.Output.all(team.uid, ci.uid, custom.uid)
irm.RoleBinding("own", parent=sub.uid, identity=chosen.apply(lambda uids: uids[1]), role=chosen.apply(lambda uids: uids[2]))
irm.RoleBinding("other", parent=sub.uid, identity=ci.uid, role="${role}")
pulumi.export("viewer", irm.get_role(name="viewer").uid)
`;

const go = (organization: string, { description, claim, capabilities, bound, role }: Values) => `
package main

import (
	"${GO_MODULE}"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(program)
}

func program(ctx *pulumi.Context) error {
	organization := pulumi.String("${organization}")
	team, err := irm.NewGroup(ctx, "team", &irm.GroupArgs{
		Parent: organization, Name: pulumi.String("team"), Description: pulumi.String("${description}"),
	})
	if err != nil {
		return err
	}
	sub, err := irm.NewGroup(ctx, "sub", &irm.GroupArgs{Parent: team.Uid, Name: pulumi.String("sub")})
	if err != nil {
		return err
	}
	ci, err := irm.NewIdentity(ctx, "ci", &irm.IdentityArgs{
		Parent: team.Uid, Name: pulumi.String("ci"),
		ClaimMatch: &irm.IdentityClaimMatchArgs{${goFields({ issuer: ISSUER, ...claim })}},
	})
	if err != nil {
		return err
	}
	custom, err := irm.NewRole(ctx, "custom", &irm.RoleArgs{
		Parent: team.Uid, Name: pulumi.String("custom"),
		Capabilities: pulumi.ToStringArray([]string{${capabilities.map((one) => JSON.stringify(one))}}),
	})
	if err != nil {
		return err
	}
	uids := pulumi.All(team.Uid, ci.Uid, custom.Uid)
	chosen := func(index int) pulumi.StringOutput {
		return uids.ApplyT(func(uids []any) string { return uids[index].(string) }).(pulumi.StringOutput)
	}
	bindings := map[string]*irm.RoleBindingArgs{
		"built-in": {Parent: ${bound}.Uid, Identity: ci.Uid, Role: pulumi.String("viewer")},
		"own":      {Parent: sub.Uid, Identity: chosen(1), Role: chosen(2)},
		"other":    {Parent: sub.Uid, Identity: ci.Uid, Role: pulumi.String("${role}")},
	}
	for name, args := range bindings {
		if _, err := irm.NewRoleBinding(ctx, name, args); err != nil {
			return err
		}
	}
	viewer, err := irm.LookupRole(ctx, &irm.LookupRoleArgs{Name: "viewer"})
	if err != nil {
		return err
	}
	ctx.Export("viewer", pulumi.String(viewer.Uid))
	return nil
}
`;

const goFields = (members: Readonly<Record<string, string>>) =>
  Object.entries(members).map(([name, value]) => {
    const field = name.replace(/^[a-z]/, (letter) => letter.toUpperCase());
    return `${field}: pulumi.String(${JSON.stringify(value)})`;
  });

const isBinding = /^(Batch)?CreateRoleBindings?$/;

const snakeCase = (members: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), value]),
  );

const typescript =
  (module: string) =>
  (organization: string, { description, claim, capabilities, bound, role }: Values) =>
    `
import { getRoleOutput, Group, Identity, Role, RoleBinding } from "${module}";

const team = new Group("team", { parent: "${organization}", name: "team", description: "${description}" });
const sub = new Group("sub", { parent: team, name: "sub" });
const claimMatch = ${JSON.stringify({ issuer: ISSUER, ...claim })};
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
const custom = new Role("custom", { parent: team, name: "custom", capabilities: ${JSON.stringify(capabilities)} });
new RoleBinding("built-in", { parent: ${bound}, identity: ci, role: "viewer" });
new RoleBinding("own", { parent: sub, identity: ci, role: custom });
new RoleBinding("other", { parent: sub, identity: ci, role: "${role}" });
export const viewer = getRoleOutput({ name: "viewer" }).uid;
`;

const life =
  ({ source, create, computes, properties }: Language) =>
  () => {
    let place: Workplace;
    let program: Program;
    beforeAll(async () => {
      place = await createWorkplace();
      program = await create(place, "languages", source(place.server.organization, before));
    });
    afterAll(() => place.close());

    const rowOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0];
    const writes = async () => writesOf(await place.server.takeRequests());
    const operations = async () => (await writes()).map(({ operation }) => operation).sort();
    /** What `--json` prints for each resource while a command runs. */
    const eventsOf = async (...args: string[]): Promise<Step[]> => {
      const { stdout } = await program.must(...args, "--yes", "--skip-preview", "--json");
      const events = stdout.split("\n").flatMap((line) => (line ? [JSON.parse(line) as EngineEvent] : []));
      return events.flatMap(({ resOutputsEvent }) => (resOutputsEvent ? [resOutputsEvent.metadata] : []));
    };

    if (computes)
      it("is reviewed before that: a computed value is the new record that it will be", async () => {
        const { code, stdout, stderr } = await reviewOf(program, ["--format", "json"]);
        expect(code, stderr).toBe(0);
        const { identities, unknown } = Report.parse(JSON.parse(stdout));
        expect(unknown).toEqual([]);
        const ci = identities.find(({ name }) => name === "ci");
        expect(ci?.gains).toContainEqual({
          group: null,
          groupName: "team/sub",
          capability: "groups.list",
          role: "custom",
        });
        expect(place.rows("groups", "name = 'team'")).toEqual([]);
        await writes();
      });

    it("creates each record once, and calls a function", async () => {
      await program.must("up", "--yes");
      const sent = await operations();
      const records = sent.filter((operation) => !isBinding.test(operation ?? ""));
      expect(records).toEqual(["CreateGroup", "CreateGroup", "CreateIdentity", "CreateRole"]);
      // Those of one group go in one request, if the engine creates them at the same time.
      expect(sent.length - records.length).toBeLessThanOrEqual(3);
      expect(place.rows("role_bindings", "uid LIKE ?", `${place.server.organization}/%/%`)).toHaveLength(3);
      const [team, sub, ci, custom] = [
        rowOf("groups", "team"),
        rowOf("groups", "sub"),
        rowOf("identities", "ci"),
        rowOf("roles", "custom"),
      ];
      expect(team).toMatchObject({ parent: place.server.organization, body: { description: before.description } });
      expect(sub?.parent).toBe(team?.uid);
      expect(ci?.body.claimMatch).toEqual({ issuer: ISSUER, ...before.claim });
      const [viewer = "", editor] = ["viewer", "editor"].map((name) => rowOf("roles", name)?.uid);
      const bindings = place.rows("role_bindings", "parent = ?", sub?.uid as string);
      expect(bindings.map(({ role_uid }) => role_uid).sort()).toEqual([viewer, editor, custom?.uid].sort());
      expect(new Set(bindings.map(({ identity_uid }) => identity_uid))).toEqual(new Set([ci?.uid]));

      const { resources, text } = program.state();
      expect(resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs).toEqual({ viewer });
      const stored = resources.find(({ urn }) => urn.endsWith("Group::team"));
      expect(stored?.id).toBe(team?.uid);
      expect(stored?.outputs).toMatchObject({
        uid: team?.uid,
        name: "team",
        description: before.description,
        verified: false,
        resourceLimits: {},
      });
      expect(withoutPlaceholders(text), "no uid of the preview is in the state").toBe(text);
      expect(text).not.toContain("eyJ");
      expect(text).not.toContain(place.server.token);
    });

    it("is not changed by an up that reads the records first", async () => {
      await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
      expect(await writes()).toEqual([]);
    });

    it("previews each change, and sends one PATCH or one replacement for a resource", async () => {
      program.write(source(place.server.organization, after));
      const { steps } = JSON.parse((await program.must("preview", "--json")).stdout) as { steps: Step[] };
      expect(operationsIn(steps)).toEqual({
        team: "update",
        ci: "update",
        custom: "update",
        "built-in": "replace",
        other: "update",
      });
      const changes = {
        "team description": "update",
        "ci claimMatch.subject": "delete",
        "ci claimMatch.subjectPattern": "add",
        "custom capabilities[1]": "add",
        "built-in parent": "update-replace",
        "other role": "update",
      };
      expect(changesIn(steps)).toEqual(properties ? changes : {});
      expect(await writes()).toEqual([]);

      await program.must("up", "--yes", "--skip-preview");
      const sent = (await writes()).map(({ operation, query }) => [operation, query?.updateMask]);
      expect(sent.sort()).toEqual([
        ["CreateRoleBinding", undefined],
        ["DeleteRoleBinding", undefined],
        ["UpdateGroup", "description"],
        ["UpdateIdentity", "claimMatch.subject,claimMatch.subjectPattern"],
        ["UpdateRole", "capabilities"],
        ["UpdateRoleBinding", "roleUid"],
      ]);
      expect(rowOf("identities", "ci")?.body.claimMatch).toEqual({ issuer: ISSUER, ...after.claim });
      expect(rowOf("roles", "custom")?.body.capabilities).toEqual(["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"]);
      const team = rowOf("groups", "team")?.uid as string;
      expect(place.rows("role_bindings", "parent = ?", team)).toHaveLength(1);
    });

    it("shows a change by hand in the JSON of a refresh, and the next up repairs it", async () => {
      const path = `/iam/v2beta1/groups/${rowOf("groups", "team")?.uid}?updateMask=description`;
      expect((await place.call("PATCH", path, { description: "by hand" })).status).toBe(200);
      const refreshed = await eventsOf("refresh");
      expect(refreshed.filter(({ op }) => op !== "same")).toMatchObject([
        {
          op: "update",
          urn: expect.stringMatching(/Group::team$/),
          old: { outputs: { description: after.description } },
          new: { outputs: { description: "by hand" } },
        },
      ]);
      await place.server.takeRequests();
      const repair = await eventsOf("up");
      expect(operationsIn(repair)).toEqual({ team: "update" });
      expect(changesIn(repair)).toEqual(properties ? { "team description": "update" } : {});
      expect(await operations()).toEqual(["UpdateGroup"]);
      expect(rowOf("groups", "team")?.body.description).toBe(after.description);
    });

    it("is destroyed, and nothing else is", async () => {
      await program.must("destroy", "--yes", "--skip-preview");
      expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
      expect(place.rows("role_bindings")).toHaveLength(1);
      expect(place.rows("identities", "parent IS NOT NULL").map(({ uid }) => uid)).toEqual([place.server.identity]);
      expect(place.rows("roles", "parent IS NOT NULL")).toEqual([]);
    });
  };

const createProgram = (options: ProgramOptions) => (place: Workplace, name: string, source: string) =>
  place.program(name, source, {}, options);

describe(
  "a program in TypeScript with dynamic resources",
  life({ source: typescript("pulumi-irm"), create: createProgram({ ownProcess: true }), properties: false }),
);
describe(
  "a program in TypeScript with native resources",
  life({
    source: typescript("pulumi-irm/plugin"),
    create: createProgram({ plugin: inject("pluginFolder") }),
    properties: true,
  }),
);
describe("a program in YAML", life({ source: yaml, create: createYamlProgram, computes: true, properties: true }));
describe.skipIf(withoutPython)(
  `a program in Python${withoutPython}`,
  life({ source: python, create: createPythonProgram, computes: true, properties: true }),
);

describe.skipIf(withoutGo)(
  `a program in Go${withoutGo}`,
  life({ source: go, create: createGoProgram, computes: true, properties: true }),
);

describe("a stack of a TypeScript program with dynamic resources", () => {
  let place: Workplace;
  let program: Awaited<ReturnType<typeof createMovingProgram>>;
  beforeAll(async () => {
    place = await createWorkplace();
    const source = typescript("pulumi-irm")(place.server.organization, before);
    program = await createMovingProgram(place, "languages", source);
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });
  afterAll(() => place.close());

  // The classes of TypeScript derive the output `parent`, so the state has none. Any other language reads it there.
  it("stores the outputs that the same program in YAML reads, and sends nothing", async () => {
    await program.continueIn("yaml", yaml(place.server.organization, before));
    const parents = () => program.state().resources.map(({ outputs }) => outputs?.parent);
    expect(parents().filter((parent) => parent !== undefined)).toEqual([]);
    const { output } = await program.commandLine.must("up", "--yes");
    expect(output).not.toMatch(/^ {4}[+-]|created|deleted|replaced/m);
    expect(output).toMatch(/ [1-9]\d* updated/);
    expect(parents().filter((parent) => parent !== undefined)).not.toEqual([]);
    await program.commandLine.must("preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });
  it.skipIf(withoutPython)(`is not changed by the same program in Python after that${withoutPython}`, async () => {
    await program.continueIn("python", python(place.server.organization, before));
    await program.commandLine.must("preview", "--expect-no-changes");
    await program.commandLine.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });
  it.skipIf(withoutGo)(`is not changed by the same program in Go after that${withoutGo}`, async () => {
    await program.continueIn("go", go(place.server.organization, before));
    await program.commandLine.must("preview", "--expect-no-changes");
    await program.commandLine.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });
});

interface Step {
  op: string;
  urn: string;
  /** its kind is `kind` in a preview, and `diffKind` in an event */
  detailedDiff: Record<string, { kind?: string; diffKind?: string }> | null;
}

interface EngineEvent {
  resOutputsEvent?: { metadata: Step };
}

const nameIn = (urn: string): string => urn.replace(/^.*::/, "");

/** Name of a resource: what is done with it. */
const operationsIn = (steps: readonly Step[]): Record<string, string> =>
  Object.fromEntries(steps.flatMap(({ urn, op }) => (op === "same" ? [] : [[nameIn(urn), op]])));

/** `name path`: kind of the change. */
const changesIn = (steps: readonly Step[]): Record<string, string | undefined> =>
  Object.fromEntries(
    steps.flatMap(({ urn, detailedDiff }) =>
      Object.entries(detailedDiff ?? {}).map(([path, own]) => [`${nameIn(urn)} ${path}`, own.kind ?? own.diffKind]),
    ),
  );
