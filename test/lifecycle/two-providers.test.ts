// Two explicit providers in one program: the engine runs a process for each, and a record has one owner in both.
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { createYamlProgram } from "../harness/language-program.ts";

const source = (organization: string, resources: string) => `
resources:
  one: { type: pulumi:providers:irm, properties: { requestTimeout: 50 } }
  two: { type: pulumi:providers:irm, properties: { requestTimeout: 51 } }
  first:
    type: irm:Group
    properties: { parent: ${organization}, name: equal }
    options: { provider: "\${one}" }
  second:
    type: irm:Group
    properties: { parent: ${organization}, name: equal }
    options: { provider: "\${two}" }
${resources}`;

const old = (organization: string) => `
  old:
    type: irm:Group
    properties: { parent: ${organization}, name: kept }
    options: { provider: "\${one}" }
`;

const movedProgram = (organization: string) => `
  new:
    type: irm:Group
    properties: { parent: ${organization}, name: kept, adopt: match, deleteAdopted: true }
    options: { provider: "\${two}" }
`;

describe("two providers of one program", () => {
  let place: Workplace;
  let program: Program;
  let temporary: string;
  beforeAll(async () => {
    place = await createWorkplace();
    temporary = join(place.folder, "tmp");
    mkdirSync(temporary);
    const { organization } = place.server;
    program = await createYamlProgram(place, "two-providers", source(organization, old(organization)), {
      TMPDIR: temporary,
    });
  });
  afterAll(() => place.close());

  const operations = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation);
  const groupsNamed = (name: string) => place.rows("groups", "name = ?", name).map(({ uid }) => uid);
  /** files that they share, of operations that have not ended */
  const sharedFolders = () => readdirSync(join(temporary, `pulumi-irm-${process.getuid?.()}`));

  it("create their records without waiting for each other, and leave no file behind", async () => {
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(await operations()).toEqual(["CreateGroup", "CreateGroup", "CreateGroup"]);
    expect(groupsNamed("equal")).toHaveLength(2);
    expect(up.output).not.toContain("waiting for");
    expect(sharedFolders()).toEqual([]);
  });

  it("move a record between them, and the deletion under one leaves what the other has adopted", async () => {
    const [uid] = groupsNamed("kept");
    const { organization } = place.server;
    program.write(source(organization, movedProgram(organization)));
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain(`group ${uid} "kept" stays: another resource of this stack manages it`);
    expect(await operations()).toEqual([]);
    expect(groupsNamed("kept")).toEqual([uid]);
    expect(sharedFolders()).toEqual([]);
  });

  it("destroy each record once", async () => {
    await program.must("destroy", "--yes", "--skip-preview");
    expect(await operations()).toEqual(["DeleteGroup", "DeleteGroup", "DeleteGroup"]);
    expect(sharedFolders()).toEqual([]);
  });
});

describe("a dynamic resource and one of the plugin in one program", () => {
  it("move a record between them, and the dynamic one leaves it when it is deleted", async () => {
    const place = await createWorkplace();
    const { organization } = place.server;
    const text = (form: string, name: string, more = "") =>
      `import { Group } from "pulumi-irm${form}";\n` +
      `new Group("${name}", { parent: "${organization}", name: "kept"${more} });\n`;
    const program = await place.program("moved", text("", "old"));
    const plugin = `plugins:\n  providers:\n    - { name: irm, path: "${inject("pluginFolder")}" }\n`;
    appendFileSync(join(program.folder, "Pulumi.yaml"), plugin);
    await program.must("up", "--yes", "--skip-preview");
    const uid = place.rows("groups", "name = 'kept'")[0]?.uid;
    await place.server.takeRequests();
    program.write(text("/plugin", "new", `, adopt: "${uid}"`));
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain(`group ${uid} "kept" stays: another resource of this stack manages it`);
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
    await place.close();
  });
});
