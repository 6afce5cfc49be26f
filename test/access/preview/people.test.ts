// What a preview's identity providers and invites give to people.
import { describe, expect, test } from "vitest";
import type { Live, NotVisible } from "../../../access/graph/live.ts";
import { planFrom } from "../../../access/preview/plan.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Report, RuleName } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { ROOT, uidIn } from "../graphs.ts";
import { changed, created, NOW_MS, placeholderOf, UNKNOWN } from "./fixture.ts";
import { liveWith, MAKER, TEAM, VIEWER } from "./team.ts";

const OWNER = "2".repeat(40);
const SSO = uidIn(ROOT, 50);
const SRE = uidIn(SSO, 51);
const INVITE = uidIn(TEAM, 52);
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"s"' };
const OIDC = { issuer: "https://acme.okta.example", clientId: "irm", clientSecret: SECRET };
const signIn = { issuer: OIDC.issuer, clientId: OIDC.clientId, groupsClaim: "" };

/** People sign in by `sso` and are viewers, those of SRE owners; an invite as viewer of team is open. */
const live = (notVisible: NotVisible[] = []): Live => {
  const { graph } = liveWith();
  const own = graph as ReturnType<typeof liveWith>["graph"] & { roles: Map<string, unknown> };
  own.roles.set(OWNER, { id: OWNER, uid: OWNER, name: "owner", group: null, capabilities: ["role_bindings.create"] });
  const maps = graph as unknown as Record<"providers" | "externalGroups" | "invites", Map<string, unknown>>;
  if (notVisible.length > 0) return { graph, notVisible };
  maps.providers.set(SSO, { id: SSO, uid: SSO, name: "sso", group: ROOT, signIn, defaultRole: VIEWER });
  maps.externalGroups.set(SRE, { id: SRE, uid: SRE, provider: SSO, externalGroupId: "SRE", role: OWNER, group: ROOT });
  const invited = { email: "", singleUse: false, expirationTime: null };
  maps.invites.set(INVITE, { id: INVITE, uid: INVITE, name: "ab12", group: TEAM, role: VIEWER, ...invited });
  return { graph, notVisible };
};

const reportOf = (steps: Json[], deny: RuleName[] = [], from = live()): Report => {
  const preview = parsePreview(JSON.stringify({ steps, changeSummary: {} }), "a test");
  return reviewOf(planFrom(preview, from), { notVisible: from.notVisible, nowMs: NOW_MS, deny, allow: [] }).report;
};

const shown = ({ people }: Report): string[] =>
  people.map(({ subject, gains, losses }) =>
    [
      `${subject}:`,
      ...gains.map(({ capability, groupName }) => `+${capability} at ${groupName}`),
      ...losses.map(({ capability, groupName }) => `-${capability} at ${groupName}`),
    ].join(" "),
  );
const findings = ({ findings: all }: Report): string[] =>
  all.map(({ rule, subject, unknown }) => `${rule} ${subject}${unknown ? " unknown" : ""}`);
const messages = ({ unknown }: Report): string[] => unknown.map(({ message }) => message);
/** Not those about how the preview was made. */
const about = (report: Report): string[] => messages(report).filter((text) => !text.startsWith("the preview was"));

const provider = (own: Json): Json => ({ parent: ROOT, name: "sso", defaultRole: "viewer", oidc: OIDC, ...own });
const update = (own: Json): Json =>
  changed("update", "IdentityProvider", "p", SSO, { old: provider({}), new: provider(own) });

const mapping = (own: Json): Json => ({ parent: SSO, externalGroupId: "QA", role: "owner", scope: ROOT, ...own });

describe("a mapping of an external group", () => {
  test("that is new gives its role to the people of the group, also of a new identity provider", () => {
    const report = reportOf([created("ExternalGroupRoleMapping", "m", mapping({}))], ["gains-owner"]);
    expect(shown(report)).toEqual(["external group QA of sso: +role_bindings.create at /"]);
    expect(findings(report)).toContain("gains-owner external group QA of sso");
    expect(about(report)).toEqual([]);
    const both = reportOf([
      created("IdentityProvider", "p", provider({ name: "new" })),
      created("ExternalGroupRoleMapping", "m", mapping({ parent: placeholderOf("IdentityProvider", "p") })),
    ]);
    expect(shown(both)).toContain("external group QA of new: +role_bindings.create at /");
  });

  test("that goes takes the role from them", () => {
    const stored = { old: mapping({ externalGroupId: "SRE" }), new: mapping({}) };
    expect(shown(reportOf([changed("delete", "ExternalGroupRoleMapping", "m", SRE, stored)]))).toEqual([
      "external group SRE of sso: -role_bindings.create at /",
    ]);
  });

  test.each(["parent", "role", "scope", "externalGroupId"])("whose %s is not known may give anything", (name) => {
    const step = created("ExternalGroupRoleMapping", "m", mapping({ [name]: UNKNOWN }));
    const report = reportOf([step], ["gains-owner"]);
    expect(about(report).join()).toContain(`external group role mapping m: ${name}: `);
    expect(
      report.findings.filter(({ rule, unknown, denied }) => rule === "gains-owner" && unknown && denied),
    ).not.toEqual(name === "externalGroupId" ? undefined : []);
  });
});

describe("an identity provider", () => {
  test("that is new gives its role to people, and a new issuer is said", () => {
    const report = reportOf([
      created("IdentityProvider", "p", provider({ name: "new", oidc: { ...OIDC, issuer: "https://new.example" } })),
    ]);
    expect(shown(report)).toEqual(["people of new: +groups.list at /"]);
    expect(report.people[0]).toMatchObject({ uid: null, before: null });
    expect(findings(report)).toEqual(["new-issuer people of new", "root-binding people of new"]);
    expect(about(report)).toEqual([]);
  });

  test("with another issuer has other people, also in its external groups", () => {
    const report = reportOf([update({ oidc: { ...OIDC, issuer: "https://evil.example" } })]);
    expect(shown(report)).toEqual([
      "external group SRE of sso: +role_bindings.create at / -role_bindings.create at /",
      "people of sso: +groups.list at / -groups.list at /",
    ]);
    expect(findings(report)).toEqual(
      expect.arrayContaining(["new-issuer people of sso", "gains-owner external group SRE of sso"]),
    );
  });

  test("with another secret of its client has the same people", () => {
    const clientSecret = { ...SECRET, plaintext: '"t"' };
    expect(shown(reportOf([update({ oidc: { ...OIDC, clientSecret } })]))).toEqual([]);
  });

  test("with another default role gives people that one, also a new role", () => {
    expect(shown(reportOf([update({ defaultRole: "owner" })]))).toEqual([
      "people of sso: +role_bindings.create at / -groups.list at /",
    ]);
    const role = created("Role", "r", { parent: ROOT, name: "r", capabilities: ["repo.list"] });
    expect(shown(reportOf([role, update({ defaultRole: placeholderOf("Role", "r") })]))).toEqual([
      "people of sso: +repo.list at / -groups.list at /",
    ]);
  });

  test("whose default role is not known may give any: denied rules say so, and nothing is lost", () => {
    const report = reportOf([update({ defaultRole: UNKNOWN })], ["gains-owner", "root-binding", "pull-request-writes"]);
    expect(shown(report)).toEqual([]);
    expect(about(report)).toEqual([
      "identity provider p: defaultRole: the program computes it, so that only the run knows it; people get it",
    ]);
    expect(findings(report).map((text) => text.split(" ")[0])).toEqual(["gains-owner", "root-binding"]);
    expect(report.findings.map(({ unknown, denied }) => [unknown, denied])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  test("whose issuer is not known may have any people: they gain all that it gives", () => {
    const report = reportOf([update({ oidc: { ...OIDC, issuer: UNKNOWN } })], ["new-issuer", "gains-owner"]);
    expect(shown(report)).toEqual([
      "external group SRE of sso: +role_bindings.create at / -role_bindings.create at /",
      "people of sso: +groups.list at / -groups.list at /",
    ]);
    const denied = report.findings.filter((one) => one.denied);
    expect(denied.map(({ rule, unknown }) => [rule, unknown])).toEqual([
      ["gains-owner", undefined],
      ["new-issuer", true],
    ]);
  });

  test("that goes is blocked by mappings that the run does not delete: nothing is lost", () => {
    const step = changed("delete", "IdentityProvider", "p", SSO, { old: provider({}) });
    const report = reportOf([step]);
    expect(shown(report)).toEqual([]);
    const own = { subject: "p", kind: "identity provider", certain: true };
    expect(report.blocked).toMatchObject([{ ...own, contents: [{ kind: "external group", uid: SRE, name: "SRE" }] }]);
    expect(report.blocked[0]?.message).toBe(
      "this run will be blocked: identity provider sso cannot be deleted while it maps what this run does not delete; forceDestroy: true deletes them too",
    );
    const stored = { old: mapping({ externalGroupId: "SRE" }) };
    const both = reportOf([step, changed("delete", "ExternalGroupRoleMapping", "m", SRE, stored)]);
    expect(both.blocked).toEqual([]);
    expect(shown(both)).toHaveLength(2);
  });

  test("that goes may be blocked by mappings that the caller cannot list", () => {
    const step = changed("delete", "IdentityProvider", "p", SSO, { old: provider({}) });
    const hidden: NotVisible[] = [{ kind: "externalGroupRoleMapping", group: "", message: "the list is refused" }];
    const { blocked } = reportOf([step], [], live(hidden));
    expect(blocked.map(({ certain, message }) => [certain, message])).toEqual([
      [
        false,
        `this run may be blocked: identity provider ${SSO} cannot be deleted while it maps something, and you cannot list its external groups; forceDestroy: true deletes them too`,
      ],
    ]);
  });

  test("that goes with forceDestroy takes its external groups with it, and they are named", () => {
    const step = changed("delete", "IdentityProvider", "p", SSO, { old: provider({ forceDestroy: true }) });
    const report = reportOf([step]);
    expect(report.blocked).toEqual([]);
    expect(report.forceDestroy).toMatchObject([
      { name: "sso", deletes: true, contents: [{ kind: "external group", uid: SRE, name: "SRE" }] },
    ]);
    expect(shown(report)).toEqual([
      "external group SRE of sso: -role_bindings.create at /",
      "people of sso: -groups.list at /",
    ]);
  });

  test("that takes over one which is not known may be any", () => {
    const step = created("IdentityProvider", "p", provider({ name: "new", adopt: UNKNOWN }));
    const report = reportOf([step], ["gains-owner", "new-issuer"]);
    expect(shown(report)).toEqual([]);
    expect(findings(report).map((text) => text.split(" ")[0])).toEqual(["gains-owner", "new-issuer", "root-binding"]);
    expect(report.findings.every(({ unknown }) => unknown)).toBe(true);
  });

  test("that the API does not list is as the state of the engine has it", () => {
    const hidden: NotVisible[] = [{ kind: "identityProvider", group: "", message: "the list is refused" }];
    const outputs = { name: "sso", defaultRole: VIEWER, oidc: OIDC };
    const step = changed("update", "IdentityProvider", "p", SSO, {
      old: provider({}),
      outputs,
      new: provider({ defaultRole: "owner" }),
    });
    const report = reportOf([step], [], live(hidden));
    expect(shown(report)).toEqual(["people of sso: +role_bindings.create at / -groups.list at /"]);
    expect(report.notVisible).toMatchObject([{ kind: "identityProvider", message: "the list is refused" }]);
  });
});

describe("a group invite", () => {
  test("that is new has the name of its resource until it has a key id", () => {
    const report = reportOf([
      created("GroupInvite", "i", { parent: TEAM, role: MAKER, ttl: "60s", email: "a@b.example", singleUse: true }),
    ]);
    expect(shown(report)).toEqual(["invite i: +repo.create at team"]);
    expect(report.people[0]?.after).toBe('the person with the address "a@b.example", once');
  });

  test("in a new group gives access there", () => {
    const parent = placeholderOf("Group", "g");
    const report = reportOf([
      created("Group", "g", { parent: TEAM, name: "g" }),
      created("GroupInvite", "i", { parent, role: "viewer", ttl: "60s" }),
    ]);
    expect(report.people[0]?.gains).toMatchObject([{ group: null, capability: "groups.list" }]);
  });

  test("that goes takes its access with it, and so does a group that empties itself", () => {
    const step = changed("delete", "GroupInvite", "i", INVITE, { old: { parent: TEAM, role: "viewer", ttl: "60s" } });
    expect(shown(reportOf([step]))).toEqual(["invite ab12: -groups.list at team"]);
    const group = changed("delete", "Group", "team", TEAM, {
      old: { parent: ROOT, name: "team", forceDestroy: true },
    });
    expect(shown(reportOf([group]))).toEqual(["invite ab12: -groups.list at team"]);
  });

  test("that stays changes nothing, also in a preview that does not know more than its uid", () => {
    const inputs = { parent: TEAM, role: "viewer", ttl: "60s" };
    const step = changed("same", "GroupInvite", "i", INVITE, { old: inputs, new: inputs });
    expect(reportOf([step]).people).toEqual([]);
  });

  test("whose role is not known may give any", () => {
    const report = reportOf(
      [created("GroupInvite", "i", { parent: TEAM, role: UNKNOWN, ttl: "60s" })],
      ["gains-owner"],
    );
    expect(about(report)).toEqual([
      "group invite i: role: the program computes it, so that only the run knows it; people get it",
    ]);
    expect(report.findings).toMatchObject([{ rule: "gains-owner", unknown: true, denied: true }]);
  });
});
