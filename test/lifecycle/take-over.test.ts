// docs/take-over.md: its commands in their order, first on a copy; then a change of the program is tried on the copy. The records are those
// of examples/terraform, whose README takes them over from Terraform.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { driftOf, irmIn } from "../harness/irm-command.ts";
import { commandsOf, fencesOf } from "../support/document.ts";

const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs", "take-over.md"), "utf8");
const example = join(root, "examples", "terraform");
const [exported = [], copied = [], taken = [], drift = []] = page.split(/^## /m).slice(1).map(commandsOf);

/** A command of `pulumi` as the page has it: the engine asks nobody here. */
const runPulumi = (program: Program, command: string) => {
  const [, ...args] = command.split(" ");
  return program.must(...args, ...(/^(up|destroy)$/.test(args[0] ?? "") ? ["--yes", "--skip-preview"] : []));
};
const ofPulumi = (commands: string[]) => commands.filter((command) => /^pulumi (?!stack init)/.test(command));
/** The uids as pages print them. */
const shortened = (text: string) => text.replaceAll(/\b([0-9a-f]{4})(?:[0-9a-f]{36}|[0-9a-f]{12})\b/g, "$1…");

const places: Workplace[] = [];
let original: Workplace;
const runIrm = async (folder: string, command: string): Promise<string> => {
  const env = { ...process.env, IRM_BASE_URL: original.server.baseUrl, IRM_TOKEN: original.server.token };
  const { code, stdout, stderr } = await irmIn({ folder, env } as never, command.split(" ").slice(2));
  expect(code, stderr).toBe(0);
  return stdout + stderr;
};
let program: Program;
let source: string;
let wrote: string;
let uids: string;
beforeAll(async () => {
  original = await createWorkplace(["--seed", join(example, "seed.yaml")]);
  places.push(original);
  const [command = ""] = exported.filter((line) => line.startsWith("npx pulumi-irm export"));
  wrote = await runIrm(original.folder, command);
  source = readFileSync(join(original.folder, "acme", "index.ts"), "utf8");
  uids = readFileSync(join(original.folder, "acme", "adopt.json"), "utf8");
  vi.stubEnv("IRM_TOKEN", original.server.token);
  places.push(await createWorkplace(["--copy-of", original.server.baseUrl]));
  vi.unstubAllEnvs();
  await original.server.takeRequests();
});
afterAll(() => Promise.all(places.map((place) => place.close())));

it("docs/take-over.md: the export prints and writes what the page shows", () => {
  expect(page).toContain(wrote.trim());
  const [[typescript = ""], [json = ""]] = [fencesOf(page, "ts"), fencesOf(page, "json")];
  const parts = typescript.trim().split("\n\n");
  expect(parts.pop()).toMatch(/^\/\/ … /);
  for (const part of parts) expect(shortened(source)).toContain(`${part}\n`);
  expect(JSON.parse(shortened(uids))).toMatchObject(JSON.parse(json));
});

it.each([
  ["on a copy", 1, copied],
  ["in the organization", 0, taken],
] as const)("the program takes everything over %s, and sends nothing", async (_where, at, commands) => {
  const place = places[at] as Workplace;
  program = await place.program("program", source);
  writeFileSync(join(program.folder, "adopt.json"), uids);
  expect(ofPulumi(commands).length).toBeGreaterThan(1);
  const outputs: string[] = [];
  for (const command of ofPulumi(commands)) outputs.push((await runPulumi(program, command)).output);
  const adopts = `Identity release adopts identity ${place.uidOf("identities", "release")}`;
  expect(outputs[0]).toContain(adopts);
  expect(page).toContain(shortened(adopts));
  expect(await place.writes()).toEqual([]);
  if (at === 1) expect(await original.server.takeRequests()).toEqual([]);
  if (at === 0) {
    expect(drift).toContain("npx pulumi-irm drift");
    const { code, stdout } = await driftOf(program);
    expect(code, stdout).toBe(0);
    // The page has another project, stack and organization.
    const [title = ""] = stdout.split("\n");
    expect(title).toMatch(/^Drift of program\/dev in \S+: no difference$/);
    expect(page).toMatch(/^ *Drift of access\/production in acme: no difference$/m);
    expect(await place.writes()).toEqual([]);
  }
});

const withoutTerraform = spawnSync("terraform", ["version"]).status === 0 ? "" : " (it is not on the PATH)";
it.skipIf(withoutTerraform)(
  `the README of examples/terraform moves all of main.tf, and back${withoutTerraform}`,
  async () => {
    const folder = join(original.folder, "terraform");
    cpSync(example, folder, { recursive: true });
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    // It needs no provider to read and write a state.
    const env = { ...process.env, TF_CLI_CONFIG_FILE: "/dev/null" };
    const inShell = (command: string) => execFileSync("sh", ["-ec", command], { cwd: folder, env, encoding: "utf8" });
    const declared = [...read("main.tf").matchAll(/^(data|resource) "(\w+)" "(\w+)" \{$/gm)].map(
      ([, mode, ...address]) => `${mode === "data" ? "data." : ""}${address.join(".")}`,
    );
    expect(inShell("terraform state list").trim().split("\n").sort()).toEqual(declared.sort());
    let own: Program;
    const run = async (command: string) => {
      if (command.startsWith("terraform ")) return inShell(command);
      if (command === "npx pulumi-irm drift") return (await driftOf(own)).stdout;
      if (ofPulumi([command]).length > 0) return (await runPulumi(own, command)).output;
      if (!command.startsWith("npx pulumi-irm export ")) return "";
      const output = await runIrm(folder, command);
      own = await original.program("platform", read("acme/index.ts"));
      cpSync(join(folder, "acme", "adopt.json"), join(own.folder, "adopt.json"));
      return output;
    };
    // The stack here has another name.
    const readme = read("README.md").replaceAll("production", "dev");
    for (const [, commands = "", shown = ""] of readme.matchAll(/^```sh\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?/gms)) {
      const outputs: string[] = [];
      for (const command of commands.trim().split(/(?<!\\)\n/)) outputs.push(await run(command));
      const lines = shortened(outputs.join("")).split("\n");
      for (const line of shown.split("\n")) if (line !== "…") expect(lines).toContain(line);
    }
    expect([shortened(read("acme/index.ts"))]).toEqual(fencesOf(readme, "ts"));
    expect(readme).toContain(/^terraform state rm [^`]*/m.exec(read("acme/handover.md"))?.[0]);
    expect(await original.writes()).toEqual([]);
  },
);

it("docs/take-over.md: a changed program goes on at the copy, and its service hears nothing of it", async () => {
  const [, copy] = places as [Workplace, Workplace];
  const file = join(original.folder, "state.json");
  await program.must("stack", "export", "--file", file);
  await Promise.all(places.map(({ server }) => server.takeRequests()));
  const [parent, identity] = [original.uidOf("groups", "platform"), original.uidOf("identities", "release")];
  const edit = `new RoleBinding("edits", { parent: "${parent}", identity: "${identity}", role: "editor" });`;
  // The first program of the copy has the other folder of this name.
  rmSync(join(copy.folder, "program"), { recursive: true });
  const trial = await copy.program("program", `${source}\n${edit}\n`, { IRM_MOVED_FROM: original.server.baseUrl });
  await trial.must("stack", "import", "--file", file);
  appendFileSync(join(trial.folder, "Pulumi.yaml"), "options:\n  refresh: always\n");
  const { output } = await trial.must("up", "--yes", "--skip-preview");
  const writes = writesOf(await copy.server.takeRequests()).map(({ operation }) => operation);
  expect(writes, output).toEqual(["CreateRoleBinding"]);
  expect(await original.server.takeRequests()).toEqual([]);
});
