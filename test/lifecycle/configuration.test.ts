// Keys of the stack's configuration that nobody reads, with a real engine: the dynamic provider sees them all, by a property
// that is the SDK's own.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";

describe("a key of the stack's configuration that is no setting", () => {
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

  it("is told and ignored when it is like none, and stops an up, though no destroy, when it is a misspelt one", async () => {
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

  it("is nobody's business in a project that is called irm", async () => {
    const program = await place.program("irm", source, { ORG: place.server.organization });
    program.configure({ "irm:colour": "blue", "irm:baseURL": "https://example.com" });
    expect((await program.must("preview")).output).not.toContain("irm:colour");
  });
});
