// A run without usable credentials, or with a key of the configuration that stops it: its messages, which never have a secret.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { openWorkplace } from "../harness/engine-workplace.ts";

/** The part of the output after `Diagnostics:`. The engine also shows each message during the run. */
const diagnosticsOf = (output: string): string => output.split("\nDiagnostics:\n")[1] ?? "";
const countOf = (text: string, part: string): number => text.split(part).length - 1;

const place = openWorkplace();

// Look-ups that begin with the constructors, and no others.
const named = `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const groups = ["one", "two", "three"].map((name) => new Group(name, { parent: process.env.ORG!, name }));
const ci = new Identity("ci", { parent: groups[0]!, name: "ci", claimMatch: { issuer: "https://x.example", subject: "ci" } });
for (const [i, parent] of groups.entries()) new RoleBinding("views " + i, { parent, identity: ci, role: "viewer" });
`;

it("an unknown key of the configuration is ignored; a misspelt one stops an up, though not a destroy", async () => {
  const program = await place.program("strange", named, { ORG: place.server.organization });
  program.configure({ "irm:colour": "blue" });
  expect((await program.must("up", "--yes", "--skip-preview")).output).toContain("irm:colour is ignored");
  program.configure({ "irm:colour": "blue", "irm:identiy": place.server.identity });
  const preview = await program.run("preview");
  expect(preview.code).not.toBe(0);
  expect(preview.output).toContain("irm:identiy: there is no such setting; did you mean irm:identity?");
  // The program ended before it declared anything. That removes nothing.
  expect(preview.output).not.toContain("is removed");

  // The address of another author gets nothing.
  let connections = 0;
  const evil = createServer(() => {
    connections += 1;
  }).listen(0, "127.0.0.1");
  await once(evil, "listening");
  const address = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
  program.configure({ "irm:baseUrl": address, "irm:authUrl": address });
  const elsewhere = await program.run("up", "--yes", "--skip-preview");
  expect(elsewhere.code).not.toBe(0);
  for (const name of ["baseUrl", "authUrl"]) {
    const text = `irm:${name}: ${address} differs from ${place.server.baseUrl} (environment `;
    expect(elsewhere.output).toContain(text);
  }
  evil.close();
  expect(connections).toBe(0);
  await program.must("destroy", "--yes", "--skip-preview");
  expect(place.rows("groups", "name = 'one'")).toEqual([]);
});

it("credentials that the exchange refuses are one error of a refresh, and one in full of a destroy", async () => {
  const token = join(place.folder, "own-token");
  const valid = readFileSync(place.env.IRM_IDENTITY_TOKEN_FILE as string);
  writeFileSync(token, valid);
  const groups = `
import { Group } from "pulumi-irm";
for (let i = 0; i < 20; i++) new Group("group " + i, { parent: process.env.ORG!, name: "many " + i });
`;
  const env = { ORG: place.server.organization, IRM_IDENTITY_TOKEN_FILE: token };
  const program = await place.program("many", groups, env);
  await program.must("up", "--yes", "--skip-preview");
  const { resources } = program.state();
  const secret = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL3gifQ.c2VjcmV0";
  writeFileSync(token, secret);

  const refresh = await program.run("refresh", "--yes", "--skip-preview");
  expect(refresh.code).not.toBe(0);
  const found = diagnosticsOf(refresh.output);
  expect(countOf(found, "PERMISSION_DENIED: exchanging the token of IRM_IDENTITY_TOKEN_FILE"), found).toBe(1);
  expect(found.match(/^ +error: (?!update failed)/gm), found).toHaveLength(1);
  expect(found).not.toMatch(/^ +at |Warning|problems|serializing|failed for the same reason/m);
  for (const text of [
    "It does not change the state of what it has not read.",
    "See docs/troubleshooting.md#sign-in",
    "Was this server restarted without --db?",
  ])
    expect(refresh.output).toContain(text);
  const stored = ({ id, inputs, outputs }: (typeof resources)[0]) => ({ id, inputs, outputs });
  expect(program.state().resources.map(stored)).toEqual(resources.map(stored));

  // The engine has begun as many deletes as it runs at once, and prints a line for each.
  const destroy = await program.run("destroy", "--yes", "--skip-preview", "--parallel", "4");
  const text = diagnosticsOf(destroy.output);
  expect(destroy.code).not.toBe(0);
  expect(countOf(text, "PERMISSION_DENIED: exchanging the token"), text).toBe(1);
  expect(countOf(text, "failed for the same reason as Group::"), text).toBe(3);
  expect(text).not.toMatch(/^ +Error:/m);
  expect(place.rows("groups", "name LIKE 'many %'")).toHaveLength(20);
  expect(refresh.output + destroy.output + program.state().text + place.server.log()).not.toContain(secret);

  writeFileSync(token, valid);
  await program.must("destroy", "--yes", "--skip-preview");
  expect(place.rows("groups", "name LIKE 'many %'")).toEqual([]);
});

it("a native program has all misspelt names of roles in the same preview", async () => {
  const misspelt = `
import { Group, RoleBinding, RoleBindingSet } from "pulumi-irm/plugin";
const parent = process.env.ORG!;
const identity = process.env.IRM_IDENTITY!;
const team = new Group("team", { parent, name: "misspelt" });
new RoleBinding("views", { parent, identity, role: "viewr" });
new RoleBinding("looks", { parent: team, identity, role: "viewr" });
new RoleBindingSet("set", { parent: team, bindings: [{ identity, role: "editr" }, { identity, role: "owner" }] });
`;
  const env = { ORG: place.server.organization };
  // The Automation API reports the error of a program once more.
  const options = { ownProcess: true, plugin: inject("pluginFolder") };
  const program = await place.program("misspelt", misspelt, env, options);
  const { code, output } = await program.run("preview");
  const text = diagnosticsOf(output);
  expect(code).not.toBe(0);
  expect(countOf(text, 'no built-in role is named "viewr"; did you mean viewer?'), text).toBe(1);
  expect(text).toMatch(/- RoleBinding views: role\n +- RoleBinding looks: role\n/);
  expect(countOf(text, 'RoleBindingSet set: bindings[0].role: no built-in role is named "editr"'), text).toBe(1);
  expect(text).not.toMatch(/Warning|^ +at /m);
});

// Of the Automation API. What fails is known while the groups before it are still being created.
it("an inline program fails by misspelt names of roles, and Node has nothing to warn of", async () => {
  const script = `
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { Group, Identity, RoleBinding } from "pulumi-irm";
const program = async () => {
  const groups = ["one", "two", "three"].map((name) => new Group(name, { parent: process.env.ORG, name }));
  const [parent] = groups;
  const ci = new Identity("ci", { parent, name: "ci", claimMatch: { issuer: "https://x.example", subject: "ci" } });
  for (const [i, parent] of groups.entries()) new RoleBinding("views " + i, { parent, identity: ci, role: "viewr" });
  new RoleBinding("edits", { parent, identity: ci, role: "editr" });
};
const stack = await LocalWorkspace.createOrSelectStack(
  { stackName: "dev", projectName: "inline", program },
  { workDir: process.cwd() },
);
await stack.up({ onOutput: (text) => process.stdout.write(text) }).catch(() => (process.exitCode = 3));
`;
  const { folder, env } = await place.program("in-script", "", { ORG: place.server.organization });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: inline\nruntime: nodejs\n");
  writeFileSync(join(folder, "script.mjs"), script);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["script.mjs"], {
    cwd: folder,
    env: { ...env, PULUMI_CONFIG_PASSPHRASE: "unused" },
    encoding: "utf8",
  });
  expect(status, stderr).toBe(3);
  expect(diagnosticsOf(stdout)).toContain('no built-in role is named "viewr"; did you mean viewer?');
  expect(stderr).not.toMatch(/Warning|nhandled/);
});
