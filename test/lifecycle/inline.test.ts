// A program that runs inline, in a process of the Automation API: its errors, of which Node must not warn.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { diagnosticsOf } from "../support/diagnostics.ts";

let place: Workplace;
beforeAll(async () => {
  place = await createWorkplace();
});
afterAll(() => place.close());

// What fails is known while the groups before it are still being created.
const SCRIPT = `
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

it.each([
  ["a misspelt role", {}, 'no built-in role is named "viewr"; did you mean viewer?'],
  ["a refused token", { IRM_IDENTITY_TOKEN_FILE: "refused-token" }, "PERMISSION_DENIED: exchanging the token"],
])("%s fails the run, and Node has nothing to warn of", async (what, env, message) => {
  const { folder, env: own } = await place.program(what.replaceAll(" ", "-"), "", { ORG: place.server.organization });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: inline\nruntime: nodejs\n");
  writeFileSync(join(folder, "refused-token"), "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL3gifQ.c2VjcmV0");
  writeFileSync(join(folder, "script.mjs"), SCRIPT);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["script.mjs"], {
    cwd: folder,
    env: { ...own, PULUMI_CONFIG_PASSPHRASE: "unused", ...env },
    encoding: "utf8",
  });
  expect(status, stderr).toBe(3);
  expect(diagnosticsOf(stdout)).toContain(message);
  expect(stderr).not.toMatch(/Warning|nhandled/);
});
