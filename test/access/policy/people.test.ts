// The section `people` of a policy: its mistakes, and what it means in a review.
import { afterAll, describe, expect, test } from "vitest";
import { readLive } from "../../../access/graph/live.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/index.ts";
import { reviewOf } from "../../../access/review/index.ts";
import { proposalFromPolicy } from "../../../access/review/policy.ts";
import type { Report } from "../../../access/review/report.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { startServer } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { clientOf } from "../client.ts";
import { mistakesOf, policyOf } from "./files.ts";

describe("the section people", () => {
  test("names roles by identity provider and external group", () => {
    const { people } = policyOf(`
organization: acme
roles: { auditor: { can: [groups.list] } }
people:
  acme-sso: { externalGroups: { Platform-SRE: [owner, auditor], "CN=Audit,OU=It": [auditor] } }
`);
    expect([...(people.get("acme-sso")?.externalGroups ?? [])]).toEqual([
      ["Platform-SRE", ["owner", "auditor"]],
      ["CN=Audit,OU=It", ["auditor"]],
    ]);
  });

  test("reports every mistake with its place", () => {
    expect(
      mistakesOf(`organization: acme
groups: { platform: {} }
roles: { publisher: { in: platform, can: [tag.create] } }
people:
  Acme SSO: { externalGroups: { a: [veiwer] } }
  sso: { defaultRole: viewer, externalGroups: { sre: [publisher, ownr, owner, owner], empty: [] }, groups: [] }
  none: {}
  nothing:
  shape: { externalGroups: { sre: owner } }
`),
    ).toEqual([
      'access.yaml:5:3: people.Acme SSO: name must match "^[a-z0-9 ._-]{1,}$"; the key is the name of an identity provider',
      "access.yaml:5:37: people.Acme SSO.externalGroups.a[0]: there is no role veiwer; did you mean viewer?",
      "access.yaml:6:10: people.sso.defaultRole: AccessPolicy changes no identity provider, and so not its default role; set defaultRole where the IdentityProvider is declared, and remove it here",
      "access.yaml:6:55: people.sso.externalGroups.sre[0]: role publisher belongs to platform, so it can be given there and below, not at /",
      "access.yaml:6:66: people.sso.externalGroups.sre[1]: there is no role ownr; did you mean owner?",
      "access.yaml:6:79: people.sso.externalGroups.sre[3]: has owner already",
      "access.yaml:6:94: people.sso.externalGroups.empty: must have at least one role, such as viewer",
      "access.yaml:6:100: people.sso.groups: there is no such field here; did you mean externalGroups?",
      "access.yaml:7:3: people.none: needs externalGroups",
      "access.yaml:8:3: people.nothing: needs externalGroups",
      "access.yaml:9:35: people.shape.externalGroups.sre: must be a list",
    ]);
  });

  test("may stand in several files, each identity provider in one of them", () => {
    const files = {
      "more.yaml": "people: { sso: { externalGroups: { a: [viewer] } }, other: { externalGroups: { a: [viewer] } } }\n",
    };
    expect(
      mistakesOf(
        "organization: acme\ninclude: [more.yaml]\npeople: { sso: { externalGroups: { b: [editor] } } }\n",
        files,
      ),
    ).toEqual(["more.yaml:1:11: people.sso: is in access.yaml:3:11 already"]);
  });

  test("is a mistake in a run that creates the organization", () => {
    const textsOf = (organization: unknown, people: unknown, createsOrganization: boolean) =>
      parsePolicy({ organization, people }, { builtIn: [TABLE], createsOrganization }).mistakes.map(
        ({ path, text }) => `${path}: ${text}`,
      );
    const groups = { sso: { externalGroups: { SRE: ["viewer"] } } };
    expect(textsOf("acme", groups, false)).toEqual([]);
    expect(textsOf("acme", groups, true)).toEqual([
      "people.sso: this run creates the organization, so it has no identity provider yet; add people once it has one",
    ]);
    expect(textsOf({ uid: "f".repeat(40) }, groups, true)).toEqual([]);
  });
});

describe("a review of a policy", async () => {
  const api = await startServer();
  const oidc = { issuer: "https://acme.okta.example", clientId: "irm", pkceEnabled: true };
  const defaultRole = await api.role("viewer");
  const sso = await createUid(api, "identityProviders", api.organization, { name: "acme-sso", defaultRole, oidc });
  const mapping = { externalGroupId: "Old", roleUid: await api.role("owner"), scope: api.organization };
  await createUid(api, "externalGroupRoleMappings", sso, mapping);
  await createUid(api, "groupInvites", api.organization, { roleUid: defaultRole, ttl: "3600s" });
  afterAll(() => api.close());

  /** `isRemoved` says what a stack would remove. */
  const reportOf = async (people: string, isRemoved?: (id: string) => boolean): Promise<Report> => {
    const live = await readLive(clientOf(api));
    const text = `organization: { uid: "${api.organization}" }\nroles: { auditor: { can: [advisories.list] } }\n${people}\n`;
    const { graph, mistakes } = policyGraph(policyOf(text), live.graph);
    expect(mistakes).toEqual([]);
    const options = { notVisible: live.notVisible, nowMs: api.clock.today(), deny: [], allow: [] };
    return reviewOf(proposalFromPolicy(graph, live, isRemoved), options).report;
  };
  const shown = ({ people }: Report) =>
    people.map(({ subject, gains, losses }) => `${subject} +${gains.length} -${losses.length}`);

  test("without the section leaves people as they are", async () => {
    expect(shown(await reportOf(""))).toEqual([]);
    expect((await reportOf("")).unknown).toEqual([]);
  });

  test("shows what the people of an identity provider gain and lose", async () => {
    const report = await reportOf("people: { acme-sso: { externalGroups: { Platform-SRE: [owner] } } }");
    const subjects = report.people.map(({ subject }) => subject);
    expect(subjects).toEqual(["external group Platform-SRE of acme-sso", "external group Old of acme-sso"]);
    const [sre, old] = report.people;
    expect(sre?.gains.map(({ capability }) => capability)).toContain("role_bindings.create");
    expect([old?.gains, (old?.losses.length ?? 0) > 50]).toEqual([[], true]);
    const found = report.findings.map(({ rule, subject }) => `${rule} ${subject}`);
    expect(found).toContain("gains-owner external group Platform-SRE of acme-sso");
    expect(found).toContain("root-binding external group Platform-SRE of acme-sso");
  });

  test("leaves a mapping that it does not name, unless the stack removes it", async () => {
    const people = "people: { acme-sso: { externalGroups: { New: [viewer] } } }";
    expect(shown(await reportOf(people, () => false))).toEqual([
      expect.stringMatching(/^external group New of acme-sso \+[1-9]\d* -0$/),
    ]);
    expect(shown(await reportOf(people, () => true))).toEqual([
      expect.stringMatching(/^external group New of acme-sso \+[1-9]\d* -0$/),
      expect.stringMatching(/^external group Old of acme-sso \+0 -[1-9]\d*$/),
    ]);
  });

  test("with the roles that they have changes nothing", async () => {
    const report = await reportOf("people: { acme-sso: { externalGroups: { Old: [owner] } } }");
    expect(shown(report)).toEqual([]);
  });

  test("of an identity provider that the API does not show takes its people for new, and says so", async () => {
    const report = await reportOf("people: { acme-soo: { externalGroups: { SRE: [owner] } } }");
    expect(report.people).toMatchObject([
      { subject: "external group SRE of acme-soo", uid: null, losses: [] },
      { subject: "people of acme-soo", gains: [], losses: [] },
    ]);
    expect(report.findings.map(({ rule }) => rule)).toContain("gains-owner");
    expect(report.unknown.map(({ message }) => message)).toContain(
      "the API shows no identity provider acme-soo in the organization, so this review takes its people for new; it shows acme-sso",
    );
  });
});
