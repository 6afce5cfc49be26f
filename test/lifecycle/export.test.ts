// An `up` of the program that `irm export` writes changes no record; test/soak/quick.test.ts has random ones.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, it, vi } from "vitest";
import { type ByHand, createByHand } from "../harness/by-hand.ts";
import { callerOf, openWorkplace, type Program } from "../harness/engine-workplace.ts";
import { createPythonProgram, createYamlProgram, withoutPython } from "../harness/language-program.ts";
import { onlyInSoak } from "../support/form.ts";
import { runIrm } from "../support/irm.ts";

const place = openWorkplace();
let made: ByHand;
beforeAll(async () => {
  made = await createByHand(callerOf(place), place.server.organization);
});

let folders = 0;
const filesOf = async (...flags: string[]): Promise<(name: string) => string> => {
  folders += 1;
  const out = join(place.folder, `exported-${folders}`);
  await exportOf("--out", out, ...flags);
  return (name) => readFileSync(join(out, name), "utf8");
};
const exportOf = async (...flags: string[]): Promise<string> => {
  vi.stubEnv("IRM_BASE_URL", place.server.baseUrl);
  vi.stubEnv("IRM_TOKEN", place.server.token);
  const { code, stdout, stderr } = await runIrm("export", ...flags);
  vi.unstubAllEnvs();
  expect(code, stderr).toBe(0);
  return stdout;
};

it("an exported program takes everything over and changes nothing", async () => {
  const file = await filesOf();
  expect(file("Pulumi.yaml")).toContain("options:\n  refresh: always\n");
  const program = await place.program("taken", file("index.ts"));
  writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
  await place.server.takeRequests();
  const { output } = await program.must("up", "--yes");
  const [preview = ""] = output.split("Updating (dev)");
  expect(preview).toContain(`Group platform adopts group ${made.platform} "platform"`);
  expect(output).not.toMatch(/ changes on /);
  expect(await place.operations(), output).toEqual([]);
  // The state has them by now.
  const again = await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
  expect(again.output).not.toMatch(/ adopts | changes on /);
  expect(await place.operations()).toEqual([]);
  const count = Object.keys(JSON.parse(file("adopt.json")).resources).length;
  // The identity provider whose secret is not set is not declared.
  const adopted = program.state().resources.filter(({ outputs }) => outputs?.adopted === true);
  expect(adopted).toHaveLength(count - 1);
  // The secret of an identity provider is sent once it is set, and nothing else.
  program.configure({ "taken:ssoWithSecretClientSecret": "a new one" });
  await program.must("up", "--yes", "--skip-preview");
  expect(await place.operations()).toEqual(["UpdateIdentityProvider"]);
  expect(place.rows("identity_providers", "uid = ?", made.withSecret)).toHaveLength(1);
  // What was exported stays when the stack goes.
  await program.must("destroy", "--yes", "--skip-preview");
  expect(await place.operations()).toEqual([]);
});

it("an exported program in YAML takes everything over and changes nothing", async () => {
  const file = await filesOf("--format", "pulumi-yaml");
  const source = file("Pulumi.yaml");
  const program = await createYamlProgram(place, "taken-yaml", source.slice(source.indexOf("\nresources:") + 1));
  writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
  await takesOver(program);
});

it.skipIf(withoutPython || onlyInSoak)(
  `a program in Python takes everything over and changes nothing${withoutPython || onlyInSoak}`,
  async () => {
    const file = await filesOf("--format", "python");
    const program = await createPythonProgram(place, "taken-python", file("__main__.py"));
    writeFileSync(join(program.folder, "adopt.json"), file("adopt.json"));
    await takesOver(program);
  },
);

const takesOver = async (program: Program): Promise<void> => {
  await place.server.takeRequests();
  await program.must("up", "--yes", "--skip-preview");
  expect(await place.operations()).toEqual([]);
  expect(program.state().resources.map(({ id }) => id)).toEqual(expect.arrayContaining([made.release, made.publisher]));
};

it("an exported import.json imports every record, and the program then changes nothing", async () => {
  const out = join(place.folder, "exported");
  await exportOf("--native", "--out", out);
  const source = readFileSync(join(out, "index.ts"), "utf8");
  const program = await place.program("imported", source, {}, { plugin: inject("pluginFolder"), ownProcess: true });
  for (const name of ["import.json", "adopt.json"]) copyFileSync(join(out, name), join(program.folder, name));
  await place.server.takeRequests();
  await program.must("import", "--file", "import.json", "--yes", "--generate-code=false", "--protect=false");
  await program.must("up", "--yes", "--skip-preview");
  expect(await place.operations()).toEqual([]);

  // A refresh knows by adopt.json that this resource had the record.
  const [binding] = place.rows("role_bindings", "identity_uid = ?", made.release);
  await place.call("DELETE", `/iam/v2beta1/roleBindings/${binding?.uid}`);
  await place.server.takeRequests();
  const { output } = await program.must("up", "--refresh", "--yes", "--skip-preview");
  expect(output).toContain(`creates its role binding again: ${binding?.uid}, which it had adopted, was deleted`);
  expect(await place.operations()).toEqual(["CreateRoleBinding"]);
});
