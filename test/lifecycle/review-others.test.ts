// Other providers in a review: the real one answers what a preview asks, and no change reaches it.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { reviewOf } from "../harness/irm-command.ts";
import { createYamlProgram } from "../harness/language-program.ts";
import { type OtherProvider, writeOtherProvider } from "../harness/other-provider.ts";

const first = `
import * as pulumi from "@pulumi/pulumi";
import { Group } from "pulumi-irm";
class Thing extends pulumi.CustomResource {
  declare readonly made: pulumi.Output<string>;
  constructor(name: string, text: string | undefined, opts: pulumi.CustomResourceOptions = {}) {
    super("other:index:Thing", name, { text, made: undefined }, { version: "1.2.3", ...opts });
  }
}
class Remote extends pulumi.ComponentResource {
  declare readonly label: pulumi.Output<string>;
  constructor(name: string) {
    super("other:index:Remote", name, { label: undefined }, { version: "1.2.3" }, true);
  }
}
const look = (name: string) => pulumi.runtime.invoke("other:index:look", { name }, { version: "1.2.3" });
const { value } = await look("looked");
const stays = new Thing("stays", "stays");
new Group("of-function", { parent: process.env.ORG!, name: value });
new Group("of-thing", { parent: process.env.ORG!, name: stays.made });
const read = new Thing("read", undefined, { id: "exists" });
new Group("of-read", { parent: process.env.ORG!, name: read.made });
new Group("of-component", { parent: process.env.ORG!, name: new Remote("remote").label });
new Group("goes", { parent: process.env.ORG!, name: "goes" });
`;

const edited = `${first.replace(/new Group\("goes".*/, "").replace('Thing("stays", "stays")', 'Thing("stays", "changed")')}
new Group("now", { parent: process.env.ORG!, name: (await look("now")).value });
const fresh = new Thing("fresh", "fresh");
new Group("of-fresh", { parent: process.env.ORG!, name: fresh.made });
const other = new Thing("new", undefined, { id: "new" });
new Group("of-new", { parent: process.env.ORG!, name: other.made });
`;

const yaml = (provider: string, org: string) => `    - name: other
      path: ${provider}
variables:
  looked:
    fn::invoke: { function: other:index:look, arguments: { name: in-yaml } }
resources:
  of-function:
    type: irm:Group
    properties: { parent: ${org}, name: "\${looked.value}" }
  thing:
    type: other:Thing
    properties: { text: fresh }
  of-thing:
    type: irm:Group
    properties: { parent: ${org}, name: "\${thing.made}" }
`;

const named = (list: readonly { urn: string; op: string }[]) =>
  list.map(({ urn, op }) => `${op} ${urn.split("::").at(-1)}`).toSorted();

describe("other providers in a review", () => {
  let place: Workplace;
  let program: Program;
  let provider: OtherProvider;
  beforeAll(async () => {
    place = await createWorkplace();
    program = await place.program("dynamic", first, { ORG: place.server.organization });
    provider = writeOtherProvider(join(program.folder, "home", "plugins", "resource-other-v1.2.3"));
    await program.must("up", "--yes", "--skip-preview");
  });
  afterAll(() => place.close());

  const runOf = async (of: Program, own?: Record<string, string>) => {
    const { code, stdout, stderr } = await reviewOf(of, ["--format", "json"], own);
    expect(stdout, stderr).toMatch(/^\{/);
    const { steps, others, unknown, errors } = Report.parse(JSON.parse(stdout));
    const failed = steps.filter(({ ok }) => !ok);
    return {
      code,
      failed,
      steps: named(steps),
      others: named(others),
      errors,
      unknown: unknown.map(({ message }) => message).toSorted(),
    };
  };

  it("sends nothing for an unchanged stack, and keeps what was read", async () => {
    provider.takeReviewed();
    await place.server.takeRequests();
    const unchanged = { code: 0, failed: [], steps: [], others: [], unknown: [], errors: [] };
    expect(await runOf(program)).toEqual(unchanged);
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
    expect(provider.takeReviewed()).toEqual(["check", "construct remote", "look looked"]);
  });

  it("answers functions by the real provider, and sends it no change", async () => {
    program.write(edited);
    expect(await runOf(program)).toEqual({
      ...{ code: 0, failed: [], errors: [] },
      steps: ["create now", "delete goes"],
      others: ["create fresh", "read new", "update stays"],
      unknown: [
        "group of-fresh: it waits for fresh, which another provider changes",
        "group of-new: it waits for new, which another provider reads",
        "group of-thing: it waits for stays, which another provider changes",
      ],
    });
    expect(provider.takeReviewed()).toEqual(["check", "construct remote", "look looked", "look now"]);
  });

  it("serves the schema to a program in YAML, from a folder that the project names", async () => {
    const own = writeOtherProvider(join(place.folder, "own-provider"));
    const inYaml = await createYamlProgram(place, "in-yaml", yaml(own.folder, place.server.organization));
    expect(await runOf(inYaml, { OTHER_CLOUD: "a credential" })).toEqual({
      ...{ code: 0, failed: [], errors: [] },
      steps: ["create of-function"],
      others: ["create thing"],
      unknown: ["group of-thing: it waits for thing, which another provider changes"],
    });
    expect(own.takeReviewed()).toEqual(["look in-yaml"]);
    const { IRM_IDENTITY_TOKEN_FILE, PULUMI_HOME } = inYaml.env;
    const reviewed = { OTHER_CLOUD: "a credential", PULUMI_HOME };
    expect(new Set(own.environments().map((one) => JSON.stringify(one)))).toEqual(
      new Set([{ IRM_IDENTITY_TOKEN_FILE, ...reviewed }, reviewed].map((one) => JSON.stringify(one))),
    );
    expect(own.running()).toEqual([]);
  });

  it("leaves no process behind", () => {
    expect(provider.running()).toEqual([]);
  });
});
