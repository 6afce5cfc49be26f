// A stack whose program moves from YAML to TypeScript with dynamic resources, back, and on to Go.
import { beforeAll, expect, it } from "vitest";
import { UNKNOWN } from "../../pulumi/value.ts";
import { openWorkplace } from "../harness/engine-workplace.ts";
import { irmIn, reportOf } from "../harness/irm-command.ts";
import { createMovingProgram, withoutGo } from "../harness/language-program.ts";
import { after, before, go, ISSUER, typescript, yaml } from "./language-source.ts";

const place = openWorkplace();
let program: Awaited<ReturnType<typeof createMovingProgram>>;
let organization: string;
beforeAll(async () => {
  ({ organization } = place.server);
  program = await createMovingProgram(place, "languages", "");
  await program.continueIn("yaml", yaml(organization, before));
});

const rowOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0];
const outputsNamed = (name: string) =>
  program.state().resources.flatMap(({ outputs }) => (outputs?.[name] === undefined ? [] : [outputs[name]]));

it("a moving stack is reviewed in YAML before it exists: a computed value is the record that it will be", async () => {
  const { identities, unknown, steps } = await reportOf(program, ["--out", "change.json"]);
  expect(steps.map(({ op }) => op)).toEqual(Array(7).fill("create"));
  expect(unknown).toEqual([]);
  const ci = identities.find(({ name }) => name === "ci");
  expect(ci?.gains).toContainEqual({ group: null, groupName: "team/sub", capability: "groups.list", role: "custom" });
  expect(place.rows("groups", "name = 'team'")).toEqual([]);
  expect(await place.writes()).toEqual([]);
});

it("a moving stack is created by `irm apply` of that review, each record once, and calls a function", async () => {
  const { code, stdout, stderr } = await irmIn(program, ["apply", "change.json", "--yes", "--format", "json"]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ applied: 7, refused: [], missing: 0, narrowed: true });
  const operations = (await place.writes()).map(({ operation = "" }) => operation).sort();
  const records = operations.filter((operation) => !/^(Batch)?CreateRoleBindings?$/.test(operation));
  expect(records).toEqual(["CreateGroup", "CreateGroup", "CreateIdentity", "CreateRole"]);
  // Those of one group go in one request, if the engine creates them at the same time.
  expect(operations.length - records.length).toBeLessThanOrEqual(3);
  expect(place.rows("role_bindings", "uid LIKE ?", `${organization}/%/%`)).toHaveLength(3);
  const [team, sub] = [rowOf("groups", "team"), rowOf("groups", "sub")];
  const [ci, custom] = [rowOf("identities", "ci"), rowOf("roles", "custom")];
  expect(team).toMatchObject({ parent: organization, body: { description: before.description } });
  expect(sub?.parent).toBe(team?.uid);
  expect(ci?.body.claimMatch).toEqual({ issuer: ISSUER, ...before.claim });
  const [viewer = "", editor] = ["viewer", "editor"].map((name) => rowOf("roles", name)?.uid);
  const bindings = place.rows("role_bindings", "parent = ?", sub?.uid as string);
  expect(bindings.map(({ role_uid }) => role_uid).sort()).toEqual([viewer, editor, custom?.uid].sort());
  expect(new Set(bindings.map(({ identity_uid }) => identity_uid))).toEqual(new Set([ci?.uid]));

  const { resources, text } = program.state();
  expect(resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs).toEqual({ viewer });
  expect(resources.find(({ urn }) => urn.endsWith("Group::team"))).toMatchObject({
    id: team?.uid,
    outputs: {
      ...{ uid: team?.uid, name: "team", description: before.description },
      ...{ verified: false, resourceLimits: {} },
    },
  });
  for (const part of [UNKNOWN, "eyJ", place.server.token]) expect(text).not.toContain(part);
});

it("a moving stack previews each change in YAML, and sends one PATCH or one replacement for a resource", async () => {
  await program.continueIn("yaml", yaml(organization, after));
  const { stdout } = await program.commandLine.must("preview", "--json");
  const { steps } = JSON.parse(stdout) as { steps: Step[] };
  expect(operationsIn(steps)).toEqual({
    team: "update",
    ci: "update",
    custom: "update",
    "built-in": "replace",
    other: "update",
  });
  expect(changesIn(steps)).toEqual({
    "team description": "update",
    "ci claimMatch.subject": "delete",
    "ci claimMatch.subjectPattern": "add",
    "custom capabilities[1]": "add",
    "built-in parent": "update-replace",
    "other role": "update",
  });
  expect(await place.writes()).toEqual([]);
  await program.commandLine.must("up", "--yes", "--skip-preview");
  expect((await place.writes()).map(({ operation, query }) => [operation, query?.updateMask]).sort()).toEqual([
    ["CreateRoleBinding", undefined],
    ["DeleteRoleBinding", undefined],
    ["UpdateGroup", "description"],
    ["UpdateIdentity", "claimMatch.subject,claimMatch.subjectPattern"],
    ["UpdateRole", "capabilities"],
    ["UpdateRoleBinding", "roleUid"],
  ]);
  expect(rowOf("identities", "ci")?.body.claimMatch).toEqual({ issuer: ISSUER, ...after.claim });
  expect(place.rows("role_bindings", "parent = ?", rowOf("groups", after.bound)?.uid as string)).not.toEqual([]);
  expect(rowOf("roles", "custom")?.body.capabilities).toEqual(["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"]);
});

/** Each resource of it is updated in the state, and nothing else happens. */
const isOnlyStored = async (): Promise<void> => {
  const { output } = await program.commandLine.must("up", "--yes", "--skip-preview");
  expect(output).not.toMatch(/^ {4}[+-]|created|deleted|replaced/m);
  expect(output).toMatch(/ [1-9]\d* updated/);
  expect(await place.writes()).toEqual([]);
};

// The classes of TypeScript derive the output `parent`, so the state has none. Any other language reads it there.
it("a moving stack stores in TypeScript what the same program in YAML reads, and sends nothing", async () => {
  await program.continueIn("typescript", typescript(organization, after));
  await isOnlyStored();
  expect(outputsNamed("parent")).toEqual([]);
  await program.continueIn("yaml", yaml(organization, after));
  await isOnlyStored();
  expect(outputsNamed("parent")).toHaveLength(7);
});

it.skipIf(withoutGo)(`a moving stack is not changed by the same program in Go${withoutGo}`, async () => {
  await program.continueIn("go", go(organization, after));
  await program.commandLine.must("up", "--yes", "--skip-preview", "--expect-no-changes");
  expect(await place.writes()).toEqual([]);
});

it("a moving stack is destroyed, and nothing else is", async () => {
  await program.commandLine.must("destroy", "--yes", "--skip-preview");
  expect(place.rows("groups").map(({ uid }) => uid)).toEqual([organization]);
  expect(place.rows("role_bindings")).toHaveLength(1);
  expect(place.rows("identities", "parent IS NOT NULL").map(({ uid }) => uid)).toEqual([place.server.identity]);
  expect(place.rows("roles", "parent IS NOT NULL")).toEqual([]);
});

interface Step {
  op: string;
  urn: string;
  detailedDiff?: Record<string, { kind: string }> | null;
}

const nameIn = (urn: string): string => urn.replace(/^.*::/, "");

const operationsIn = (steps: readonly Pick<Step, "op" | "urn">[]): Record<string, string> =>
  Object.fromEntries(steps.flatMap(({ urn, op }) => (op === "same" ? [] : [[nameIn(urn), op]])));

/** `name path`: kind of the change. */
const changesIn = (steps: readonly Step[]): Record<string, string> =>
  Object.fromEntries(
    steps.flatMap(({ urn, detailedDiff }) =>
      Object.entries(detailedDiff ?? {}).map(([path, { kind }]) => [`${nameIn(urn)} ${path}`, kind]),
    ),
  );
