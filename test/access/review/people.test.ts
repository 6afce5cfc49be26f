// Access of those who are no identities: people of an identity provider, members of its external groups, invites, static keys.
import { expect, test } from "vitest";
import type { GraphBuilder, SignIn } from "../../../access/graph/graph.ts";
import type { Report } from "../../../access/review/report.ts";
import {
  addIdentity,
  addInvite,
  addProvider,
  bind,
  changed,
  graphOf,
  mapGroup,
  OKTA,
  roleUid,
  uid,
} from "../graphs.ts";
import { type Change, findingsOf, review } from "./rules.ts";

const [TEAM, SSO, DEPLOY] = [uid("team"), uid("acme-sso"), uid("team/deploy")];
const [VIEWER, OWNER] = [roleUid("viewer"), roleUid("owner")];
const EVIL = { ...OKTA, issuer: "https://evil.okta.example" };

const sso =
  (defaultRole = VIEWER, signIn?: SignIn | null): Change =>
  (graph) =>
    addProvider(graph, SSO, "acme-sso", defaultRole, signIn);
const map =
  (externalGroupId: string, role = OWNER, id = externalGroupId): Change =>
  (graph) =>
    mapGroup(graph, `${SSO}/${id}`, SSO, externalGroupId, role);
const keys =
  (issuerKeys: string, expirationTime = "2026-06-01T00:00:00Z"): Change =>
  (graph) => {
    const staticKeys = { issuer: "https://keys.example", subject: "deploy", issuerKeys, expirationTime };
    const relationship = { staticKeys };
    graph.identities.set(DEPLOY, { id: DEPLOY, uid: DEPLOY, name: "deploy", group: TEAM, relationship });
  };
const own: Change = (graph) => bind(graph, TEAM, DEPLOY, OWNER);

const start = (...given: Change[]): GraphBuilder => {
  const roles = { viewer: ["groups.list"], owner: ["groups.list", "role_bindings.create"] };
  const graph = graphOf({ groups: ["team"], roles });
  for (const one of [sso(), ...given]) one(graph);
  return graph;
};

const report = (before: GraphBuilder, change: Change, allow: string[] = []): Report =>
  review(before, change, { nowMs: Date.parse("2026-01-01T00:00:00Z"), allow }).report;

/** `people of acme-sso: +groups.list at /` */
const rowsOf = ({ people }: Report): string[] =>
  people.map(({ subject, gains, losses }) => {
    const rows = [...gains.map((row) => ({ ...row, sign: "+" })), ...losses.map((row) => ({ ...row, sign: "-" }))];
    return `${subject}: ${rows.map(({ sign, capability, groupName }) => `${sign}${capability} at ${groupName}`).join(", ")}`;
  });

const namesOf = ({ findings }: Report): string[] => findings.map(({ rule, subject }) => `${rule} ${subject}`);

const [GAINS, LOSES] = ["+", "-"].map((sign) => `${sign}role_bindings.create at /, ${sign}groups.list at /`);
const [KEY_GAINS, KEY_LOSES] = ["+", "-"].map(
  (sign) => `${sign}role_bindings.create at team, ${sign}groups.list at team`,
);
const toOther = "people of acme-sso: +groups.list at /, -groups.list at /";

test.each(
  Object.entries<[before: GraphBuilder, change: Change, rows: string[], finding?: string]>({
    "a provider that stays as it is changes nothing": [start(), () => {}, []],
    "one with another default role gives its people more": [
      start(),
      sso(OWNER),
      ["people of acme-sso: +role_bindings.create at /"],
      "gains-owner people of acme-sso",
    ],
    "one with another issuer has other people: these gain all that it gives, and the others lose it": [
      start(map("sre")),
      sso(VIEWER, EVIL),
      [`external group sre of acme-sso: ${GAINS}, ${LOSES}`, toOther],
      "gains-owner external group sre of acme-sso",
    ],
    "one whose issuer cannot be known counts as one with other people": [start(), sso(VIEWER, null), [toOther]],
    "one that goes takes the access of its external groups with it": [
      start(map("sre")),
      (graph) => {
        graph.providers.clear();
        graph.externalGroups.clear();
      },
      [`external group sre of acme-sso: ${LOSES}`, "people of acme-sso: -groups.list at /"],
    ],
    "an external group gains what each of its roles grants, once": [
      start(),
      (graph) => {
        map("SRE")(graph);
        map("SRE", VIEWER, "another")(graph);
      },
      [`external group SRE of acme-sso: ${GAINS}`],
      "gains-owner external group SRE of acme-sso",
    ],
    "other static keys give their holder what the identity has, and take it from the holder of the old ones": [
      start(keys("old"), own),
      keys("new"),
      [`static keys of deploy: ${KEY_GAINS}, ${KEY_LOSES}`],
      "gains-owner static keys of deploy",
    ],
    "static keys that had ended begin when they last longer": [
      start(keys("old", "2025-12-31T00:00:00Z"), own),
      keys("old"),
      [`static keys of deploy: ${KEY_GAINS}`],
    ],
    "keys that end later are the same": [start(keys("old"), own), keys("old", "2026-07-01T00:00:00Z"), []],
    "static keys end when the identity is assumed in another way": [
      start(keys("old"), own),
      (graph) => addIdentity(graph, DEPLOY, "deploy", TEAM, { issuer: "https://issuer.example", subject: "deploy" }),
      [`static keys of deploy: ${KEY_LOSES}`],
    ],
  }),
)("%s", (_, [before, change, rows, finding]) => {
  const made = report(before, change);
  expect(rowsOf(made)).toEqual(rows);
  if (finding !== undefined) expect(namesOf(made)).toContain(finding);
});

test("a new provider gives its default role to its people, and its issuer is new", () => {
  const made = report(
    changed(start(), ({ providers }) => providers.clear()),
    sso(),
  );
  expect(rowsOf(made)).toEqual(["people of acme-sso: +groups.list at /"]);
  expect(made.people[0]).toMatchObject({ uid: SSO, before: null, groupName: "/" });
  expect(made.identities).toEqual([]);
  expect(namesOf(made)).toEqual(["new-issuer people of acme-sso", "root-binding people of acme-sso"]);
});

test("another issuer, client or claim changes who the people are", () => {
  const made = report(start(), sso(VIEWER, EVIL));
  const [{ before = "", after = "" } = {}] = made.people as { before?: string; after?: string }[];
  expect([before, after]).toEqual([expect.stringContaining(OKTA.issuer), expect.stringContaining(EVIL.issuer)]);
  const message = `sign in at an issuer that no identity provider has now: ${EVIL.issuer}`;
  const subject = "people of acme-sso";
  expect(findingsOf(made, "new-issuer")).toMatchObject([{ subject, message }]);
  expect(report(start(), sso(VIEWER, { ...OKTA, clientId: "other" })).people).toMatchObject([
    { subject, gains: [], losses: [], after: expect.stringContaining('as client "other"') },
  ]);
});

test("a provider whose name another one has is shown with its uid", () => {
  const id = uid("team/acme-sso");
  const before = start((graph) => {
    addProvider(graph, id, "acme-sso", VIEWER);
    graph.providers.set(id, { ...graph.providers.get(id), group: TEAM } as never);
  });
  const made = report(before, sso(OWNER));
  expect(made.people.map(({ subject }) => subject)).toEqual([`people of acme-sso (${SSO})`]);
});

test("an open invite gives its role to those who accept it, and one that has ended nothing", () => {
  const withInvite = (expirationTime: string) =>
    report(start(), (graph) => addInvite(graph, uid("team/invite"), "ab12", TEAM, OWNER, { expirationTime }));
  const made = withInvite("2026-02-01T00:00:00Z");
  expect(rowsOf(made)).toEqual([`invite ab12: ${KEY_GAINS}`]);
  expect(made.people[0]?.after).toBe("anyone who has the code, once, until 2026-02-01T00:00:00Z");
  expect(namesOf(made)).toEqual(["gains-owner invite ab12"]);
  expect(withInvite("2025-12-31T00:00:00Z").people).toEqual([]);
});

test("static keys of a new identity are what the identity gains", () => {
  const { people, identities } = report(start(), (graph) => {
    keys("new")(graph);
    own(graph);
  });
  expect([people, identities.map(({ name, gains }) => [name, gains.length])]).toEqual([[], [["deploy", 2]]]);
});

const found = (change: Change, subject: string) =>
  findingsOf(report(start(), change, [`gains-owner@${subject}`]), "gains-owner");

test("an allowance excuses people who exist, by the name of the subject", () => {
  expect(found(sso(OWNER), "people of acme-sso")).toMatchObject([{ allowed: true }]);
  expect(found(map("sre"), "external group sre of acme-sso")).toMatchObject([{ allowed: true }]);
  const [other] = found(sso(OWNER), "people of other");
  expect(other).toMatchObject({ rule: "gains-owner" });
  expect(other).not.toHaveProperty("allowed");
});

test("an allowance does not excuse other people of the same name", () => {
  const [other] = found(sso(OWNER, EVIL), "people of acme-sso");
  expect(other).not.toHaveProperty("allowed");
  expect(other?.message).toContain("gains-owner@people of acme-sso does not excuse it: they are new");
});

test("a role that cannot be read is not known, and named with the people who get it", () => {
  const { unknown } = report(start(), sso(uid("none")));
  expect(unknown.map(({ message }) => message)).toContain(
    `the capabilities of role ${uid("none")} cannot be read, so what people of acme-sso gains with it at / is not known`,
  );
});
