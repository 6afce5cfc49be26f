// Previews that are broken, hostile, of another service, or that hide what they would change.
import { describe, expect, test } from "vitest";
import { runPreview } from "../../../access/preview/run-preview.ts";
import { otherServiceText } from "../../../access/preview/service.ts";
import { PreviewError, parsePreview } from "../../../access/preview/shape.ts";
import type { Json } from "../../../schema/index.ts";
import { ROOT, uidIn } from "../graphs.ts";
import { changed, created, UNKNOWN, urnOf } from "./fixture.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, named, reportOf, rowsOf, TEAM, VIEWER } from "./team.ts";

const BOUND = created("RoleBinding", "b", { parent: TEAM, identity: CI, role: "viewer" });
const GAIN = ["ci + team groups.list viewer"];

describe("a text that is no preview", () => {
  const text = JSON.stringify({ steps: [BOUND], changeSummary: { create: 1 } });
  test.each([
    ["cut off", text.slice(0, -5), "FILE is not JSON"],
    ["two previews, one after the other", text + text, "FILE is not JSON"],
    ["in UTF-16", Buffer.from(text, "utf16le").toString(), "FILE is not JSON"],
    ["empty", "", "FILE is not JSON"],
    ["null", "null", "FILE is not a preview"],
    ["brackets without end", "[".repeat(100_000), "FILE is not JSON"],
    ["brackets", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "FILE is not a preview"],
  ])("%s yields no review, and says so", (_, broken, message) => {
    expect(() => parsePreview(broken, "FILE")).toThrow(PreviewError);
    expect(() => parsePreview(broken, "FILE")).toThrow(message);
  });

  test("a byte order mark before one is none of its business", () => {
    expect(parsePreview(`\uFEFF${text}`, "FILE").steps).toHaveLength(1);
  });
});

describe("a preview that failed", () => {
  const engineThat = (script: string) => runPreview([process.execPath, "-e", script]);
  const text = JSON.stringify({ steps: [BOUND], changeSummary: { create: 1 } });

  test("yields no review where the engine ends with an error that it does not name", async () => {
    const failing = engineThat(`process.stdout.write(${JSON.stringify(text)}); process.exitCode = 255`);
    await expect(failing).rejects.toThrow(PreviewError);
    await expect(failing).rejects.toThrow("pulumi preview ended with 255, but its output lists no error");
  });

  test("yields no review where a signal ends the engine", async () => {
    const killed = engineThat(
      `process.stdout.write(${JSON.stringify(text)}, () => process.kill(process.pid, "SIGKILL"))`,
    );
    await expect(killed).rejects.toThrow("pulumi preview ended with SIGKILL");
  });

  test("is one with an error among its diagnostics, whatever its steps are", () => {
    const diagnostics = [{ severity: "info", message: "fine" }, { severity: "error" }, 7];
    expect(() => parsePreview(JSON.stringify({ steps: [BOUND], diagnostics }), "FILE")).toThrow(
      "the preview has errors. Correct them first:",
    );
  });

  test("is not one that the engine ends well", async () => {
    const { steps } = await engineThat(`process.stdout.write(${JSON.stringify(text)})`);
    expect(steps).toHaveLength(1);
  });
});

describe("a preview of another service", () => {
  const config = { baseUrl: "http://localhost:8080/" };
  const stepAt = (address: string): Json =>
    changed("same", "RoleBinding", "b", bindingUid(TEAM, 0), { outputs: { __service: address }, new: {} });
  const check = (step: Json, movedFrom?: string) =>
    otherServiceText(parsePreview(JSON.stringify({ steps: [step] }), "FILE"), {
      ...config,
      ...(movedFrom && { movedFrom }),
    });

  test("yields no review, and says which service it is of", () => {
    expect(check(stepAt("https://irm.example.com"))).toContain(
      "the preview is of the service at https://irm.example.com, and IRM_BASE_URL names http://127.0.0.1:8080",
    );
  });

  test("is not one of the same address in another spelling, of a confirmed move, or of another provider", () => {
    expect(check(stepAt("http://127.0.0.1:8080"))).toBeUndefined();
    expect(check(stepAt("https://irm.example.com"), "https://irm.example.com")).toBeUndefined();
    const other = { ...stepAt("https://irm.example.com"), urn: "urn:pulumi:dev::access::other:index:Thing::b" };
    expect(check(other)).toBeUndefined();
  });

  test("is said where only its groups are unknown: it creates everything", () => {
    const strange = uidIn("2".repeat(40), 1);
    const claimMatch = { issuer: ISSUER, subject: "x" };
    const steps = [
      created("RoleBinding", "b", { parent: strange, identity: CI, role: "viewer" }),
      created("Identity", "i", { parent: strange, name: "i", claimMatch }),
    ];
    const why = `parent: the API does not list group ${strange}: it was removed since, you cannot see it, or the preview is of another service`;
    expect(reportOf({ steps, changeSummary: { create: 2 } }, liveWith()).unknown.map(({ message }) => message)).toEqual(
      [`identity i: ${why}`, `role binding b: ${why}`],
    );
  });
});

describe("a preview that leaves something out", () => {
  test("is reviewed, and what it counts and does not show is said", () => {
    const { identities, unknown } = reportOf({ steps: [BOUND], changeSummary: { create: 3, delete: 1 } }, liveWith());
    expect(identities).toHaveLength(1);
    expect(unknown.map(({ message }) => message)).toEqual([
      'the preview counts 3 steps "create" and shows 1: what the others change is not in this review',
      'the preview counts 1 steps "delete" and shows 0: what the others change is not in this review',
    ]);
  });
});

describe("values that a preview hides", () => {
  const SIGNATURE = "4dabf18193072939515e22adb298388d";
  const secret = (plaintext: string) => ({ [SIGNATURE]: "1b47061264138c4ac30d75fd1eb44270", plaintext });

  test("a secret in the engine's own wrapping is not in the review, and one of a record that exists is reported", () => {
    const claimMatch = { issuer: ISSUER, subject: secret('"swordfish"') };
    const steps = [
      created("Identity", "i", { parent: TEAM, name: secret('"swordfish"'), claimMatch }),
      created("RoleBinding", "b", { parent: TEAM, identity: secret(`"swordfish"`), role: "viewer" }),
    ];
    const report = reportOf({ steps, changeSummary: { create: 2 } }, liveWith());
    expect(JSON.stringify(report)).not.toContain("swordfish");
    expect(report.unknown.map(({ message }) => message)).toEqual([
      "identity i: who can assume it is secret",
      "role binding b: identity: it is secret; an identity that is not known would get role viewer at group team",
    ]);
  });

  test("an output in the engine's own wrapping is its value, or unknown", () => {
    const output = (own: Json) => ({ [SIGNATURE]: "d0e6a833031e9bbcd3f4e8bde6ca49a4", ...own });
    const inputs = { parent: TEAM, identity: output({ value: CI }), role: "viewer" };
    expect(rowsOf(reportOf({ steps: [created("RoleBinding", "b", inputs)] }, liveWith()))).toEqual(GAIN);
    const unknown = created("RoleBinding", "b", { ...inputs, identity: output({}) });
    expect(reportOf({ steps: [unknown] }, liveWith()).unknown).toMatchObject([{ subject: "b", property: "identity" }]);
  });

  test("capabilities that only the run knows are unknown: what is shown is gained, and nothing is lost", () => {
    const states = (capabilities: unknown) => ({
      old: { parent: TEAM, name: "maker", capabilities: ["CAP_REPO_CREATE"] },
      new: { parent: TEAM, name: "maker", capabilities },
    });
    const reportWith = (capabilities: unknown) =>
      reportOf(
        { steps: [changed("update", "Role", "maker", MAKER, states(capabilities))] },
        liveWith([TEAM, CI, MAKER]),
      );
    const unknown = { subject: "maker", property: "capabilities" };
    const all = reportWith(UNKNOWN);
    expect([rowsOf(all), all.unknown[0]]).toEqual([[], expect.objectContaining(unknown)]);
    const some = reportWith(["CAP_IAM_GROUPS_LIST", UNKNOWN]);
    expect([rowsOf(some), some.unknown[0]]).toEqual([
      ["ci + team groups.list maker"],
      expect.objectContaining(unknown),
    ]);
  });

  test.each([UNKNOWN, "[secret]"])("a set that may be exclusive counts as exclusive: %s", (exclusive) => {
    const unmanaged = [{ uid: bindingUid(TEAM, 0), identity: named(CI, "ci"), role: named(VIEWER, "viewer") }];
    const step = changed("update", "RoleBindingSet", "s", TEAM, {
      old: { parent: TEAM, bindings: [], exclusive: true },
      outputs: { bindings: [], exclusive: true, unmanaged },
      new: { parent: TEAM, bindings: [], exclusive },
    });
    const report = reportOf({ steps: [step] }, liveWith([TEAM, CI, VIEWER]));
    expect(rowsOf(report)).toEqual(["ci - team groups.list viewer"]);
    expect(report.unknown).toContainEqual({
      subject: "s",
      property: "exclusive",
      message:
        "role binding set s: exclusive: it is not known, so this review counts it as set: what the set would remove is a loss",
    });
  });

  test("inputs that are nested without end are unknown, not followed", () => {
    let deep: unknown = "x";
    for (let i = 0; i < 3000; i += 1) deep = { deep };
    const steps = [created("Identity", "i", { parent: TEAM, name: "i", claimMatch: { issuer: ISSUER, deep } }), BOUND];
    const report = reportOf({ steps }, liveWith());
    expect(rowsOf(report)).toEqual(GAIN);
    expect(report.unknown[0]).toMatchObject({ subject: "i" });
  });
});

describe("resources that are not in the graph", () => {
  const messagesOf = (...steps: Json[]) =>
    reportOf({ steps, changeSummary: {} }, liveWith()).unknown.map(({ message }) => message);

  test("those of a newer version are unknown, and repositories, tags and what stays are none of access", () => {
    const stays = changed("same", "Robot", "r", uidIn(TEAM, 7), { new: {} });
    expect(
      messagesOf(created("Repo", "r", {}), created("Tag", "t", {}), created("AccountAssociation", "a", {})),
    ).toEqual([]);
    expect(messagesOf(stays, created("Robot", "r", {}))[0]).toBe(
      "this version does not know resources of type Robot; update pulumi-irm",
    );
  });

  test("the type of a native plugin may name its module", () => {
    const urn = "urn:pulumi:dev::access::irm:index/roleBinding:RoleBinding::b";
    expect(rowsOf(reportOf({ steps: [{ ...BOUND, urn }] }, liveWith()))).toEqual(GAIN);
  });
});

test("a record that stays is as the API lists it, also where it was renamed by hand", () => {
  const step = changed("same", "Identity", "ci", CI, {
    old: { parent: ROOT, name: "declared" },
    new: { parent: ROOT, name: "declared" },
  });
  expect(reportOf({ steps: [step], changeSummary: { same: 1 } }, liveWith()).identities).toEqual([]);
});

test("a preview of 100 MB is reviewed: steps of other providers cost nothing", () => {
  const other = { op: "create", urn: "urn:pulumi:dev::access::aws:s3/object:Object::o" };
  const steps = Array.from({ length: 100 }, () => ({
    ...other,
    newState: { inputs: { content: "x".repeat(1_000_000) } },
  }));
  expect(rowsOf(reportOf({ steps: [...steps, BOUND] }, liveWith()))).toEqual(GAIN);
});

test("a step that stands twice, and a URN of odd parts, change nothing but what they say", () => {
  const odd = { ...BOUND, urn: "urn:::::" };
  const report = reportOf({ steps: [BOUND, BOUND, odd, { ...odd, urn: urnOf("RoleBinding", "") }] }, liveWith());
  expect(rowsOf(report)).toEqual(GAIN);
});
