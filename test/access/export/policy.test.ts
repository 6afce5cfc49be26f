// The policy of an export: what it says, and what the program beside it declares because a policy cannot.
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Export } from "../../../access/export/model.ts";
import { adoptionText, policyOf, policyText } from "../../../access/export/policy/policy.ts";
import { projectOf } from "../../../access/export/project.ts";
import { parsePolicy, readPolicy } from "../../../access/policy/parse.ts";
import { ODD } from "../../harness/by-hand.ts";
import { testFolder } from "../../support/test-folder.ts";
import { contentsOf, exportedFrom, type Given, ORG, VIEWER } from "./contents.ts";

const folder = testFolder();

const uidOf = (n: number, parent = ORG): string => `${parent}/${n.toString(16).padStart(16, "0")}`;
const [platform, twinA, twinB, ci] = [uidOf(1), uidOf(2), uidOf(3), uidOf(1, uidOf(1))];
const exported = (given: Given): Export => exportedFrom(contentsOf(given));
const filesOf = (all: Export, isSplit = false) => projectOf(all, "yaml", { isNative: false, isSplit });
const policyIn = (files: ReadonlyMap<string, string>) => parse(files.get("access.yaml") as string);
const claimMatch = { issuer: "https://issuer.example", subject: "s" };
const binding = (uid: string, identity = ci, role = { uid: VIEWER, name: "viewer" }) => ({
  ...{ uid, identity: { uid: identity }, role },
});

test("says groups, identities, roles and access by name, with a file of uids", () => {
  const all = exported({
    group: [{ uid: platform, name: "platform", description: ODD }],
    identity: [{ uid: ci, name: "ci job", claimMatch: { ...claimMatch, subject: ODD } }],
    role: [{ uid: uidOf(2, platform), name: "publisher", capabilities: ["CAP_TAG_CREATE", "CAP_REPO_LIST"] }],
    roleBinding: [binding(uidOf(9))],
  });
  const draft = policyOf(all);
  const text = policyText(draft.document, ["a comment"]);
  const policy = parse(text);
  expect(policy).toEqual({
    organization: { name: "acme" },
    groups: { platform: { description: ODD } },
    identities: { "ci-job": { in: "platform", name: "ci job", claimMatch: { ...claimMatch, subject: ODD } } },
    roles: { publisher: { in: "platform", can: ["repo.list", "tag.create"] } },
    access: { "/": { viewer: ["ci-job"] } },
  });
  expect(parsePolicy(policy).mistakes).toEqual([]);
  // A reader sees each character.
  expect(text).not.toMatch(/[\u2028\u202e]/);
  expect(JSON.parse(adoptionText(draft))).toEqual({
    groups: { "/": ORG, platform },
    identities: { "ci-job": ci },
    roles: { publisher: uidOf(2, platform) },
  });
});

test("is split into a file for each group below the organization, which say the same together", () => {
  const all = exported({
    group: [
      { uid: platform, name: "platform" },
      { uid: twinA, name: "..." },
      { uid: uidOf(1, twinA), name: "below" },
    ],
    identity: [
      { uid: ci, name: "ci", claimMatch },
      { uid: uidOf(7), name: "own", claimMatch: { ...claimMatch, subject: "t" } },
    ],
    roleBinding: [binding(uidOf(9)), binding(uidOf(9, uidOf(1, twinA)), ci), binding(uidOf(9, platform), uidOf(7))],
  });
  const files = filesOf(all, true);
  const names = [...files.keys()].filter((name) => name.startsWith("access"));
  expect(names).toEqual(["access.yaml", "access.group-1.yaml", "access.platform.yaml"]);
  for (const name of names) folder.write(name, files.get(name) as string);
  folder.write("whole.yaml", filesOf(all).get("access.yaml") as string);
  const [split, whole] = ["access.yaml", "whole.yaml"].map((name) => {
    const { policy, mistakes } = readPolicy(folder.path(name));
    expect(mistakes).toEqual([]);
    const rows = policy?.bindings.map(({ group, role, identity }) => `${group} ${role} ${identity}`).sort();
    return JSON.stringify([policy?.groups, policy?.identities, rows], (key, value) =>
      key === "place" ? undefined : value instanceof Map ? [...value].sort() : value,
    );
  });
  expect(split).toBe(whole);
});

test("what would be a mistake of a policy is in the program beside it, with all that needs it", () => {
  const all = exported({
    group: [
      { uid: twinA, name: "twin" },
      { uid: twinB, name: "twin" },
      { uid: uidOf(1, twinB), name: "below" },
    ],
    identity: [
      { uid: ci, name: "open", claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } },
      { uid: uidOf(7), name: "service", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    ],
    roleBinding: [binding(uidOf(9)), binding(uidOf(8), uidOf(7))],
  });
  const files = filesOf(all);
  expect(policyIn(files)).toEqual({ organization: { name: "acme" }, groups: { twin: {} } });
  const program = files.get("index.ts") as string;
  expect(program).toContain('new AccessPolicy("acme", { file: "access.yaml", adopt: { file: "adopt.json" } });');
  for (const name of ["twin", "below", "open", "service"]) expect(program).toContain(`name: "${name}"`);
  expect(program).toContain("parent: policy.organization");
  expect(program.match(/new RoleBinding\(/g)).toHaveLength(2);
});

test("no file of a project shows what a reader cannot see, or runs what a name says", () => {
  const title = `a\u202e\u2028: { b }\n# c`;
  const all = { ...exported({}), title };
  for (const format of ["typescript", "yaml", "python", "pulumi-yaml"] as const)
    for (const [name, text] of projectOf(all, format, { isNative: true })) {
      expect(text, name).not.toMatch(/[\u2028\u202e]/);
      if (name === "Pulumi.yaml")
        expect(parse(text)).toMatchObject({ name: "a-b-c", description: `Access of ${title}` });
    }
});

test("what no version of the API allows is named and not declared, in any form", () => {
  const all = exported({
    group: [{ uid: platform, name: `x"); process.exit(1); ("` }],
    identity: [{ uid: ci, name: "a person", email: "ann@acme.example" }],
    role: [{ uid: uidOf(5), name: "new", capabilities: ["CAP_OF_A_NEWER_SERVICE"] }],
  });
  expect(all.entries.map(({ uid }) => uid)).toEqual([ORG]);
  expect(all.leftOut.map(({ kind, uid }) => `${kind} ${uid}`).sort()).toEqual([
    `group ${platform}`,
    `identity ${ci}`,
    `role ${uidOf(5)}`,
  ]);
  const program = projectOf(all, "typescript", { isNative: false }).get("index.ts") as string;
  const lines = program.split("\n").filter((line) => line.includes("process.exit"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\/\/ {3}- group /);
});

test.each([[["a b", "a-b", "a-b-1"]], [["...", "group-1"]]])("of %j, no group has another's file", (groups) => {
  const all = exported({ group: groups.map((name, i) => ({ uid: uidOf(i + 1), name })) });
  const policies = [...filesOf(all, true)]
    .filter(([name]) => /^access\..*\.yaml$/.test(name))
    .map(([, text]) => parse(text));
  expect(policies.flatMap((policy) => Object.keys(policy.groups)).sort()).toEqual(groups.sort());
});

test("a built-in role that this version does not know is never a custom role of its name", () => {
  const own = { uid: "c".repeat(40), name: "ops" };
  const given = {
    identity: [{ uid: ci, name: "ci", claimMatch }],
    role: [{ uid: uidOf(5), name: "ops", capabilities: ["CAP_REPO_LIST"] }],
    roleBinding: [binding(uidOf(9), ci, own)],
    group: [{ uid: platform, name: "platform" }],
  };
  expect(policyIn(filesOf(exportedFrom(contentsOf(given, [[own.uid, own.name]]))))).toMatchObject({
    access: { "/": { ops: ["ci"] } },
    roles: { "ops-0000000000000005": { name: "ops", can: ["repo.list"] } },
  });
});

test("a custom role with the name of a built-in one has another key, and bindings of both stay in the policy", () => {
  const [custom, own] = [uidOf(2, platform), uidOf(10, platform)];
  const all = exported({
    group: [{ uid: platform, name: "platform" }],
    identity: [{ uid: ci, name: "ci", claimMatch }],
    role: [{ uid: custom, name: "viewer", capabilities: ["CAP_REPO_LIST"] }],
    roleBinding: [binding(uidOf(9)), binding(own, ci, { uid: custom, name: "viewer" })],
  });
  const policy = parse(policyText(policyOf(all).document, []));
  const key = `viewer-${custom.slice(41).split("/")[1]}`;
  expect(policy).toMatchObject({
    roles: { [key]: { in: "platform", name: "viewer", can: ["repo.list"] } },
    access: { "/": { viewer: ["ci"] }, platform: { [key]: ["ci"] } },
  });
  expect(parsePolicy(policy).mistakes).toEqual([]);
});

test("a policy has names that every object has; a claim of such a name is named and not declared", () => {
  const claims = JSON.parse('{ "__proto__": "x" }');
  const all = exported({
    group: [
      { uid: platform, name: "__proto__" },
      { uid: twinA, name: "constructor" },
    ],
    identity: [
      { uid: ci, name: "__proto__", claimMatch },
      { uid: uidOf(7), name: "claims", claimMatch: { ...claimMatch, claims } },
    ],
    roleBinding: [binding(uidOf(9, platform), ci)],
  });
  const why = "has a key __proto__, which a program would leave out without a word";
  expect(all.leftOut).toEqual([{ kind: "identity", uid: uidOf(7), name: "claims", why }]);
  const files = filesOf(all);
  const { groups, access } = policyIn(files);
  expect([Object.keys(groups), Object.entries(access)]).toEqual([
    ["__proto__", "constructor"],
    [["__proto__", { viewer: ["proto"] }]],
  ]);
  expect(Object.keys(JSON.parse(files.get("adopt.json") as string).groups)).toContain("__proto__");
  expect(files.get("index.ts")).not.toContain("new Group(");
});

test.each([true, false])("no program has the secret of a client that a service shows (PKCE: %s)", (pkceEnabled) => {
  const oidc = { issuer: "https://sso.example", clientId: "c", clientSecret: "hunter2", pkceEnabled };
  const all = exported({ identityProvider: [{ uid: uidOf(6), name: "sso", defaultRole: VIEWER, oidc }] });
  expect(all.entries.map(({ kind }) => kind)).toContain("identityProvider");
  for (const format of ["typescript", "yaml", "python"] as const)
    expect([...projectOf(all, format, { isNative: true }).values()].join()).not.toContain("hunter2");
});
