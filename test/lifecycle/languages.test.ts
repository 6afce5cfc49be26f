// Programs in YAML and Python through a real engine.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { createPythonProgram, createYamlProgram, pythonIsMissing } from "../harness/language-program.ts";

const noPython = pythonIsMissing();

describe("a program without resources", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  it("runs in YAML", async () => {
    const program = await createYamlProgram(place, "yaml", `outputs: { greeting: 'hello \${pulumi.stack}' }\n`);
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain('greeting: "hello dev"');
    expect(up.output).not.toContain("warning");
  });

  it.skipIf(noPython)(noPython ? `runs in Python (${noPython})` : "runs in Python", async () => {
    const program = await createPythonProgram(
      place,
      "python",
      'import pulumi\npulumi.export("greeting", "hello " + pulumi.Config().require("who"))\n',
    );
    program.configure({ "python:who": "world" });
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain('greeting: "hello world"');
    expect(up.output).not.toContain("warning");
  });
});
