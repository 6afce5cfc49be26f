// A seed of records by uid, as `irm serve --copy-to` writes it: edited by hand, it is judged like any other.
import { expect, test } from "vitest";
import { refusal } from "./refusal.ts";

const [ROOT, other, third, lost, role] = [..."abcde"].map((digit) => digit.repeat(40));
const segment = (digit: string) => digit.repeat(16);

test("problems are reported all at once, with their places", () => {
  const text = `copy: { of: "https://irm.example", time: "2026-01-28T12:54:21Z", notVisible: [{ kind: repo }] }
records:
  groups:
    - { uid: ${ROOT}, name: acme, createTime: yesterday }
    - { uid: ${other}, name: other, colour: red }
    - { uid: nonsense, name: x }
    - { uid: ${third}, name: third }
    - { uid: ${third}, name: third }
    - { uid: ${lost}/${segment("1")}, name: lost }
    - { name: nobody }
  roleBindings:
    - { uid: ${third}/${segment("1")}, identityUid: ${third}/${segment("2")}, roleUid: ${role} }
    - { uid: ${third}, identityUid: x, roleUid: y }
  repos:
    - { uid: ${third}/${segment("3")}, name: [nginx] }
    - { uid: ${third}/${segment("4")} }
  tags:
    - { uid: ${third}/${segment("4")}/${segment("5")}, name: latest, digest: any }
`;
  expect(refusal(text)).toEqual([
    "f.yaml:4:80: records.groups.0.createTime: must be an RFC 3339 time",
    "f.yaml:5:77: records.groups.1.colour: there is no such field",
    "f.yaml:6:14: records.groups.2.uid: must be a uid: 40 hexadecimal digits, then / and 16 more for each level below",
    "f.yaml:8:14: records.groups.4.uid: another record of this file has the same",
    `f.yaml:9:7: records.groups.5: Not found: Group ${lost} does not exist`,
    "f.yaml:10:7: records.groups.6.uid: is required",
    `f.yaml:12:86: records.roleBindings.0.identityUid: identity ${third}/${segment("2")} does not exist`,
    `f.yaml:12:154: records.roleBindings.0.roleUid: role ${role} does not exist at ${third} or above`,
    "f.yaml:13:14: records.roleBindings.1.uid: must be below the uid of a group",
    "f.yaml:15:79: records.repos.0.name: must be a string",
    "f.yaml:16:7: records.repos.1.name: is required",
    `f.yaml:18:7: records.tags.0: Not found: Repo ${third}/${segment("4")} does not exist`,
  ]);
});

test("other sections and a wrong shape are refused", () => {
  expect(
    refusal(`organization: { name: a }\nrecords: { groups: {}, colours: [] }\nnamed: { roles: [{ name: 7 }] }\n`),
  ).toEqual([
    "f.yaml:1:15: organization: there is no such field here",
    "f.yaml:2:20: records.groups: must be a list",
    "f.yaml:2:33: records.colours: there is no such field here",
    "f.yaml:3:18: named.roles.0.uid: is required",
    "f.yaml:3:26: named.roles.0.name: must be a string",
  ]);
});
