// Text of the service, and errors, on their way to the person who runs Pulumi.
import { afterEach, expect, it, vi } from "vitest";
import { silencing } from "../../../provider/engine/report.ts";
import { title } from "../../../provider/record/kind.ts";
import { systemEnvironment } from "../../../provider/run/session.ts";
import { printableLines } from "../../../schema/index.ts";
import { configuredMethods, GROUP, keyOf, ORG, refusal } from "../../support/scripted.ts";

afterEach(() => vi.restoreAllMocks());

it("a message escapes the control characters of a name, and keeps its own line breaks", () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  systemEnvironment().log(`deletes:\n  - group ${GROUP} ${title({ name: "a\u001b[2J\u009b\nforged" })}`);
  expect(log.mock.calls).toEqual([[`deletes:\n  - group ${GROUP} "a\\u001b[2J\\u009b\\u000aforged"`]]);
  expect(title({ identity: { name: "i\u202e" }, role: { name: "r" } })).toBe("(i\\u202e as r)");
});

it("so does an error that quotes a name", async () => {
  const { methods } = await configuredMethods(refusal("PERMISSION_DENIED", "no\u001b[2J"));
  const inputs = { ...keyOf("eng"), parent: ORG, name: "a\u009b2J\u202e" };
  const failed = (await methods.group.create(inputs).catch((error: unknown) => error)) as Error;
  expect(failed).toBeInstanceOf(Error);
  expect(failed.message).toContain('"a\\u009b2J\\u202e"');
  expect(failed.message).toContain("no\\u001b[2J");
  expect(printableLines(failed.message)).toBe(failed.message);
});

it("an error that the engine reports is not printed twice, and every other text is printed", () => {
  const printed: unknown[][] = [];
  const console = { error: (...texts: unknown[]) => void printed.push(texts) };
  const silence = silencing(console);
  const error = Object.assign(new Error("no address of the API"), { stack: "" });
  silence(error);
  // As @pulumi/pulumi/cmd/dynamic-provider/index.ts prints it.
  console.error(`${error}: ${error.stack}`);
  expect(printed).toEqual([]);
  const others = ["one", "two"].map(() => Object.assign(new Error("for the same reason"), { stack: "" }));
  for (const other of others) silence(other);
  for (const other of [...others, error]) console.error(`${other}: ${other.stack}`);
  expect(printed.splice(0)).toEqual([[`${error}: `]]);
  const defect = new TypeError("x is not a function");
  console.error(`${defect}: ${defect.stack}`);
  console.error("two", "texts");
  expect(printed).toEqual([[`${defect}: ${defect.stack}`], ["two", "texts"]]);
});
