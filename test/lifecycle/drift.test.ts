// Changes by hand in every field of every kind, and records that were deleted or cannot be read (docs/faults.md#f17). An update
// keeps fields that this version does not know.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { type HoldingProxy, startProxy } from "../support/proxy.ts";

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
const plain = new Identity("plain", { parent: team, name: "plain", claimMatch: { issuer: "https://issuer.example", subject: "plain" } });
const gone = new Identity("gone", { parent: team, name: "gone", claimMatch: { issuer: "https://issuer.example", subject: "gone" } });
new RoleBinding("gone", { parent: team, identity: plain, role: other });
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
      IRM_AUTH_URL: "",
      IRM_IDENTITY: "",
      IRM_IDENTITY_TOKEN_FILE: "",
      IRM_TOKEN: place.server.token,
    });
    await program.must("up", "--yes", "--skip-preview");
  });
  afterAll(async () => {
    await proxy.close();
    await place.close();
  });

  const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid as string;
  const bindingUid = (identity: string) =>
    place.rows("role_bindings", "identity_uid = ?", uidOf("identities", identity))[0]?.uid as string;
  const writes = async () => writesOf(await place.server.takeRequests());
  const patch = async (path: string, body: object, mask: string) => {
    const { status, json } = await place.call("PATCH", `/iam/v2beta1/${path}?updateMask=${mask}`, body);
    expect(status, JSON.stringify(json)).toBe(200);
  };

  it("is detected with a token that stays out of the state", () => {
    expect(program.state().resources.filter(({ id }) => id !== undefined)).toHaveLength(10);
    expect(program.state().text).not.toContain(place.server.token);
  });

  it("shows in each field of each kind and for deleted records, and the next up repairs only these", async () => {
    const records = () => [
      ...["groups", "identities", "roles"].flatMap((table) =>
        place.rows(table, "parent IS NOT NULL").map(({ uid, name, body }) => ({ uid, name, body })),
      ),
      ...place.rows("role_bindings").map(({ uid, role_uid, identity_uid }) => ({ uid, role_uid, identity_uid })),
    ];
    const [team, role] = [uidOf("groups", "team"), uidOf("roles", "role")];
    const [ci, aws, plain, gone] = ["ci", "aws", "plain", "gone"].map((name) => uidOf("identities", name));
    const [binding, goneBinding] = [bindingUid("ci"), bindingUid("plain")];
    const deleted = [goneBinding, gone];
    const before = records().filter(({ uid }) => !deleted.includes(uid));
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
    await patch(`roleBindings/${binding}`, { roleUid: uidOf("roles", "other") }, "roleUid");
    // A field that the program does not set.
    await patch(
      `identities/${plain}`,
      { description: "added by hand", claimMatch: { claims: { ref: "x" } } },
      "description,claimMatch.claims",
    );
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${goneBinding}`);
    await place.call("DELETE", `/iam/v2beta1/identities/${gone}`);

    const refresh = await program.must("refresh", "--yes", "--skip-preview", "--diff");
    expect(refresh.output).toContain("6 updated");
    expect(refresh.output).toContain("2 deleted");
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
      "added by hand",
    ])
      expect(refresh.output).toContain(text);
    await place.server.takeRequests();

    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("+ 2 created");
    expect((await writes()).map(({ operation, query }) => [operation, query?.updateMask]).sort()).toEqual([
      ["CreateIdentity", undefined],
      ["CreateRoleBinding", undefined],
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
      ["UpdateIdentity", "claimMatch.claims,description"],
      ["UpdateRole", "capabilities,description,name"],
      ["UpdateRoleBinding", "roleUid"],
    ]);
    const made = [bindingUid("plain"), uidOf("identities", "gone")];
    expect(records().filter(({ uid }) => !made.includes(uid))).toEqual(before);
  });

  it("does not show right after an up, nor in the next up", async () => {
    await program.must("preview", "--expect-no-changes");
    await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
    expect(await writes()).toEqual([]);
  });

  it.each([
    [404, 5, "Not found: it does not exist", "is known to the service; is irm:baseUrl the right address?"],
    [403, 7, "Permission denied: no", "Permission denied is not treated as deletion.", "PERMISSION_DENIED"],
  ])(
    "does not include a service that answers %i to everything: an error, and the state stays",
    async (status, code, message, text, onDelete = text) => {
      const records = () => program.state().resources.map(({ urn, id, inputs, outputs }) => [urn, id, inputs, outputs]);
      const before = records();
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
      expect(records()).toEqual(before);
    },
  );
});
