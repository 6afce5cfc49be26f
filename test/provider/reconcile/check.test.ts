import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { check } from "../../../provider/reconcile/index.ts";
import type { Kind } from "../../../provider/record/kind.ts";
import type { Json } from "../../../schema/index.ts";
import { GROUP, IDENTITY, ORG, ROLE, UNKNOWN } from "../../support/scripted.ts";

const { externalGroupRoleMapping, group, identity, identityProvider, role, roleBinding } = kindRecords;

const failures = (kind: Kind, news: Json, olds: Json = {}) =>
  check(kind, olds, { ...news, __provider: "text" }).failures.map(({ property, reason }) => `${property}: ${reason}`);

const claimMatch = { issuer: "https://token.example.com", subject: "repo:a/b" };
const oidc = { issuer: "https://login.example.com", clientId: "pulumi" };
const UID_TEXT = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";

describe("valid inputs", () => {
  const rows: [string, Kind, Json][] = [
    ["a group", group, { parent: GROUP, name: "eng", description: "all of it", verified: false }],
    ["a new organization", group, { root: true, name: "org", kind: "ORG_KIND_CUSTOMER" }],
    ["an identity by claims", identity, { parent: GROUP, name: "ci", claimMatch }],
    [
      "an identity by patterns",
      identity,
      { parent: GROUP, name: "ci", claimMatch: { issuerPattern: "https://.*", subjectPattern: "repo:(a|b)" } },
    ],
    [
      "an identity of AWS",
      identity,
      { parent: GROUP, name: "ci", awsIdentity: { awsAccount: "123456789012", arn: "arn:x", userIdPattern: "A.*" } },
    ],
    [
      "a role by friendly and enum names",
      role,
      { parent: GROUP, name: "r", capabilities: ["groups.list", "CAP_IAM_ROLES_LIST"] },
    ],
    ["a role binding", roleBinding, { parent: GROUP, identity: IDENTITY, role: ROLE }],
    ["a built-in role by its name", roleBinding, { parent: GROUP, identity: IDENTITY, role: "registry.pull_token-1" }],
    ["the names that the constructor adds", roleBinding, { parent: GROUP, identity: IDENTITY, role: ROLE, names: {} }],
    ["the API's own names", roleBinding, { parent: GROUP, identityUid: IDENTITY, roleUid: ROLE }],
    [
      "values that are unknown in a preview",
      group,
      { parent: UNKNOWN, name: UNKNOWN, description: UNKNOWN, kind: UNKNOWN },
    ],
    ["an unknown block", identity, { parent: UNKNOWN, name: "ci", claimMatch: UNKNOWN }],
    [
      "unknowns inside a block",
      identity,
      {
        parent: GROUP,
        name: "ci",
        claimMatch: { issuer: UNKNOWN, subjectPattern: UNKNOWN, claims: { a: UNKNOWN }, claimPatterns: { b: UNKNOWN } },
      },
    ],
    ["an unknown configuration", identityProvider, { parent: GROUP, name: "p", defaultRole: ROLE, oidc: UNKNOWN }],
    [
      "an unknown client secret",
      identityProvider,
      { parent: GROUP, name: "p", defaultRole: ROLE, oidc: { ...oidc, clientSecret: UNKNOWN } },
    ],
    [
      "a client without a secret",
      identityProvider,
      { parent: GROUP, name: "p", defaultRole: ROLE, oidc: { ...oidc, pkceEnabled: true } },
    ],
    ["unknown capabilities", role, { parent: GROUP, name: "r", capabilities: [UNKNOWN, "groups.list"] }],
    ["unknown references", roleBinding, { parent: UNKNOWN, identity: UNKNOWN, role: UNKNOWN }],
    [
      "null for an absent value",
      identity,
      { parent: GROUP, name: "ci", description: null, claimMatch: { ...claimMatch, audience: null } },
    ],
  ];
  for (const [reason, kind, inputs] of rows) it(`pass: ${reason}`, () => expect(failures(kind, inputs)).toEqual([]));
});

describe("invalid inputs", () => {
  const rows: [string, Kind, Json, string[]][] = [
    [
      "a parent that is undefined by mistake",
      group,
      { name: "eng" },
      ["parent: parent is required; a new root organization needs root: true"],
    ],
    [
      "root and parent",
      group,
      { root: true, parent: GROUP, name: "eng" },
      ["parent: only one of parent, root may be set"],
    ],
    [
      "root: false and no parent",
      group,
      { root: false, name: "eng" },
      ["parent: parent is required; a new root organization needs root: true"],
    ],
    [
      "an identity at the root",
      identity,
      { root: true, name: "ci", claimMatch },
      ["root: unknown argument", "parent: parent is required"],
    ],
    [
      "white space around a uid",
      group,
      { parent: ` ${GROUP}`, name: "eng" },
      ["parent: must be a uid without white space around it"],
    ],
    ["a name for a parent", group, { parent: "eng", name: "eng" }, [`parent: ${UID_TEXT}`]],
    ["no name", group, { parent: GROUP }, ['name: name must match "^[a-z0-9 ._-]{1,}$"']],
    [
      "a kind below the root",
      group,
      { parent: GROUP, name: "eng", kind: "ORG_KIND_DEV" },
      ["kind: belongs to the root group; leave it out below"],
    ],
    [
      "a client that has no secret and no PKCE",
      identityProvider,
      { parent: GROUP, name: "p", defaultRole: ROLE, oidc },
      ["oidc.clientSecret: is required unless pkceEnabled is set"],
    ],
    [
      "an argument by the name of its output",
      externalGroupRoleMapping,
      { parent: `${ORG}/1111111111111111`, externalGroupId: "SRE", roleUid: ROLE, scope: ORG },
      ["roleUid: unknown argument; did you mean role?"],
    ],
    [
      "a mapping without a role",
      externalGroupRoleMapping,
      { parent: `${ORG}/1111111111111111`, externalGroupId: "SRE", scope: ORG },
      [`role: ${UID_TEXT}, or the name of a built-in role`],
    ],
    [
      "a misspelt argument",
      group,
      { parent: GROUP, name: "eng", descripton: "x" },
      ["descripton: unknown argument; did you mean description?"],
    ],
    [
      "misspelt fields that are required: one problem each, and a wrong value is named too",
      identity,
      { parent: GROUP, name: "ci", claimMatch: { isuer: "http://example.com", subjct: "s" } },
      [
        "claimMatch.isuer: unknown argument; did you mean issuer?",
        "claimMatch.subjct: unknown argument; did you mean subject?",
        "claimMatch.issuer: must be an https URL in its normal form, without user, query or fragment, at most 255 characters",
      ],
    ],
    [
      "a misspelt relationship",
      identity,
      { parent: GROUP, name: "ci", claimMach: { issuer: claimMatch.issuer, subject: "s" } },
      ["claimMach: unknown argument; did you mean claimMatch?"],
    ],
    [
      "an argument that only the service sets",
      group,
      { parent: GROUP, name: "eng", createTime: "x" },
      ["createTime: unknown argument"],
    ],
    [
      "a flag that is not a boolean",
      group,
      { parent: GROUP, name: "eng", allowReplace: "yes" },
      ["allowReplace: must be true or false"],
    ],
    [
      "everything at once, in the API's words",
      identity,
      {
        parent: "x",
        name: "CI",
        description: "two\nlines",
        claimMatch: { issuer: "http://example.com", subjectPattern: "(", isuer: "y" },
      },
      [
        "claimMatch.isuer: unknown argument; did you mean issuer?",
        `parent: ${UID_TEXT}`,
        'name: name must match "^[a-z0-9 ._-]{1,}$"',
        String.raw`description: description must match "^[\S ]{0,512}$"`,
        "claimMatch.issuer: must be an https URL in its normal form, without user, query or fragment, at most 255 characters",
        "claimMatch.subjectPattern: must be an RE2 pattern: error parsing regexp: missing closing ): `(`",
      ],
    ],
    [
      "two relationships",
      identity,
      { parent: GROUP, name: "ci", claimMatch, servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
      ["servicePrincipal: only one of claimMatch, servicePrincipal may be set"],
    ],
    [
      "no relationship",
      identity,
      { parent: GROUP, name: "ci" },
      ["claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set"],
    ],
    [
      "a pattern of JavaScript that RE2 does not have",
      identity,
      {
        parent: GROUP,
        name: "ci",
        claimMatch: { issuer: claimMatch.issuer, subject: "s", claimPatterns: { ref: "(?=x)" } },
      },
      [
        "claimMatch.claimPatterns.ref: must be an RE2 pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
      ],
    ],
    [
      "no capability",
      role,
      { parent: GROUP, name: "r", capabilities: [] },
      ["capabilities: must have at least one capability"],
    ],
    [
      "an unknown capability",
      role,
      { parent: GROUP, name: "r", capabilities: ["groups.list", "groups.lst"] },
      ['capabilities[1]: must be a value of Capability; got "groups.lst"; did you mean groups.list?'],
    ],
    [
      "an internal capability alone",
      role,
      { parent: GROUP, name: "r", capabilities: ["repo.internal.admin"] },
      ["capabilities: must contain internal, since it contains repo.internal.admin"],
    ],
    [
      "references by the names of the arguments",
      roleBinding,
      { parent: GROUP, identity: "ci" },
      [`identity: ${UID_TEXT}`, `role: ${UID_TEXT}, or the name of a built-in role`],
    ],
    [
      "a text that is neither the name of a role nor a uid",
      roleBinding,
      { parent: GROUP, identity: IDENTITY, role: ` ${ROLE}`, rol: "viewer", names: {} },
      ["rol: unknown argument; did you mean role?", `role: ${UID_TEXT}, or the name of a built-in role`],
    ],
  ];
  for (const [reason, kind, inputs, expected] of rows)
    it(`fail: ${reason}`, () => expect(failures(kind, inputs)).toEqual(expected));
});

describe("the returned inputs", () => {
  it("state the effect of a deletion on an adopted record, also without adopt in the program", () => {
    const news = { parent: ORG, name: "eng" };
    const adopting = check(group, {}, { ...news, adopt: GROUP }).inputs;
    expect(adopting).toMatchObject({ onDelete: "the adopted record stays" });
    expect(check(group, adopting, news).inputs).toEqual({ ...news, onDelete: "the adopted record stays" });
    const deleting = check(group, adopting, { ...news, deleteAdopted: true }).inputs;
    expect(deleting).toMatchObject({ onDelete: "deletes the adopted record" });
    expect(check(group, {}, news).inputs).toEqual(news);
    expect(failures(group, { ...news, onDelete: "x" })).toEqual(["onDelete: unknown argument"]);
  });

  it("have capabilities by enum name, once each, in one order", () => {
    const news = { parent: GROUP, name: "r", capabilities: ["roles.list", "CAP_IAM_GROUPS_LIST", "groups.list"] };
    expect(check(role, {}, news).inputs).toEqual({
      parent: GROUP,
      name: "r",
      capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"],
    });
  });

  it("keep the engine's own member", () => {
    expect(check(group, {}, { root: true, name: "x", __provider: "text" }).inputs.__provider).toBe("text");
  });

  it("do not change the given inputs", () => {
    const news = Object.freeze({
      parent: GROUP,
      name: "r",
      capabilities: Object.freeze(["roles.list", "groups.list"]),
    });
    expect(() => check(role, {}, news as unknown as Json)).not.toThrow();
  });
});

describe("a replacement that would break dependents of the uid", () => {
  const keys = { issuer: "https://a.example.com", subject: "s", issuerKeys: "{}" };
  const rows: [string, Kind, Json, Json, string[]][] = [
    [
      "a group's parent",
      group,
      { parent: GROUP, name: "eng" },
      { parent: ORG, name: "eng" },
      [
        "parent: a change creates a new group: its uid and the uids of everything below it would change, and the role bindings in it would end; set allowReplace: true to allow it",
      ],
    ],
    [
      "an organization that would become a group",
      group,
      { root: true, name: "eng" },
      { parent: ORG, name: "eng" },
      [
        "parent: a change creates a new group: its uid and the uids of everything below it would change, and the role bindings in it would end; set allowReplace: true to allow it",
      ],
    ],
    [
      "an identity's keys",
      identity,
      { parent: GROUP, name: "ci", staticKeys: keys },
      { parent: GROUP, name: "ci", staticKeys: { ...keys, subject: "t" } },
      [
        "staticKeys: a change creates a new identity: its uid would change: role bindings and workloads that name it would lose their access; set allowReplace: true to allow it",
      ],
    ],
    [
      "a switch away from keys",
      identity,
      { parent: GROUP, name: "ci", staticKeys: keys },
      { parent: GROUP, name: "ci", claimMatch },
      [
        "staticKeys: a change creates a new identity: its uid would change: role bindings and workloads that name it would lose their access; set allowReplace: true to allow it",
      ],
    ],
    [
      "a role's parent",
      role,
      { parent: GROUP, name: "r", capabilities: ["groups.list"] },
      { parent: ORG, name: "r", capabilities: ["groups.list"] },
      [
        "parent: a change creates a new role: its uid would change: role bindings that name it keep the old role from being deleted; set allowReplace: true to allow it",
      ],
    ],
    [
      "a claim changes in place",
      identity,
      { parent: GROUP, name: "ci", claimMatch },
      { parent: GROUP, name: "ci", claimMatch: { ...claimMatch, subject: "t" } },
      [],
    ],
    [
      "a role binding that moves",
      roleBinding,
      { parent: GROUP, identityUid: IDENTITY, roleUid: ROLE },
      { parent: ORG, identityUid: IDENTITY, roleUid: ROLE },
      [],
    ],
    ["a parent that is not known yet", group, { parent: GROUP, name: "eng" }, { parent: UNKNOWN, name: "eng" }, []],
    [
      "keys that are not known yet",
      identity,
      { parent: GROUP, name: "ci", staticKeys: keys },
      { parent: GROUP, name: "ci", staticKeys: { ...keys, issuerKeys: UNKNOWN } },
      [],
    ],
  ];
  for (const [reason, kind, olds, news, expected] of rows)
    it(`${expected.length > 0 ? "is refused" : "is none"}: ${reason}`, () =>
      expect(failures(kind, news, olds)).toEqual(expected));

  it("passes with allowReplace", () => {
    expect(failures(group, { parent: ORG, name: "eng", allowReplace: true }, { parent: GROUP, name: "eng" })).toEqual(
      [],
    );
  });
});
