// Access before and after recorded previews of a real engine.
import { describe, expect, test } from "vitest";
import { PreviewError, parsePreview } from "../../../access/preview/shape.ts";
import { recorded } from "./fixture.ts";
import { reportOf, rowsOf } from "./team.ts";

describe("a recorded preview of a new stack", () => {
  const { preview, live } = recorded("new");
  const report = reportOf(preview, live);

  test("is gains of identities without a uid, at groups by their paths", () => {
    expect(report.identities.map(({ uid, name, change }) => [uid, name, change])).toEqual([
      [null, "review", "created"],
      [null, "moved", "created"],
      [null, "release", "created"],
    ]);
    expect(rowsOf(report).filter((row) => row.startsWith("release"))).toEqual([
      "release + (new) platform/registry repo.create publisher",
      "release + (new) platform/registry repo.list publisher",
    ]);
  });

  test("knows each new record by its placeholder", () => {
    expect(report.unknown).toEqual([]);
  });
});

describe("a recorded preview of an edit", () => {
  const { preview, live } = recorded("edit");
  const report = reportOf(preview, live);
  const identity = (name: string, change?: string) => {
    const found = report.identities.find((one) => one.name === name && (!change || one.change === change));
    if (!found) throw new Error(`no ${name}`);
    return found;
  };

  test("a role that changes is a gain where it is bound, at the uid of the topmost group", () => {
    const { gains, losses } = identity("release");
    expect({ gains, losses }).toEqual({
      gains: [
        {
          group: expect.stringMatching(/^[0-9a-f]{40}\/[0-9a-f]{16}\/[0-9a-f]{16}$/),
          groupName: "platform/registry",
          capability: "tag.create",
          role: "publisher",
        },
      ],
      losses: [],
    });
  });

  test("who can assume an identity is shown before and after, as the API's JSON has it", () => {
    const issuer = "https://token.actions.githubusercontent.com";
    expect(identity("release")).toMatchObject({
      assumableBefore: { claimMatch: { issuer, subject: "repo:acme/images:ref:refs/heads/main" } },
      assumableAfter: { claimMatch: { issuer, subjectPattern: "repo:acme/.*:ref:refs/heads/main" } },
    });
  });

  test("a replaced identity loses, and the new one gains the same through the binding that follows it", () => {
    const rows = (name: string, change: string) => {
      const { gains, losses } = identity(name, change);
      return [...gains, ...losses].map(({ group, capability }) => `${group} ${capability}`);
    };
    expect(identity("moved", "created").uid).toBeNull();
    expect(rows("moved", "replaced")).toEqual(rows("moved", "created"));
  });

  test("a deleted group is a loss for those who had access only there, and names what disappears", () => {
    expect(identity("partner").losses.map(({ groupName }) => groupName)).toContain("legacy");
    expect(
      report.deletedGroups.map(({ groupName, contents }) => [groupName, contents.map(({ name }) => name)]),
    ).toEqual([["legacy", ["moved", "partner as editor at legacy"]]]);
    expect(
      report.forceDestroy.map(({ name, deletes, contents }) => [name, deletes, contents.map((one) => one.name)]),
    ).toEqual([["legacy", true, ["partner as editor at legacy"]]]);
  });

  test("a set brings its new pair, keeps that of a replaced identity, and removes what was created by hand beside it", () => {
    const at = (name: string, change: string | undefined, rows: "gains" | "losses") =>
      new Set(
        identity(name, change)
          [rows].filter(({ groupName }) => groupName === "platform/tools")
          .map(({ role }) => role),
      );
    expect(at("review", undefined, "gains")).toEqual(new Set(["publisher"]));
    expect(at("moved", "replaced", "losses")).toEqual(new Set(["viewer"]));
    expect(at("moved", "created", "gains")).toEqual(new Set(["viewer"]));
    expect(at("partner", undefined, "losses")).toEqual(new Set(["editor"]));
  });

  test("an adopted identity exists: it has its uid, and gains only what is new", () => {
    expect(identity("partner")).toMatchObject({ uid: expect.any(String), change: "none" });
    expect(report.adopted).toMatchObject([
      { kind: "identity", name: "partner", resource: "partner", deletedLater: false },
    ]);
  });

  test("a secret name is not shown, but that of the resource", () => {
    expect(identity("deploy").gains.map(({ capability }) => capability)).toEqual([
      "repo.create",
      "tag.create",
      "repo.list",
    ]);
    expect(JSON.stringify(report)).not.toContain("[secret]");
  });

  test("what only the run knows is listed as unknown", () => {
    expect(report.unknown).toEqual([
      {
        subject: "deploy-unknown",
        property: "role",
        message:
          "role binding deploy-unknown: role: the program computes it, so that only the run knows it; identity deploy would get a role that is not known at group clusters",
      },
    ]);
  });

  test("live access that no resource declares is listed", () => {
    expect(report.undeclared.map(({ identityName, role, groupName }) => [identityName, role, groupName])).toEqual([
      ["owner", "owner", "/"],
    ]);
  });

  test("the rules find what a reviewer must not miss", () => {
    expect(report.findings.map(({ rule, name }) => `${rule} ${name}`)).toEqual([
      "gains-owner deploy",
      "opens-path deploy",
      "pull-request-writes review",
      "regrants-removed review",
      "matches-many release",
      "identity-replaced moved",
    ]);
    // Its role is not known.
    const unknown = report.findings.filter((one) => one.unknown).map(({ rule }) => rule);
    expect(unknown).toEqual(["gains-owner", "opens-path"]);
  });
});

describe("a recorded preview of a version that shows no placeholders", () => {
  const { preview, live } = recorded("edit-without-placeholders");
  const report = reportOf(preview, live);

  test("gives new records nothing, and says what it does not know", () => {
    expect(rowsOf(report).filter((row) => row.startsWith("deploy"))).toEqual([]);
    expect(report.unknown.map(({ subject, property }) => `${subject} ${property}`)).toEqual([
      "deploy parent",
      "deploy-publishes parent",
      "deploy-publishes identity",
      "deploy-unknown parent",
      "deploy-unknown identity",
      "deploy-unknown role",
      "moved-edits identity",
      "partner-views identity",
      "tools bindings[0].identity",
    ]);
    const hidden = report.findings.filter(({ unknown }) => unknown).map(({ rule, name }) => `${rule} ${name}`);
    expect(hidden).toContain("gains-owner deploy-unknown");
    expect(hidden).toContain("root-binding deploy-publishes");
  });
});

describe("a preview without --refresh and --show-sames", () => {
  const { preview, live } = recorded("edit-without-refresh");
  const report = reportOf(preview, live);

  test("shows the same changes, except of what was removed or created by hand, and says what it cannot tell", () => {
    const { preview: full, live: same } = recorded("edit");
    const isByHand = (row: string) => /^(review |partner - platform\/tools )/.test(row);
    const without = rowsOf(reportOf(full, same)).filter((row) => !isByHand(row));
    expect(without.length).toBeGreaterThan(0);
    expect(rowsOf(report).filter((row) => !isByHand(row))).toEqual(without);
    expect(report.unknown.map(({ message }) => message)).toEqual([
      expect.stringContaining("role binding deploy-unknown"),
      expect.stringMatching(/without --refresh.*this run does not create it again, but a later one may$/),
      expect.stringContaining("without --show-sames"),
    ]);
    expect(report.undeclared).toEqual([]);
  });
});

describe("what is no preview", () => {
  test.each([
    ["a preview with errors", JSON.stringify(recorded("broken").preview), /the preview has errors.*Not A Name/s],
    ["no JSON", "Previewing update (dev)", /^FILE is not JSON .*--show-sames --refresh prints$/],
    ["another document", "{}", /^FILE is not a preview; it must be what pulumi preview --json/],
    ["steps of another shape", '{"steps":3}', /^FILE is not a preview: /],
  ])("%s yields no review, and says so", (_, text, message) => {
    expect(() => parsePreview(text, "FILE")).toThrow(PreviewError);
    expect(() => parsePreview(text, "FILE")).toThrow(message);
  });
});
