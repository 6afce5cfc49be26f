import { describe, expect, test } from "vitest";
import { deadReferences } from "../../scripts/references.ts";

const GUIDE = `# Guide

<a id="d1"></a>

## Two words, and \`code\`

## Two words, and \`code\`

| # | rule |
| --- | --- |
| <a id="d2"></a>2 | second |
`;

const deadIn = (path: string, text: string): string[] =>
  deadReferences(
    new Map([
      ["README.md", "# Readme\n"],
      ["docs/guide.md", GUIDE],
      ["docs/internals/faults.md", '<a id="f4"></a>\n'],
      ["server/rest/server.ts", ""],
      ["server/grpc/server.ts", ""],
      ["test/server/base/rate-limit.test.ts", ""],
      [path, text],
    ]),
  )
    .filter(({ file }) => file === path)
    .map(({ line, text: problem }) => `${line}: ${problem}`);

test.each([
  ["to a page", "[a](guide.md)"],
  ["to a heading, by the slug that GitHub gives it", "[a](guide.md#two-words-and-code)"],
  ["to an anchor in a table", "[a](guide.md#d2)"],
  ["to a heading of the same page", "# Here\n[a](#here)"],
  ["to a folder", "[a](../server/rest)"],
])("a link in Markdown is alive %s", (_, text) => expect(deadIn("docs/page.md", text)).toEqual([]));

test.each([
  ["to a page that does not exist", "[a](no.md)", "1: docs/no.md does not exist"],
  ["outside the repository", "[a](../../no.md)", "1: ../no.md does not exist"],
  ["to a heading that does not exist", "\n[a](guide.md#no)", "2: docs/guide.md has no anchor #no"],
  ["of a picture's source", '<source media="(a: b)" srcset="guide.md, no.png 2x">', "1: docs/no.png does not exist"],
])("a link in Markdown is dead %s", (_, text, problem) => expect(deadIn("docs/page.md", text)).toEqual([problem]));

test("a link in Markdown is ambiguous to an anchor that is defined twice", () =>
  expect(deadIn("docs/page.md", '<a id="a"></a>\n\n<a id="a"></a>')).toEqual(["3: the anchor #a is defined twice"]));

describe.each([
  ["a comment", "client/a.ts", (text: string) => `const a = 1; // ${text}`],
  ["a comment of several lines", "client/a.ts", (text: string) => `/** ${text}\n */`],
  ["code in Markdown", "docs/page.md", (text: string) => `\`${text}\``],
  ["Markdown", "docs/page.md", (text: string) => `See ${text}.`],
])("a path in %s", (_, path, written) => {
  test.each([
    ["server/rest/server.ts"],
    ["server/*/server.ts"],
    ["server.ts"],
    ["docs/guide.md#d1"],
    ["https://example.com/server/no.ts"],
    ["application/grpc"],
  ])("is alive: %s", (text) => expect(deadIn(path, written(text))).toEqual([]));

  test.each([
    [
      "server/http/server.ts",
      "server/http/server.ts does not exist: write server/rest/server.ts or server/grpc/server.ts",
    ],
    ["server/*/no.ts", "no file is a server/*/no.ts"],
    ["no.ts", "no.ts does not exist"],
    ["test/server/rate-limit", "test/server/rate-limit does not exist: write test/server/base/rate-limit.test.ts"],
    ["docs/guide.md#d99", "docs/guide.md has no anchor #d99"],
  ])("is dead: %s", (text, problem) => expect(deadIn(path, written(text))).toEqual([`1: ${problem}`]));
});

const comment = (text: string) => deadIn("client/a.ts", `// ${text}`);

test.each([
  ["decision 19", '"decision 19" has no address: write docs/internals/contract.md#d19'],
  ["contract 1.4", '"contract 1.4" is not in this repository: write a section of docs/internals/contract.md'],
  ["issue 5", '"issue 5" is not in this repository: write what it says'],
  ["F4", '"F4" has no address: write docs/internals/faults.md#f4'],
])("a document that is not in the repository: is dead: %s", (text, problem) =>
  expect(comment(text)).toEqual([`1: ${problem}`]),
);

test("a document that is not in the repository: is dead in the name of a test, too", () =>
  expect(deadIn("test/a.test.ts", 'test("is once (decision 4)", () => {});')).toEqual([
    '1: "decision 4" has no address: write docs/internals/contract.md#d4',
  ]));

test("a document that is not in the repository: is alive for fault numbers in a file that cites their page", () =>
  expect(comment("F2 to F4 of docs/internals/faults.md#f4")).toEqual([]));

test("a document that is not in the repository: is dead for fault numbers in a file that cites a wrong path", () =>
  expect(comment("faults.md, F4")).toEqual([
    "1: faults.md does not exist: write docs/internals/faults.md",
    '1: "F4" has no address: write docs/internals/faults.md#f4',
  ]));

test.each(["issues 4 tokens", "decisions", "F16 of 30", "the contract: 2 fields"])(
  "a document that is not in the repository: is alive: %s",
  (text) => expect(comment(`${text}; docs/internals/faults.md`)).toEqual([]),
);

test("only comments and names of tests are checked, not code", () =>
  expect(deadIn("client/a.ts", 'import "server/no.ts";\nconst F4 = "no.md";\n')).toEqual([]));
