// A change of a program, tried on a copy of its service: with the state of its stack, in a backend of its own.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";

const source = (further = "") => `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team" });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
new RoleBinding("reads", { parent: team, identity: ci, role: "viewer" });
${further}
`;

const places: Workplace[] = [];
afterAll(() => Promise.all(places.map((place) => place.close())));

it("a stack goes on at a copy, and its service hears nothing of it", async () => {
  const original = await createWorkplace();
  places.push(original);
  const env = { ORG: original.server.organization };
  const program = await original.program("acme", source(), env);
  await program.must("up", "--yes", "--skip-preview");
  const file = join(original.folder, "state.json");
  await program.must("stack", "export", "--file", file);

  vi.stubEnv("IRM_TOKEN", original.server.token);
  const copy = await createWorkplace(["--copy-of", original.server.baseUrl]).finally(() => vi.unstubAllEnvs());
  places.push(copy);
  await original.server.takeRequests();
  const edit = `new RoleBinding("edits", { parent: team, identity: ci, role: "editor" });`;
  const trial = await copy.program("acme", source(edit), { ...env, IRM_MOVED_FROM: original.server.baseUrl });
  await trial.must("stack", "import", "--file", file);
  appendFileSync(join(trial.folder, "Pulumi.yaml"), "options:\n  refresh: always\n");
  const { output } = await trial.must("up", "--yes", "--skip-preview");
  const writes = writesOf(await copy.server.takeRequests()).map(({ operation }) => operation);
  expect(writes, output).toEqual(["CreateRoleBinding"]);
  expect(
    copy.rows(
      "role_bindings",
      "parent = ? AND founding = 0",
      trial.state().resources.find(({ urn }) => urn.endsWith("::team"))?.id ?? "",
    ),
  ).toHaveLength(2);
  expect(await original.server.takeRequests()).toEqual([]);
});
