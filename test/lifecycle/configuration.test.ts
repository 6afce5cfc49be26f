// Keys of the stack's configuration that nobody reads, with a real engine: the dynamic provider sees them all, by a property
// that is the SDK's own.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../support/program.ts";

describe("a key of the stack's configuration that is no setting", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const source = `
import { Group } from "pulumi-irm";
new Group("team", { parent: process.env.ORG!, name: "team" });
`;

  it("stops a run when it is a misspelt one, with the name that was meant, and no destroy", async () => {
    const program = await place.program("misspelt", source, { ORG: place.server.organization });
    await program.must("up", "--yes", "--skip-preview");
    await program.must("config", "set", "irm:identiy", place.server.identity);
    const preview = await program.run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain("irm:identiy: there is no such setting; did you mean irm:identity?");
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });

  it("is told and ignored when it is like none", async () => {
    const program = await place.program("unknown", source, { ORG: place.server.organization });
    await program.must("config", "set", "irm:colour", "blue");
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output.match(/irm:colour is ignored/g)?.length).toBeGreaterThan(0);
    await program.must("destroy", "--yes", "--skip-preview");
  });

  it("is nobody's business in a project that is called irm", async () => {
    const program = await place.program("irm", source, { ORG: place.server.organization });
    await program.must("config", "set", "irm:colour", "blue");
    await program.must("config", "set", "irm:baseURL", "https://example.com");
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).not.toContain("irm:colour");
    await program.must("destroy", "--yes", "--skip-preview");
  });
});
