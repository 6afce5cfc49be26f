// `irm drift`: wrong command lines, and a folder without a program. test/lifecycle/drift-command.test.ts runs it with a real engine.
import { describe, expect, test, vi } from "vitest";
import { runIrm } from "../support/irm.ts";

describe("exits with 2 for a wrong command line", () => {
  test.each([
    [["--format", "html"], "argument 'html' is invalid. Allowed choices are terminal, markdown, json."],
    [
      ["--allow", "ci", "--allow", ""],
      'irm drift: --allow: "ci" is neither a uid nor pull-tokens\n--allow: "" is neither a uid nor pull-tokens',
    ],
    [["--service", "x"], 'irm drift: --service: "x" is not URL=VARIABLE'],
    [
      ["--service", "localhost:80=HOME"],
      "irm drift: --service: the address before =HOME has no scheme; write http://localhost:80",
    ],
  ])("%j", async (flags, message) => {
    const { code, stdout, stderr } = await runIrm("drift", ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

test("exits with 1 for a wrong address, before it runs the engine", async () => {
  vi.stubEnv("IRM_BASE_URL", "ftp://irm.example.com");
  const { code, stdout, stderr } = await runIrm("drift");
  vi.unstubAllEnvs();
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("irm drift: ");
  expect(stderr).toContain("environment IRM_BASE_URL: must be an https URL");
});
