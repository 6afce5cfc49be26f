// Stacks of every kind in a review: an unchanged program sends no write to the copy, and a changed one goes through. One stack has all kinds.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, it } from "vitest";
import type { Report } from "../../access/review/report.ts";
import { writesOf } from "../harness/api-process.ts";
import { openWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";
import { keysIn } from "../soak/change/compare.ts";
import { type Moment, peopleRows, rowsOf, type Snapshot, snapshotOf } from "../soak/change/oracle.ts";

interface Kind {
  kind: string;
  /** what the stack was made with */
  before: string;
  /** the change; empty: the block leaves the program */
  after: string;
  /** steps of the change: operation and name */
  steps: string[];
}

const JWK = {
  ...{ kty: "EC", crv: "P-256", use: "sig", alg: "ES256" },
  ...{ x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM" },
};
const claims = (subject: string) => `claimMatch: { issuer: "https://issuer.example", subject: "${subject}" }`;
const group = (name: string, more = "", options = "") =>
  `new Group("${name}", { parent: org, name: "${name}"${more} }${options && `, ${options}`});`;
const changed = ', description: "changed"';
const row = (kind: string, before: string, after: string, ...steps: string[]): Kind => ({ kind, before, after, steps });
const described = (kind: string, name: string, steps: string[], more = "", options = ""): Kind =>
  row(kind, group(name, more, options), group(name, `${more}${changed}`, options), ...steps);
const keyed = (kid: string) =>
  `new Identity("keyed", { parent: org, name: "keyed", allowReplace: true, forceDestroy: true, staticKeys: {
  issuer: "https://keyed.example", subject: "keyed", issuerKeys: JSON.stringify({ keys: [{ ...${JSON.stringify(JWK)}, kid: "${kid}" }] }) } });`;
const replacement = (name: string) => ["create-replacement", "replace", "delete-replaced"].map((op) => `${op} ${name}`);
const set = (name: string, roles: string[], more = "") =>
  `new RoleBindingSet("${name}", { parent: new Group("${name}-in", { parent: org, name: "${name}-in" }), ${more}
  bindings: [${roles.map((role) => `{ identity: ci, role: "${role}" }`).join()}] });`;
const exclusive = (name: string, role: string) => set(name, [role], "exclusive: true,");
const policy = (name: string, identities: string, more = "", options = "exclusive: true") => `
new AccessPolicy("${name}", { ${options}, policy: {
  organization: { uid: org }, groups: { "${name}-in": null }, roles: { ${name}r: { can: ["groups.list"] } },
  identities: { ${identities} }, access: { "${name}-in": { viewer: ["${identities.split(":")[0]}"] } }${more} } });`;
const who = (subject: string, more = "") => `{ ${more}${claims(subject)} }`;
const GONE_IN = group("gone-in").slice(0, -1);
const bound = (name: string, options = "{}") =>
  `new RoleBinding("${name}", { parent: ${GONE_IN}, identity: ci, role: "viewer" }, ${options});`;
const component = (name: string, description: string) => `new (class extends pulumi.ComponentResource {
  constructor() { super("acme:index:Team", "${name}-team"); new Group("${name}", { parent: org, name: "${name}", description: "${description}" }, { parent: this }); }
})();`;

const moved = (parent: string) => `const a = ${group("moved-a")} const b = ${group("moved-b")}
const moved = new Group("moved", { parent: ${parent}, name: "moved", allowReplace: true });
new Identity("moved-with", { parent: moved, name: "moved-with", allowReplace: true, ${claims("moved")} });`;
const others = (secret: string, role: string, account: string, more: string, digit: string) => `
const oidc = { issuer: "https://login.acme.example", clientId: "console", clientSecret: pulumi.secret("${secret}"), groupsClaim: "groups" };
const idp = new IdentityProvider("idp", { parent: org, name: "idp", defaultRole: "viewer", oidc });
new ExternalGroupRoleMapping("mapping", { parent: idp, externalGroupId: "sre", role: "${role}", scope: org });
new GroupInvite("invite", { parent: org, role: "${role}", ttl: "604800s" });
new AccountAssociation("accounts", { parent: org, name: "accounts", amazon: { account: "${account}" } });
const repo = new Repo("repo", { parent: org, name: "repo"${more} });
new Tag("tag", { parent: repo, name: "stable", digest: "sha256:${digit.repeat(64)}" });`;
const sre = (role: string) => `, people: { "acme-sso": { externalGroups: { SRE: ["${role}"] } } }`;
const FIRST = '{ replaceOnChanges: ["description"], deleteBeforeReplace: true }';

const ALIASED = '{ aliases: [{ name: "aliased" }] }';
const IGNORES = '{ ignoreChanges: ["description"] }';
const TAKEN = ["take", "take/take-in", "take:access/take-in", "take:identity/taken", "take:role/taker"];
const dynamicOf = (text: string) => text.replaceAll("new ", "new dynamic.");
const elsewhere = (more = "") => group("there", more, "{ provider: there }").replace("org", "elsewhere");
const WHOLE = `const whole = ${group("whole", ", forceDestroy: true")}`;
const PART = `new Identity("part", { parent: whole, name: "part", ${claims("part")} }, { deletedWith: whole });`;
const hidden = (text: string) => group("secret", `, description: pulumi.secret("${text}")`);

const KINDS: readonly Kind[] = [
  described("plain", "plain", ["update plain"]),
  row("new", "", group("new"), "create new"),
  row("removed", group("removed"), "", "delete removed"),
  described("adopted", "adopted", ["update adopted"], ", adopt: by.adopted"),
  row("adopting", "", group("adopting", ', adopt: "match"'), "create adopting"),
  row("adopted and removed", group("left", ", adopt: by.left"), "", "delete left"),
  described("protected", "protected", ["update protected"], "", "{ protect: true }"),
  row("retained", group("retained", "", "{ retainOnDelete: true }"), "", "delete retained"),
  row("renamed", group("old"), group("old").replace("old", "renamed"), "create renamed", "delete old"),
  row("aliased", group("aliased"), group("aliased", changed, ALIASED).replace("aliased", "other"), "update other"),
  row(
    "adopted by another resource",
    group("crewed"),
    group("crewed", ', adopt: "match"').replace("crewed", "crew"),
    ...["create crew", "delete crewed"],
  ),
  row("removed by hand, and renamed", bound("gone"), bound("back", '{ aliases: [{ name: "gone" }] }'), "create back"),
  row("moved", moved("a"), moved("b"), ...replacement("moved"), ...replacement("moved-with")),
  described("replaced", "replaced", replacement("replaced"), "", '{ replaceOnChanges: ["description"] }'),
  described("replaced, the old one first", "first", replacement("first"), ", allowReplace: true", FIRST),
  described("imported", "imported", ["update imported"], "", "{ import: by.imported }"),
  row("importing", "", group("importing", "", "{ import: by.importing }"), "import importing"),
  row(
    "read by its uid",
    'Group.get("read", by.read);',
    'new Group("below", { parent: Group.get("read", by.read), name: "below" });',
    "create below",
  ),
  row("ignored changes", group("ignored", ', description: "by hand"', IGNORES), group("ignored", changed, IGNORES)),
  row("deleted with another", `${WHOLE} ${PART}`, "", "delete part", "delete whole"),
  row("secret", hidden("hidden"), hidden("also hidden"), "update secret"),
  row("static keys", keyed("1"), keyed("2"), ...replacement("keyed")),
  row("set", set("set", ["viewer"]), set("set", ["viewer", "editor"]), "update set"),
  row("exclusive set", exclusive("exclusive", "viewer"), exclusive("exclusive", "editor"), "update exclusive"),
  row(
    "policy",
    policy("pol", `first: ${who("first")}`, sre("viewer")),
    policy("pol", `second: ${who("first", 'was: "first", ')}`, sre("editor")),
    "update pol:identity/second",
    "create pol:people/acme-sso/editor/SRE",
    "delete pol:people/acme-sso/viewer/SRE",
  ),
  row(
    "policy that adopts",
    "",
    policy("take", `taken: ${who("taken", 'in: "take-in", ')}`, "", 'adopt: "match"'),
    ...TAKEN.map((name) => `create ${name}`),
  ),
  row("component", component("inner", "a"), component("inner", "b"), "update inner"),
  described("explicit provider of the same service", "same", ["update same"], "", "{ provider: here }"),
  row("explicit provider of another service", elsewhere(), elsewhere(changed), "update there"),
  row(
    "provider, mapping, invite, association, repo and tag",
    others("hush", "viewer", "123456789012", "", "a"),
    others("hush now", "editor", "123456789013", changed, "b"),
    ...["update idp", "update accounts", "update repo", "update tag"],
    ...[...replacement("mapping"), ...replacement("invite")],
  ),
  row("dynamic", dynamicOf(group("dynamic")), dynamicOf(group("dynamic", changed)), "update dynamic"),
  row(
    "dynamic set",
    dynamicOf(exclusive("dynamics", "viewer")),
    dynamicOf(exclusive("dynamics", "editor")),
    "update dynamics",
  ),
];

const place = openWorkplace();
const other = openWorkplace();
let program: Program;
const by: Record<string, string> = {};
beforeAll(async () => {
  const { organization } = place.server;
  for (const name of ["adopted", "adopting", "left", "imported", "importing", "read", "take-in"])
    by[name] = await place.create(`groups/${organization}`, { name });
  const [viewer] = place.rows("roles", "name = ?", "viewer");
  const oidc = {
    issuer: "https://login2.acme.example",
    clientId: "console",
    pkceEnabled: true,
    groupsClaim: "groups",
  };
  const provider = { name: "acme-sso", defaultRole: viewer?.uid, oidc };
  await place.create(`identityProviders/${organization}`, provider);
  const claimMatch = { issuer: "https://issuer.example", subject: "taken" };
  await place.create(`identities/${by["take-in"]}`, { name: "taken", claimMatch });
  const files = [place, other].map(({ env }) => env.IRM_IDENTITY_TOKEN_FILE).join(",");
  const { IRM_IDENTITY: OTHER_IDENTITY = "", IRM_IDENTITY_TOKEN_FILE: file = "" } = other.env;
  const OTHER_TOKEN = readFileSync(file, "utf8").trim();
  const env = { IRM_ALLOW_TOKEN_SOURCES: files, OTHER_IDENTITY, OTHER_TOKEN };
  program = await place.program("kinds", source("before"), env, { plugin: inject("pluginFolder") });
  await program.must("up", "--yes", "--skip-preview");
  await Promise.all([place, other].map((one) => one.server.takeRequests()));
});

const settings = ({ env }: Workplace): string =>
  JSON.stringify({
    ...{ baseUrl: env.IRM_BASE_URL, authUrl: env.IRM_AUTH_URL, identity: env.IRM_IDENTITY },
    identityTokenFile: env.IRM_IDENTITY_TOKEN_FILE,
  });
const source = (state: "before" | "after") => `
import * as pulumi from "@pulumi/pulumi";
import * as dynamic from "pulumi-irm";
import { AccessPolicy, AccountAssociation, ExternalGroupRoleMapping, Group, GroupInvite, Identity, IdentityProvider, Provider, Repo, RoleBinding, RoleBindingSet, Tag } from "pulumi-irm/plugin";
const org = "${place.server.organization}";
const elsewhere = "${other.server.organization}";
const by = ${JSON.stringify(by)};
const here = new Provider("here", ${settings(place)});
const there = new Provider("there", ${settings(other)});
const ci = new Identity("ci", { parent: org, name: "ci", ${claims("ci")} });
${KINDS.map(({ [state]: own = "" }) => `{\n${own}\n}`).join("\n")}
`;
const review = async (): Promise<Report> => {
  const { stdout, stderr } = await irmIn(program, [
    ...["review", "--stack", "dev", "--format", "json"],
    ...["--service", `${other.server.baseUrl}=OTHER_TOKEN,OTHER_IDENTITY`],
  ]);
  for (const one of [place, other]) expect(writesOf(await one.server.takeRequests())).toEqual([]);
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Report;
};

it("a review of every kind sends nothing for an unchanged program", async () => {
  const { steps, errors, differs, writes, identities, people } = await review();
  expect({ steps, errors, differs, writes, identities, people }).toEqual({
    ...{ steps: [], errors: [], differs: [], writes: 0, identities: [], people: [] },
  });
});

it("a review of every kind goes through, and shows who gains and loses what at the services", async () => {
  const [gone] = place.rows("role_bindings", "parent = ?", place.uidOf("groups", "gone-in"));
  await place.call("DELETE", `/iam/v2beta1/roleBindings/${gone?.uid}`);
  await place.server.takeRequests();
  program.write(source("after"));
  const found = await review();
  const named = found.steps.map(
    ({ op, urn, ok }) => `${ok ? "" : "FAILED "}${op} ${urn.split("::").slice(3).join("::")}`,
  );
  const { errors, differs } = found;
  expect({ errors, differs }).toEqual({ errors: [], differs: [] });
  expect(named.toSorted()).toEqual(KINDS.flatMap(({ steps }) => steps).toSorted());
  const restored = found.findings.filter(({ rule }) => rule === "regrants-removed");
  expect(restored.map(({ name }) => name)).toEqual(["ci"]);

  const decidedAt = (name: string): Snapshot[] =>
    [place, other].map(({ folder }) => snapshotOf(join(folder, "irm.db"), join(folder, name)));
  const before = decidedAt("before.db");
  await program.must("up", "--yes", "--skip-preview", "--refresh");
  const after = decidedAt("after.db");
  for (const [i, { server }] of [place, other].entries()) {
    const [old, now] = [before[i]?.of(server.organization), after[i]?.of(server.organization)];
    expect(rowsAt(found, server.baseUrl)).toEqual(decidedRows(old as Moment, now as Moment));
  }
  for (const snapshot of [...before, ...after]) snapshot.close();
  expect(rowsAt(found, place.server.baseUrl).length).toBeGreaterThan(50);
});

/** What the service itself decides of identities, and the tables say of people. */
const decidedRows = (before: Moment, after: Moment): string[] => {
  const keys = keysIn([before], [after]);
  const rows = [
    ...rowsOf(before, after).map((row) => ({ ...row, identity: keys.nameOf(row.identity) })),
    ...peopleRows(before, after).map((row) => ({ ...row, identity: row.identity.replace(/^invite .*/, "invite") })),
  ];
  return rows
    .map(({ identity, sign, group, capability }) => `${sign} ${identity}: ${capability} at ${keys.pathOf(group)}`)
    .toSorted();
};

/** The rows of a review at one service, as the service's own decision has them. */
const rowsAt = ({ identities, people }: Report, address: string): string[] =>
  [...identities, ...people]
    .filter(({ service }) => service === address)
    .flatMap((one) => {
      const name = "name" in one ? one.name : one.subject.replace(/^invite .*/, "invite");
      return [
        ...one.gains.map(({ capability, groupName }) => `+ ${name}: ${capability} at ${groupName}`),
        ...one.losses.map(({ capability, groupName }) => `- ${name}: ${capability} at ${groupName}`),
      ];
    })
    .toSorted();
