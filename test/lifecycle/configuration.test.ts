// Unknown keys of the stack's configuration, with a real engine. The dynamic provider sees them through a property of the SDK.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";

describe("an unknown key of the stack's configuration", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const source = `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team" });
const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
new RoleBinding("binding", { parent: team, identity: ci, role: "viewer" });
`;

  it("is reported and ignored, but a misspelt one stops an up, though not a destroy", async () => {
    const program = await place.program("strange", source, { ORG: place.server.organization });
    program.configure({ "irm:colour": "blue" });
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("irm:colour is ignored");
    program.configure({ "irm:colour": "blue", "irm:identiy": place.server.identity });
    const preview = await program.run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain("irm:identiy: there is no such setting; did you mean irm:identity?");
    // The program ended before it declared anything. That removes nothing.
    expect(preview.output).not.toContain("is removed");
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });

  it("is ignored in a project that is called irm", async () => {
    const program = await place.program("irm", source, { ORG: place.server.organization });
    program.configure({ "irm:colour": "blue", "irm:baseURL": "https://example.com" });
    expect((await program.must("preview")).output).not.toContain("irm:colour");
  });
});
