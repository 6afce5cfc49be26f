// Changes by hand in every field of every kind, and records that were deleted or cannot be read (docs/faults.md#f17). An update
// leaves alone what this version does not know.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Program, type Workplace } from "../support/program.ts";
import { type HoldingProxy, startProxy } from "../support/proxy.ts";
import { writesOf } from "../support/requests.ts";

const source = `
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "team", description: "of the program" });
const ci = new Identity("ci", {
  parent: team, name: "ci", description: "of the program", company: "acme",
  claimMatch: { issuer: "https://issuer.example", subject: "ci", audience: "aud",
    claims: { kept: "1", changed: "1", removed: "1" }, claimPatterns: { ref: "main" } },
});
const aws = new Identity("aws", { parent: team, name: "aws", awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/a", userIdPattern: "a.*" } });
const role = new Role("role", { parent: team, name: "role", description: "of the program", capabilities: ["groups.list", "repo.list"] });
const other = new Role("other", { parent: team, name: "other", capabilities: ["groups.list"] });
new RoleBinding("binding", { parent: team, identity: ci, role });
`;

describe("drift", () => {
  let place: Workplace;
  let proxy: HoldingProxy;
  let program: Program;
  beforeAll(async () => {
    place = await createWorkplace();
    proxy = await startProxy(() => place.server.baseUrl);
    program = await place.program("drift", source, {
      ORG: place.server.organization,
      IRM_BASE_URL: proxy.url,
      IRM_TOKEN: place.server.token,
    });
    await program.must("up", "--yes", "--skip-preview");
  });
  afterAll(async () => {
    await proxy.close();
    await place.close();
  });

  const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid as string;
  const bindingUid = () => place.rows("role_bindings", "founding = 0")[0]?.uid as string;
  const writes = () => writesOf(place.server.takeRequests());
  const patch = async (path: string, body: object, mask: string) => {
    const { status, json } = await place.call("PATCH", `/iam/v2beta1/${path}?updateMask=${mask}`, body);
    expect(status, JSON.stringify(json)).toBe(200);
  };

  it("does not show right after an up", async () => {
    const refresh = await program.must("refresh", "--yes", "--skip-preview", "--expect-no-changes");
    expect(refresh.output).toContain("7 unchanged");
  });

  it("shows in each field of each kind, and the next up sends just these", async () => {
    const records = () => [
      ...["groups", "identities", "roles"].flatMap((table) =>
        place.rows(table, "parent IS NOT NULL").map(({ uid, name, body }) => ({ uid, name, body })),
      ),
      ...place.rows("role_bindings").map(({ uid, role_uid, identity_uid }) => ({ uid, role_uid, identity_uid })),
    ];
    const before = records();
    const [team, ci, aws, role] = [
      uidOf("groups", "team"),
      uidOf("identities", "ci"),
      uidOf("identities", "aws"),
      uidOf("roles", "role"),
    ];
    await patch(`groups/${team}`, { name: "by hand", description: "" }, "name,description");
    await patch(
      `identities/${ci}`,
      {
        name: "by hand",
        description: "by hand",
        company: "",
        claimMatch: {
          issuerPattern: "https://.*",
          subjectPattern: "c.*",
          audiencePattern: "a.*",
          claims: { kept: "1", changed: "by hand", added: "by hand" },
          claimPatterns: { ref: "by hand" },
        },
      },
      "name,description,company,claimMatch",
    );
    await patch(
      `identities/${aws}`,
      { awsIdentity: { awsAccount: "210987654321", arnPattern: "arn:.*", userId: "by-hand" } },
      "awsIdentity",
    );
    await patch(
      `roles/${role}`,
      { name: "by hand", description: "", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"] },
      "name,description,capabilities",
    );
    await patch(`roleBindings/${bindingUid()}`, { roleUid: uidOf("roles", "other") }, "roleUid");

    const refresh = await program.must("refresh", "--yes", "--skip-preview", "--diff");
    expect(refresh.output).toContain("5 updated");
    for (const text of [
      '"team" => "by hand"',
      "company",
      "issuerPattern",
      "subjectPattern",
      "audiencePattern",
      "added",
      "removed",
      '"CAP_IAM_ROLES_LIST"',
      '"123456789012" => "210987654321"',
      "arnPattern",
      '~ name: "role" => "other"',
    ])
      expect(refresh.output).toContain(text);
    place.server.takeRequests();

    await program.must("up", "--yes", "--skip-preview");
    expect(
      writes()
        .map(({ operation, query }) => [operation, query?.updateMask])
        .sort(),
    ).toEqual([
      ["UpdateGroup", "description,name"],
      [
        "UpdateIdentity",
        "awsIdentity.arn,awsIdentity.arnPattern,awsIdentity.awsAccount,awsIdentity.userId,awsIdentity.userIdPattern",
      ],
      [
        "UpdateIdentity",
        "claimMatch.audience,claimMatch.audiencePattern,claimMatch.claimPatterns,claimMatch.claims,claimMatch.issuer," +
          "claimMatch.issuerPattern,claimMatch.subject,claimMatch.subjectPattern,company,description,name",
      ],
      ["UpdateRole", "capabilities,description,name"],
      ["UpdateRoleBinding", "roleUid"],
    ]);
    expect(records()).toEqual(before);
    await program.must("preview", "--expect-no-changes");
  });

  it("by a deletion plans to create the record again", async () => {
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${bindingUid()}`);
    await place.call("DELETE", `/iam/v2beta1/identities/${uidOf("identities", "aws")}`);
    const refresh = await program.must("refresh", "--yes", "--skip-preview");
    expect(refresh.output).toContain("2 deleted");
    const preview = await program.must("preview");
    expect(preview.output).toContain("+ 2 to create");
    place.server.takeRequests();
    await program.must("up", "--yes", "--skip-preview");
    expect(
      writes()
        .map(({ operation }) => operation)
        .sort(),
    ).toEqual(["CreateIdentity", "CreateRoleBinding"]);
  });

  it.each([
    [404, 5, "Not found: nobody knows it", "is known to the service; is irm:baseUrl the right address?"],
    [403, 7, "Permission denied: no", "A record that may not be read is not taken for deleted.", "PERMISSION_DENIED"],
  ])(
    "is not what a service looks like that answers %i to everything: an error, and the state stays",
    async (status, code, message, text, onDelete = text) => {
      const ids = () => program.state().resources.map(({ id }) => id);
      const before = ids();
      const stops = ["GET", "DELETE"].map((method) =>
        proxy.answer(method, /\/iam\//, status, { code, message, details: [] }),
      );
      const refresh = await program.run("refresh", "--yes", "--skip-preview");
      const destroy = await program.run("destroy", "--yes", "--skip-preview");
      for (const stop of stops) stop();
      expect(refresh.code).not.toBe(0);
      expect(refresh.output).toContain(text);
      expect(destroy.code).not.toBe(0);
      expect(destroy.output).toContain(onDelete);
      expect(ids()).toEqual(before);
      await program.must("preview", "--expect-no-changes");
    },
  );
});
