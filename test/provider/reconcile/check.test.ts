import { expect, it } from "vitest";
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

const eng = { parent: GROUP, name: "eng" };
const ci = { parent: GROUP, name: "ci" };
const own = { parent: GROUP, name: "r" };
const provider = { parent: GROUP, name: "p", defaultRole: ROLE };
const mapping = { parent: `${ORG}/1111111111111111`, externalGroupId: "SRE", scope: ORG };
const bound = { parent: GROUP, identity: IDENTITY, role: ROLE };

const patterns = { issuerPattern: "https://.*", subjectPattern: "repo:(a|b)" };
const unknowns = { issuer: UNKNOWN, subjectPattern: UNKNOWN, claims: { a: UNKNOWN }, claimPatterns: { b: UNKNOWN } };
const awsIdentity = { awsAccount: "123456789012", arn: "arn:x", userIdPattern: "A.*" };
const valid: [string, Kind, Json][] = [
  ["a new organization", group, { root: true, name: "org", kind: "ORG_KIND_CUSTOMER" }],
  ["an identity by patterns", identity, { ...ci, claimMatch: patterns }],
  ["an identity of AWS", identity, { ...ci, awsIdentity }],
  ["a role by friendly and enum names", role, { ...own, capabilities: ["groups.list", "CAP_IAM_ROLES_LIST"] }],
  ["a built-in role by its name", roleBinding, { ...bound, role: "registry.pull_token-1" }],
  ["the names that the constructor adds", roleBinding, { ...bound, names: {} }],
  ["the API's own names", roleBinding, { parent: GROUP, identityUid: IDENTITY, roleUid: ROLE }],
  ["unknown values", group, { parent: UNKNOWN, name: UNKNOWN, description: UNKNOWN, kind: UNKNOWN }],
  ["an unknown block", identity, { parent: UNKNOWN, name: "ci", claimMatch: UNKNOWN }],
  ["unknowns inside a block", identity, { ...ci, claimMatch: unknowns }],
  ["an unknown configuration", identityProvider, { ...provider, oidc: UNKNOWN }],
  ["an unknown client secret", identityProvider, { ...provider, oidc: { ...oidc, clientSecret: UNKNOWN } }],
  ["a client without a secret", identityProvider, { ...provider, oidc: { ...oidc, pkceEnabled: true } }],
  ["unknown capabilities", role, { ...own, capabilities: [UNKNOWN, "groups.list"] }],
  ["unknown references", roleBinding, { parent: UNKNOWN, identity: UNKNOWN, role: UNKNOWN }],
  ["null for an absent value", identity, { ...ci, description: null, claimMatch: { ...claimMatch, audience: null } }],
];
for (const [reason, kind, inputs] of valid)
  it(`valid inputs pass: ${reason}`, () => expect(failures(kind, inputs)).toEqual([]));

const { issuer } = claimMatch;
const noParent = "parent: parent is required; a new root organization needs root: true";
const name = 'name: name must match "^[a-z0-9 ._-]{1,}$"';
const url = "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";
const lookahead = { issuer, subject: "s", claimPatterns: { ref: "(?=x)" } };
const re2 = "must be an RE2 pattern: error parsing regexp";
const perl = "unsupported Perl syntax: `(?=`";
const TWO_RELATIONSHIPS = "servicePrincipal: only one of claimMatch, servicePrincipal may be set";
const misspelt = 'must be a value of Capability; got "groups.lst"; did you mean groups.list?';
const internal = "must contain internal, since it contains repo.internal.admin";
const noRole = `role: ${UID_TEXT}, or the name of a built-in role`;
const everything = {
  parent: "x",
  name: "CI",
  description: "two\nlines",
  claimMatch: { issuer: "http://example.com", subjectPattern: "(", isuer: "y" },
};
const invalid: [Kind, Json, ...string[]][] = [
  [group, { name: "eng" }, noParent],
  [group, { ...eng, root: true }, "parent: only one of parent, root may be set"],
  [group, { root: false, name: "eng" }, noParent],
  [identity, { root: true, name: "ci", claimMatch }, "root: unknown argument", "parent: parent is required"],
  [group, { parent: ` ${GROUP}`, name: "eng" }, "parent: must be a uid without white space around it"],
  [group, { parent: "eng", name: "eng" }, `parent: ${UID_TEXT}`],
  [group, { parent: GROUP }, name],
  [group, { ...eng, kind: "ORG_KIND_DEV" }, "kind: belongs to the root group; leave it out below"],
  [identityProvider, { ...provider, oidc }, "oidc.clientSecret: is required unless pkceEnabled is set"],
  // The name of its output.
  [externalGroupRoleMapping, { ...mapping, roleUid: ROLE }, "roleUid: unknown argument; did you mean role?"],
  [externalGroupRoleMapping, mapping, noRole],
  [group, { ...eng, descripton: "x" }, "descripton: unknown argument; did you mean description?"],
  // A misspelt field that is required is one problem, and a wrong value is named too.
  [
    identity,
    { ...ci, claimMatch: { isuer: "http://example.com", subjct: "s" } },
    "claimMatch.isuer: unknown argument; did you mean issuer?",
    "claimMatch.subjct: unknown argument; did you mean subject?",
    `claimMatch.issuer: ${url}`,
  ],
  [identity, { ...ci, claimMach: claimMatch }, "claimMach: unknown argument; did you mean claimMatch?"],
  // Only the service sets it.
  [group, { ...eng, createTime: "x" }, "createTime: unknown argument"],
  [group, { ...eng, allowReplace: "yes" }, "allowReplace: must be true or false"],
  [
    identity,
    everything,
    "claimMatch.isuer: unknown argument; did you mean issuer?",
    `parent: ${UID_TEXT}`,
    name,
    String.raw`description: description must match "^[\S ]{0,512}$"`,
    `claimMatch.issuer: ${url}`,
    `claimMatch.subjectPattern: ${re2}: missing closing ): \`(\``,
  ],
  [identity, { ...ci, claimMatch, servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" }, TWO_RELATIONSHIPS],
  [identity, ci, "claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set"],
  // JavaScript has it.
  [identity, { ...ci, claimMatch: lookahead }, `claimMatch.claimPatterns.ref: ${re2}: invalid or ${perl}`],
  [role, { ...own, capabilities: [] }, "capabilities: must have at least one capability"],
  [role, { ...own, capabilities: ["groups.list", "groups.lst"] }, `capabilities[1]: ${misspelt}`],
  [role, { ...own, capabilities: ["repo.internal.admin"] }, `capabilities: ${internal}`],
  [roleBinding, { parent: GROUP, identity: "ci" }, `identity: ${UID_TEXT}`, noRole],
  [roleBinding, { ...bound, role: ` ${ROLE}`, rol: "viewer" }, "rol: unknown argument; did you mean role?", noRole],
];
for (const [kind, inputs, ...expected] of invalid)
  it(`invalid inputs fail: ${kind.word}: ${expected.join(", ")}`, () =>
    expect(failures(kind, inputs)).toEqual(expected));

it("the returned inputs state the effect of a deletion on an adopted record, also without adopt in the program", () => {
  const news = { parent: ORG, name: "eng" };
  const adopting = check(group, {}, { ...news, adopt: GROUP }).inputs;
  expect(adopting).toMatchObject({ onDelete: "the adopted record stays" });
  expect(check(group, adopting, news).inputs).toEqual({ ...news, onDelete: "the adopted record stays" });
  const deleting = check(group, adopting, { ...news, deleteAdopted: true }).inputs;
  expect(deleting).toMatchObject({ onDelete: "deletes the adopted record" });
  expect(check(group, {}, news).inputs).toEqual(news);
  expect(failures(group, { ...news, onDelete: "x" })).toEqual(["onDelete: unknown argument"]);
});

it("the returned inputs have capabilities by enum name, once each, in one order, and the given inputs do not change", () => {
  const capabilities = Object.freeze(["roles.list", "CAP_IAM_GROUPS_LIST", "groups.list"]);
  expect(check(role, {}, Object.freeze({ parent: GROUP, name: "r", capabilities })).inputs).toEqual({
    parent: GROUP,
    name: "r",
    capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"],
  });
});

const keys = { issuer: "https://a.example.com", subject: "s", issuerKeys: "{}" };
const keyed = (changes: Json) => ({ ...ci, staticKeys: { ...keys, ...changes } });
const bindingIn = (parent: string) => ({ parent, identityUid: IDENTITY, roleUid: ROLE });
const capable = { name: "r", capabilities: ["groups.list"] };
const GROUP_TEXT =
  "parent: a change creates a new group: its uid and the uids of everything below it would change, and the role bindings in it would end; set allowReplace: true to allow it";
const KEYS_TEXT =
  "staticKeys: a change creates a new identity: its uid would change, and role bindings and workloads that name it would lose their access; set allowReplace: true to allow it";
const ROLE_TEXT =
  "parent: a change creates a new role: its uid would change, and role bindings that name the old role would prevent its deletion; set allowReplace: true to allow it";
const RULE = "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID";
const RULE_TEXT =
  "oidc.correlationRule: a change creates a new identity provider: its uid would change, and the people who sign in there would get new identities; set allowReplace: true to allow it";
const signIn = (further: Json = {}) => ({ ...provider, oidc: { ...oidc, pkceEnabled: true, ...further } });
const replacements: [string, Kind, Json, Json, ...string[]][] = [
  ["a group's parent", group, eng, { ...eng, parent: ORG }, GROUP_TEXT],
  ["an organization as a group", group, { root: true, name: "eng" }, { parent: ORG, name: "eng" }, GROUP_TEXT],
  ["an identity's keys", identity, keyed({}), keyed({ subject: "t" }), KEYS_TEXT],
  ["a switch away from keys", identity, keyed({}), { ...ci, claimMatch }, KEYS_TEXT],
  ["a role's parent", role, { ...capable, parent: GROUP }, { ...capable, parent: ORG }, ROLE_TEXT],
  ["the rule that matches people", identityProvider, signIn(), signIn({ correlationRule: RULE }), RULE_TEXT],
  ["a claim in place", identity, { ...ci, claimMatch }, { ...ci, claimMatch: { ...claimMatch, subject: "t" } }],
  ["a role binding that moves", roleBinding, bindingIn(GROUP), bindingIn(ORG)],
  ["a parent that is not known yet", group, eng, { ...eng, parent: UNKNOWN }],
  ["keys that are not known yet", identity, keyed({}), keyed({ issuerKeys: UNKNOWN })],
  ["a parent with allowReplace", group, eng, { ...eng, parent: ORG, allowReplace: true }],
];
for (const [reason, kind, olds, news, ...expected] of replacements)
  it(`a replacement that would break dependents of the uid ${expected.length > 0 ? "is refused" : "is none"}: ${reason}`, () =>
    expect(failures(kind, news, olds)).toEqual(expected));
