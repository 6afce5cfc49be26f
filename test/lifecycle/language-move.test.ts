// A stack moves from a program in TypeScript to the same one in other languages, and no record changes.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { createMovingProgram, withoutGo, withoutPython } from "../harness/language-program.ts";
import { before, go, python, typescript, yaml } from "./language-source.ts";

describe("a stack of a TypeScript program with dynamic resources", () => {
  let place: Workplace;
  let program: Awaited<ReturnType<typeof createMovingProgram>>;
  beforeAll(async () => {
    place = await createWorkplace();
    const source = typescript("pulumi-irm")(place.server.organization, before);
    program = await createMovingProgram(place, "languages", source);
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });
  afterAll(() => place.close());

  // The classes of TypeScript derive the output `parent`, so the state has none. Any other language reads it there.
  it("stores the outputs that the same program in YAML reads, and sends nothing", async () => {
    await program.continueIn("yaml", yaml(place.server.organization, before));
    const parents = () => program.state().resources.map(({ outputs }) => outputs?.parent);
    expect(parents().filter((parent) => parent !== undefined)).toEqual([]);
    const { output } = await program.commandLine.must("up", "--yes");
    expect(output).not.toMatch(/^ {4}[+-]|created|deleted|replaced/m);
    expect(output).toMatch(/ [1-9]\d* updated/);
    expect(parents().filter((parent) => parent !== undefined)).not.toEqual([]);
    await program.commandLine.must("preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });
  it.skipIf(withoutPython)(`is not changed by the same program in Python after that${withoutPython}`, async () => {
    await program.continueIn("python", python(place.server.organization, before));
    await program.commandLine.must("preview", "--expect-no-changes");
    await program.commandLine.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });
  it.skipIf(withoutGo)(`is not changed by the same program in Go after that${withoutGo}`, async () => {
    await program.continueIn("go", go(place.server.organization, before));
    await program.commandLine.must("preview", "--expect-no-changes");
    await program.commandLine.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    expect(writesOf(await place.server.takeRequests())).toEqual([]);
  });
});
