// Previews that are broken, hostile or of another service, and values that they hide.
import { describe, expect, test } from "vitest";
import { otherServiceText } from "../../access/run/service.ts";
import { openStackText, undeclaredText } from "../../client/preview-marks.ts";
import { PreviewError, parsePreview, runPreview } from "../../pulumi/preview.ts";
import { ourTypeOf, stackOfUrn } from "../../pulumi/urn.ts";
import { UNKNOWN, valuesIn } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import { CI, TEAM, urnOf } from "../access/team.ts";

const inputs = { parent: TEAM, identity: CI, role: "viewer" };
const BOUND = { op: "create", urn: urnOf("RoleBinding", "b"), newState: { inputs } };

const text = JSON.stringify({ steps: [BOUND], changeSummary: { create: 1 } });
test.each([
  ["cut off", text.slice(0, -5), "FILE is not JSON"],
  ["null", "null", "FILE is not a preview"],
  ["brackets without end", "[".repeat(100_000), "FILE is not JSON"],
  ["brackets", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "FILE is not a preview"],
])("a text that is no preview, %s, yields no review, and says so", (_, broken, message) => {
  expect(() => parsePreview(broken, "FILE")).toThrow(PreviewError);
  expect(() => parsePreview(broken, "FILE")).toThrow(message);
});

test("a byte order mark before a preview is none of its business", () => {
  expect(parsePreview(`\uFEFF${text}`, "FILE").steps).toHaveLength(1);
});

describe("a preview that failed", () => {
  const engineThat = (script: string) => runPreview([process.execPath, "-e", script], process.cwd());
  const text = JSON.stringify({ steps: [BOUND], changeSummary: { create: 1 } });

  test.each([
    ["the engine names no error", "process.exitCode = 255", "255, but its output lists no error"],
    ["a signal ends the engine", 'process.kill(process.pid, "SIGKILL")', "SIGKILL"],
  ])("yields no review where %s", async (_, end, how) => {
    const failing = engineThat(`process.stdout.write(${JSON.stringify(text)}, () => { ${end}; })`);
    await expect(failing).rejects.toThrow(PreviewError);
    await expect(failing).rejects.toThrow(`the preview ended with ${how}`);
  });

  test("is one with an error among its diagnostics, whatever its steps are, and not one that the engine ends well", async () => {
    const diagnostics = [{ severity: "info", message: "fine" }, { severity: "error" }, 7];
    expect(() => parsePreview(JSON.stringify({ steps: [BOUND], diagnostics }), "FILE")).toThrow(
      "the preview has errors. Correct them first:",
    );
    const { steps } = await engineThat(`process.stdout.write(${JSON.stringify(text)})`);
    expect(steps).toHaveLength(1);
  });
});

const service = { baseUrl: "http://localhost:8080/" };
const stepAt = (address: string): Json => {
  const oldState = { inputs: {}, outputs: { __service: address } };
  return { op: "same", urn: BOUND.urn, oldState, newState: { inputs: {} } };
};
const checkStep = (step: Json, movedFrom?: string) =>
  otherServiceText(parsePreview(JSON.stringify({ steps: [step] }), "FILE"), {
    ...service,
    ...(movedFrom && { movedFrom }),
  });

test("a preview of another service yields no review, and says which service it is of; the same address in another spelling, a confirmed move, or another provider is none", () => {
  expect(checkStep(stepAt("https://irm.example.com"))).toContain(
    "the preview is of the service at https://irm.example.com, and IRM_BASE_URL names http://127.0.0.1:8080",
  );
  expect(checkStep(stepAt("http://127.0.0.1:8080"))).toBeUndefined();
  expect(checkStep(stepAt("https://irm.example.com"), "https://irm.example.com")).toBeUndefined();
  const other = { ...stepAt("https://irm.example.com"), urn: "urn:pulumi:dev::access::other:index:Thing::b" };
  expect(checkStep(other)).toBeUndefined();
});

describe("a step", () => {
  const unreadable = (step: unknown) => parsePreview(JSON.stringify({ steps: [step] }), "FILE").unreadable;

  test("of another type than its URN shows is not read, and neither is one of another shape", () => {
    expect(unreadable({ ...BOUND, newState: { type: "irm:index:Group" } })).toEqual([
      expect.stringContaining(
        'its type is "irm:index:Group", and its URN shows "pulumi-nodejs:dynamic/irm:RoleBinding"',
      ),
    ]);
    expect(unreadable({ op: 7 })).toEqual([expect.stringContaining("step 1: ")]);
    expect(unreadable(BOUND)).toEqual([]);
  });

  test("of a native plugin may name its module, and a URN may have odd parts", () => {
    expect(ourTypeOf("urn:pulumi:dev::access::irm:index/roleBinding:RoleBinding::b")).toBe("RoleBinding");
    expect(["urn:::::", ""].map((urn) => [ourTypeOf(urn), stackOfUrn(urn)])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(stackOfUrn(BOUND.urn)).toBe("access/dev");
  });

  test("of another provider costs nothing, also in a preview of 100 MB", () => {
    const other = { op: "create", urn: "urn:pulumi:dev::access::aws:s3/object:Object::o" };
    const inputs = { content: "x".repeat(1_000_000) };
    const steps = Array.from({ length: 100 }, () => ({ ...other, newState: { inputs } }));
    expect(parsePreview(JSON.stringify({ steps: [...steps, BOUND] }), "FILE").steps).toHaveLength(101);
  });
});

const SIGNATURE = "4dabf18193072939515e22adb298388d";

test("a value in the engine's own wrapping is not shown where it is secret, and is its value or unknown where it is an output", () => {
  const name = { [SIGNATURE]: "1b47061264138c4ac30d75fd1eb44270", plaintext: '"swordfish"' };
  expect(valuesIn({ name, claimMatch: { subject: name } })).toEqual({
    name: "[secret]",
    claimMatch: { subject: "[secret]" },
  });
  const output = (own: Json) => ({ [SIGNATURE]: "d0e6a833031e9bbcd3f4e8bde6ca49a4", ...own });
  expect(valuesIn({ a: output({ value: CI }), b: output({}), c: output({ value: CI, secret: true }) })).toEqual({
    ...{ a: CI, b: UNKNOWN, c: "[secret]" },
  });
});

test("a value that is nested without end is unknown, not followed", () => {
  let deep: unknown = "x";
  for (let i = 0; i < 3000; i += 1) deep = { deep };
  expect(JSON.stringify(valuesIn({ deep }))).toContain(UNKNOWN);
});

test("what the provider and the end of the program do not know of an open stack are doubts", () => {
  const texts = [
    openStackText("organization/access/dev", "a run without checkpoints did not end"),
    undeclaredText("deletes", ["Group::new: group 7209…"]),
  ];
  const diagnostics = [...texts, "Group team changes:"].map((text) => ({ message: `${text}\n`, severity: "info#err" }));
  expect(parsePreview(JSON.stringify({ steps: [], diagnostics }), "FILE").doubts).toEqual(texts);
});
