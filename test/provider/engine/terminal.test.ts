// Text of the service on its way to the person who runs Pulumi.
import { afterEach, expect, it, vi } from "vitest";
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
