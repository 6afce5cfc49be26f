// What a step tells the runner of GitHub Actions.
import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { githubHost } from "../../ci/github.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
afterEach(() => vi.restoreAllMocks());

const printedBy = async (act: () => unknown): Promise<string> => {
  let printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += text;
    return true;
  });
  await act();
  vi.restoreAllMocks();
  return printed;
};

test("no value can end its output and begin another one", () => {
  const file = folder.write("output", "");
  githubHost({ GITHUB_OUTPUT: file }).setOutputs({ page: "a\npage=/etc/passwd\nEOF" });
  expect(readFileSync(file, "utf8")).toMatch(/^page<<([\da-f-]{36})\na\npage=\/etc\/passwd\nEOF\n\1\n$/);
});

test("what is printed for others is no command, also after an error", async () => {
  const host = githubHost({});
  const printed = await printedBy(() =>
    host
      .withoutCommands(() => {
        process.stdout.write("::warning::approved");
        return Promise.reject(new Error("failed"));
      })
      .catch(() => undefined),
  );
  expect(printed).toMatch(/^::stop-commands::([\da-f-]{36})\n::warning::approved\n::\1::\n$/);
});

test("an annotation is one line", async () => {
  const printed = await printedBy(() => githubHost({}).annotate("error", "100 %\nsecond\r::warning::x"));
  expect(printed).toBe("::error::100 %25%0Asecond\\u000d::warning::x\n");
});
