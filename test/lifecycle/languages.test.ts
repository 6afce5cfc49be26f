// The same program in TypeScript, with dynamic and with native resources, in YAML, in Python and in Go: the stored rows, what the engine
// says of each resource, and the requests that the server saw.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type ProgramOptions, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn, reviewOf } from "../harness/irm-command.ts";
import {
  createGoProgram,
  createPythonProgram,
  createYamlProgram,
  withoutGo,
  withoutPython,
} from "../harness/language-program.ts";
import { onlyInSoak } from "../support/form.ts";
import { after, before, go, ISSUER, python, typescript, type Values, yaml } from "./language-source.ts";

/** A program in the folder of a workplace that begins with these values, and what follows from its language. */
interface Language {
  source(organization: string, values: Values): string;
  create(place: Workplace, name: string, source: string): Promise<Program>;
  /** Whether the program is reviewed before it creates anything: a binding of it has a computed identity and role. */
  isReviewed?: boolean;
  /** Whether `irm apply` of that review creates the records, instead of `pulumi up`. */
  isApplied?: boolean;
  /** Whether what reads the records first is tested: once in each form. */
  refreshes?: true;
  /** Whether the engine says which property of a resource changes; it does of native resources. */
  properties: boolean;
}

const isBinding = /^(Batch)?CreateRoleBindings?$/;

const life =
  ({ source, create, isReviewed, isApplied, refreshes, properties }: Language) =>
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

    if (isReviewed)
      it("is reviewed before that: a computed value is the new record that it will be, from a run on a copy", async () => {
        const { code, stdout, stderr } = await reviewOf(program, ["--format", "json", "--out", "change.json"]);
        expect(code, stderr + stdout).toBe(0);
        const { identities, unknown, steps } = Report.parse(JSON.parse(stdout));
        expect(steps.map(({ op }) => op)).toEqual(Array(7).fill("create"));
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
      if (isApplied) {
        const { code, stdout, stderr } = await irmIn(program, ["apply", "change.json", "--yes", "--format", "json"]);
        expect(code, stderr).toBe(0);
        expect(JSON.parse(stdout)).toMatchObject({ applied: 7, refused: [], missing: 0, narrowed: true });
      } else await program.must("up", "--yes");
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
      expect(text).not.toContain(UNKNOWN);
      expect(text).not.toContain("eyJ");
      expect(text).not.toContain(place.server.token);
    });

    const leftOut = refreshes ? "" : onlyInSoak;
    it.skipIf(leftOut)(`is not changed by an up that reads the records first${leftOut}`, async () => {
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

    // A refresh runs no program.
    if (refreshes)
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
  life({
    source: typescript("pulumi-irm"),
    create: createProgram({ ownProcess: true }),
    refreshes: true,
    properties: false,
  }),
);
// Programs in YAML and Python use the same plugin.
describe.skipIf(onlyInSoak)(
  `a program in TypeScript with native resources${onlyInSoak}`,
  life({
    source: typescript("pulumi-irm/plugin"),
    create: createProgram({ plugin: inject("pluginFolder") }),
    refreshes: true,
    properties: true,
  }),
);
describe(
  "a program in YAML",
  life({ source: yaml, create: createYamlProgram, isReviewed: true, isApplied: true, properties: true }),
);
describe.skipIf(withoutPython)(
  `a program in Python${withoutPython}`,
  life({ source: python, create: createPythonProgram, isReviewed: true, isApplied: true, properties: true }),
);

describe.skipIf(withoutGo)(
  `a program in Go${withoutGo}`,
  // A program in Python is reviewed in the same way.
  life({ source: go, create: createGoProgram, isReviewed: !onlyInSoak, properties: true }),
);

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
