// Changes by hand in every field of every kind, and records that were deleted (docs/internals/faults.md#f17).
import { beforeAll, expect, it } from "vitest";
import { openWorkplace, type Program } from "../harness/engine-workplace.ts";

const source = `
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "team", description: "of the program" });
const claims = (subject: string) => ({ parent: team, name: subject, claimMatch: { issuer: "https://issuer.example", subject } });
const ci = new Identity("ci", {
  parent: team, name: "ci", description: "of the program", company: "acme",
  claimMatch: { issuer: "https://issuer.example", subject: "ci", audience: "aud",
    claims: { kept: "1", changed: "1", removed: "1" }, claimPatterns: { ref: "main" } },
});
const role = new Role("role", { parent: team, name: "role", description: "of the program", capabilities: ["groups.list", "repo.list"] });
const other = new Role("other", { parent: team, name: "other", capabilities: ["groups.list"] });
new RoleBinding("binding", { parent: team, identity: ci, role });
const plain = new Identity("plain", claims("plain"));
new Identity("gone", claims("gone"));
new RoleBinding("gone", { parent: team, identity: plain, role: other });
`;

const place = openWorkplace();
let program: Program;
beforeAll(async () => {
  program = await place.program("drift", source, { ORG: place.server.organization });
  await program.must("up", "--yes", "--skip-preview");
});

const bindingUid = (identity: string) =>
  place.rows("role_bindings", "identity_uid = ?", place.uidOf("identities", identity))[0]?.uid as string;
const patch = async (path: string, body: object, mask: string) => {
  const { status, json } = await place.call("PATCH", `/iam/v2beta1/${path}?updateMask=${mask}`, body);
  expect(status, JSON.stringify(json)).toBe(200);
};

it("drift shows in each field of each kind and for deleted records, and the next up repairs only these", async () => {
  const records = () => [
    ...["groups", "identities", "roles"].flatMap((table) =>
      place.rows(table, "parent IS NOT NULL AND name != 'owner'").map(({ uid, name, body }) => ({ uid, name, body })),
    ),
    ...place.rows("role_bindings").map(({ uid, role_uid, identity_uid }) => ({ uid, role_uid, identity_uid })),
  ];
  const [team, role] = [place.uidOf("groups", "team"), place.uidOf("roles", "role")];
  const [ci, plain, gone] = ["ci", "plain", "gone"].map((name) => place.uidOf("identities", name));
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
    `roles/${role}`,
    { name: "by hand", description: "", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"] },
    "name,description,capabilities",
  );
  await patch(`roleBindings/${binding}`, { roleUid: place.uidOf("roles", "other") }, "roleUid");
  // A field that the program does not set.
  await patch(
    `identities/${plain}`,
    { description: "added by hand", claimMatch: { claims: { ref: "x" } } },
    "description,claimMatch.claims",
  );
  await place.call("DELETE", `/iam/v2beta1/roleBindings/${goneBinding}`);
  await place.call("DELETE", `/iam/v2beta1/identities/${gone}`);

  const refresh = await program.must("refresh", "--yes", "--skip-preview", "--diff");
  expect(program.state().text).not.toContain(place.server.token);
  expect(refresh.output).toContain("5 updated");
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
    '~ name: "role" => "other"',
    "added by hand",
  ])
    expect(refresh.output).toContain(text);
  await place.server.takeRequests();

  expect((await program.must("up", "--yes", "--skip-preview")).output).toContain("+ 2 created");
  expect((await place.writes()).map(({ operation, query }) => [operation, query?.updateMask]).sort()).toEqual([
    ["CreateIdentity", undefined],
    ["CreateRoleBinding", undefined],
    ["UpdateGroup", "description,name"],
    [
      "UpdateIdentity",
      "claimMatch.audience,claimMatch.audiencePattern,claimMatch.claimPatterns,claimMatch.claims,claimMatch.issuer," +
        "claimMatch.issuerPattern,claimMatch.subject,claimMatch.subjectPattern,company,description,name",
    ],
    ["UpdateIdentity", "claimMatch.claims,description"],
    ["UpdateRole", "capabilities,description,name"],
    ["UpdateRoleBinding", "roleUid"],
  ]);
  const made = [bindingUid("plain"), place.uidOf("identities", "gone")];
  expect(records().filter(({ uid }) => !made.includes(uid))).toEqual(before);
});

it("drift does not show in the next up", async () => {
  await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
  expect(await place.writes()).toEqual([]);
});
