// The sections of docs/recovery.md: errors name each of them, and some source file has each message of the page's table.
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SECTION_OF_CODE, withSection } from "../../client/recovery.ts";
import { root } from "../harness/api-process.ts";

const page = readFileSync(`${root}/docs/recovery.md`, "utf8");
const own = readFileSync(`${root}/client/recovery.ts`, "utf8");
const sections = [...own.matchAll(/^ {2}\| "([a-z-]+)"/gm)].map(([, section = ""]) => section);

test("the page has a section for each that an error may name, and no other one with an anchor", () => {
  const anchors = [...page.matchAll(/^<a id="([\w-]+)"><\/a>\n## /gm)].map(([, anchor]) => anchor);
  expect(anchors).toHaveLength(new Set(anchors).size);
  expect([...anchors].sort()).toEqual([...sections].sort());
});

/** Rows of the page's table: messages, and the section that treats them. */
const rows = [...page.matchAll(/^\| (`.*) \| \[[^\]]+\]\(#([\w-]+)\)(?:: nothing to do)? \|$/gm)].map(
  ([, cell = "", anchor = ""]) => ({ anchor, codes: [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code) }),
);

test("the table of the page has a row for each section", () => {
  expect([...new Set(rows.map(({ anchor }) => anchor))].sort()).toEqual([...sections].sort());
});

test("the table of the page names the codes of the API's errors beside their sections", () => {
  for (const [code, section] of Object.entries(SECTION_OF_CODE)) {
    const row = page.split("\n").find((line) => line.startsWith("| `") && line.includes(`\`${code}\``));
    // The page has no row of a code whose errors name each wrong field; a refused token has a message of its own.
    if (section !== undefined && section !== "sign-in") expect(row).toContain(`](#${section})`);
    else expect(row).toBeUndefined();
  }
});

describe("a source file has the message", () => {
  const files = globSync("{access,cli,client,plugin,provider}/**/*.ts", { cwd: root });
  const texts = files
    .filter((file) => file !== "client/recovery.ts")
    // A text that goes over several lines, and values inside.
    .map((file) => readFileSync(`${root}/${file}`, "utf8").replace(/["'`]\s*\+\s*["'`]/g, ""));
  const ofOthers = (anchor: string, message: string): boolean =>
    anchor === "killed" ||
    Object.hasOwn(SECTION_OF_CODE, message) ||
    /^no response from … (connect|getaddrinfo) E$/.test(message);
  const messages = rows.flatMap(({ anchor, codes }) => codes.filter((message) => !ofOthers(anchor, message)));

  test.each(messages)("%s", (message) => {
    const parts = message.split("…").filter((part) => part.trim() !== "");
    // A value may end with a word of the message, such as "1 record blocks".
    expect(texts.some((text) => parts.every((part) => text.includes(part.trim())))).toBe(true);
  });
});

test("an address is at the end of an error once, whatever the error quotes", () => {
  const inner = withSection("GetGroup group g: PERMISSION_DENIED: no", "denied");
  expect(withSection(`the record cannot be read: ${inner}\nUse other credentials.`, "unreadable-entry")).toBe(
    "the record cannot be read: GetGroup group g: PERMISSION_DENIED: no\nUse other credentials.\nSee docs/recovery.md#unreadable-entry",
  );
});
