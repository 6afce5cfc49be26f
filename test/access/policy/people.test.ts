// The section `people` of a policy: its mistakes, and the access that it gives.
import { describe, expect, test } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { reviewBetween } from "../format/reviews.ts";
import { addProvider, graphOf, mapGroup, ROOT, roleUid, uid } from "../graphs.ts";
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
    const people = (...names: string[]) =>
      `people: { ${names.map((name) => `${name}: { externalGroups: { a: [viewer] } }`).join(", ")} }\n`;
    const text = `organization: acme\ninclude: [more.yaml]\n${people("sso")}`;
    expect(mistakesOf(text, { "more.yaml": people("sso", "other") })).toEqual([
      "more.yaml:1:11: people.sso: is in access.yaml:3:11 already",
    ]);
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

describe("in the graph of a policy", () => {
  const live = graphOf({ roles: { viewer: ["repo.list"], owner: ["role_bindings.create"] } });
  mapGroup(live, "m", addProvider(live, uid("sso"), "sso", roleUid("viewer")), "Old", roleUid("owner"));
  const subjectsOf = (people: string): string[] => {
    const { graph, mistakes } = policyGraph(policyOf(`organization: { uid: "${ROOT}" }\n${people}\n`), live);
    expect(mistakes).toEqual([]);
    const { report } = reviewBetween(live, newGraph(graph));
    return report.people.map(({ subject, gains, losses }) => `${subject} +${gains.length} -${losses.length}`);
  };

  test("people are as they were without the section, and with the roles that they have", () => {
    expect(subjectsOf("")).toEqual([]);
    expect(subjectsOf("people: { sso: { externalGroups: { Old: [owner] } } }")).toEqual([]);
  });

  test("an external group gets the roles that it names; of a provider that the API does not show, too", () => {
    expect(subjectsOf("people: { sso: { externalGroups: { Old: [owner], SRE: [owner] } } }")).toEqual([
      "external group SRE of sso +1 -0",
    ]);
    expect(subjectsOf("people: { soo: { externalGroups: { SRE: [owner] } } }")).toContain(
      "external group SRE of soo +1 -0",
    );
  });
});
