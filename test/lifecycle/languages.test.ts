// The same program in YAML and in Python through the native plugin: the stored rows, what the engine says of each property, and the
// requests that the server saw.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { createPythonProgram, createYamlProgram, withoutPython } from "../harness/language-program.ts";

const ISSUER = "https://token.actions.githubusercontent.com";

interface Values {
  description: string;
  subject: string;
  capabilities: readonly string[];
  bound: "sub" | "team";
}

const before: Values = {
  description: "Builds things",
  subject: "repo:acme/app",
  capabilities: ["groups.list"],
  bound: "sub",
};
const after: Values = {
  description: "Builds everything",
  subject: "repo:acme/all",
  capabilities: ["groups.list", "repo.list"],
  bound: "team",
};

const yaml = (organization: string, { description, subject, capabilities, bound }: Values) => `
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
      claimMatch: { issuer: "${ISSUER}", subject: "${subject}" }
  custom:
    type: irm:Role
    properties: { parent: "\${team.uid}", name: custom, capabilities: [${capabilities}] }
  built-in:
    type: irm:RoleBinding
    properties: { parent: "\${${bound}.uid}", identity: "\${ci.uid}", role: viewer }
  own:
    type: irm:RoleBinding
    properties: { parent: "\${sub.uid}", identity: "\${ci.uid}", role: "\${custom.uid}" }
variables:
  viewer:
    fn::invoke: { function: irm:getRole, arguments: { name: viewer } }
outputs: { viewer: "\${viewer.uid}" }
`;

const python = (organization: string, { description, subject, capabilities, bound }: Values) => `
import pulumi
import pulumi_irm as irm

team = irm.Group("team", parent="${organization}", name="team", description="${description}")
sub = irm.Group("sub", parent=team.uid, name="sub")
ci = irm.Identity("ci", parent=team.uid, name="ci", claim_match={"issuer": "${ISSUER}", "subject": "${subject}"})
custom = irm.Role("custom", parent=team.uid, name="custom", capabilities=${JSON.stringify(capabilities)})
irm.RoleBinding("built-in", parent=${bound}.uid, identity=ci.uid, role="viewer")
irm.RoleBinding("own", parent=sub.uid, identity=ci.uid, role=custom.uid)
pulumi.export("viewer", irm.get_role(name="viewer").uid)
`;

const life = (source: typeof yaml, create: typeof createYamlProgram) => () => {
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

  it("creates each record once, and calls a function", async () => {
    await program.must("up", "--yes", "--skip-preview");
    expect(await operations()).toEqual([
      "CreateGroup",
      "CreateGroup",
      "CreateIdentity",
      "CreateRole",
      "CreateRoleBinding",
      "CreateRoleBinding",
    ]);
    const [team, sub, ci, custom] = [
      rowOf("groups", "team"),
      rowOf("groups", "sub"),
      rowOf("identities", "ci"),
      rowOf("roles", "custom"),
    ];
    expect(team).toMatchObject({ parent: place.server.organization, body: { description: before.description } });
    expect(sub?.parent).toBe(team?.uid);
    expect(ci?.body.claimMatch).toEqual({ issuer: ISSUER, subject: before.subject });
    const { uid: viewer } = rowOf("roles", "viewer") as { uid: string };
    const bindings = place.rows("role_bindings", "parent = ?", sub?.uid as string);
    expect(bindings.map(({ role_uid }) => role_uid).sort()).toEqual([viewer, custom?.uid].sort());
    expect(bindings.map(({ identity_uid }) => identity_uid)).toEqual([ci?.uid, ci?.uid]);

    const { resources, text } = program.state();
    expect(resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs).toEqual({ viewer });
    expect(resources.find(({ urn }) => urn.endsWith("irm:index:Group::team"))?.id).toBe(team?.uid);
    expect(text).not.toContain("eyJ");
    expect(text).not.toContain(place.server.token);
  });

  it("is not changed by an up that reads the records first", async () => {
    await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
    expect(await writes()).toEqual([]);
  });

  it("previews each changed property, and sends one PATCH or one replacement for a resource", async () => {
    program.write(source(place.server.organization, after));
    const { steps } = JSON.parse((await program.must("preview", "--json")).stdout) as { steps: Step[] };
    expect(changesIn(steps)).toEqual({
      "team description": "update",
      "ci claimMatch.subject": "update",
      "custom capabilities[1]": "add",
      "built-in parent": "update-replace",
    });
    expect(await writes()).toEqual([]);

    await program.must("up", "--yes", "--skip-preview");
    const changes = (await writes()).map(({ operation, query }) => [operation, query?.updateMask]);
    expect(changes.sort()).toEqual([
      ["CreateRoleBinding", undefined],
      ["DeleteRoleBinding", undefined],
      ["UpdateGroup", "description"],
      ["UpdateIdentity", "claimMatch.subject"],
      ["UpdateRole", "capabilities"],
    ]);
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
    expect(changesIn(await eventsOf("up"))).toEqual({ "team description": "update" });
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

describe("a program in YAML", life(yaml, createYamlProgram));
describe.skipIf(withoutPython)(`a program in Python${withoutPython}`, life(python, createPythonProgram));

interface Step {
  op: string;
  urn: string;
  /** its kind is `kind` in a preview, and `diffKind` in an event */
  detailedDiff: Record<string, { kind?: string; diffKind?: string }> | null;
}

interface EngineEvent {
  resOutputsEvent?: { metadata: Step };
}

/** `name path`: kind of the change. */
const changesIn = (steps: readonly Step[]): Record<string, string | undefined> =>
  Object.fromEntries(
    steps.flatMap(({ urn, detailedDiff }) => {
      const name = urn.replace(/^.*::/, "");
      return Object.entries(detailedDiff ?? {}).map(([path, own]) => [`${name} ${path}`, own.kind ?? own.diffKind]);
    }),
  );
