// The small engine's preview against a recorded one of the real engine: both run the program of program.ts.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readLive } from "../../../access/graph/live.ts";
import type { Json } from "../../../schema/index.ts";
import { type Program, ref } from "../../harness/small-engine/program.ts";
import { ADAPTERS } from "../../harness/small-engine/provider.ts";
import { openSealed, type Sealed } from "../../harness/small-engine/sealed.ts";
import { recorded, reviewFrom } from "./fixture.ts";
import { rowsOf } from "./team.ts";

const issuer = "https://token.actions.githubusercontent.com";
const github = (subject: string) => ({ issuer, subject });

/** Named as its group in program.ts; here a name is that of one resource. */
const SET = "set of tools";

const common = (org: string, viewer: string, editor: string): Program => [
  { name: "platform", kind: "group", inputs: { parent: org, name: "platform" } },
  { name: "registry", kind: "group", inputs: { parent: ref("platform"), name: "registry" } },
  {
    name: "review",
    kind: "identity",
    inputs: { parent: org, name: "review", claimMatch: github("repo:acme/images:pull_request") },
  },
  {
    name: "review-views",
    kind: "roleBinding",
    inputs: { parent: org, identity: ref("review"), role: viewer },
  },
  { name: "by-hand", kind: "roleBinding", inputs: { parent: ref("platform"), identity: ref("review"), role: editor } },
  { name: "tools", kind: "group", inputs: { parent: ref("platform"), name: "tools" } },
];

describe.each(ADAPTERS)("the preview of the small engine, %s", (adapter) => {
  let stack: Sealed;
  let org: string;
  let viewer: string;
  let editor: string;
  beforeAll(async () => {
    stack = await openSealed(adapter);
    org = stack.testbed.organization;
    const roleNamed = async (name: string) => {
      const { roles } = await stack.testbed.call("GET", `/iam/v2beta1/roles?name=${name}&uidp.inRoot=true`);
      return (roles as { uid: string }[])[0]?.uid as string;
    };
    viewer = await roleNamed("viewer");
    editor = await roleNamed("editor");
  });
  afterAll(() => stack.close());

  const before = (): Program => [
    ...common(org, viewer, editor),
    { name: "legacy", kind: "group", inputs: { parent: org, name: "legacy", forceDestroy: true } },
    publisher(["CAP_REPO_LIST", "CAP_REPO_CREATE"]),
    release(github("repo:acme/images:ref:refs/heads/main")),
    moved(ref("legacy"), {}),
    ...movedEdits(),
    {
      name: SET,
      kind: "roleBindingSet",
      inputs: { parent: ref("tools"), bindings: [{ identity: ref("moved"), role: viewer }], exclusive: true },
    },
  ];
  const publisher = (capabilities: string[]): Program[number] => ({
    name: "publisher",
    kind: "role",
    inputs: { parent: ref("platform"), name: "publisher", capabilities },
  });
  const release = (claimMatch: Json): Program[number] => ({
    name: "release",
    kind: "identity",
    inputs: { parent: ref("platform"), name: "release", claimMatch },
  });
  const moved = (parent: unknown, more: Json): Program[number] => ({
    name: "moved",
    kind: "identity",
    inputs: { parent, name: "moved", claimMatch: github("repo:acme/moved:ref:refs/heads/main"), ...more },
  });
  const movedEdits = (): Program => [
    {
      name: "release-publishes",
      kind: "roleBinding",
      inputs: { parent: ref("registry"), identity: ref("release"), role: ref("publisher") },
    },
    {
      name: "moved-edits",
      kind: "roleBinding",
      inputs: { parent: ref("registry"), identity: ref("moved"), role: editor },
    },
  ];

  test("has the steps of the recorded one, and its review the same rows", async () => {
    const { testbed, engine } = stack;
    const deploys = github("repo:acme/deploy:ref:refs/heads/main");
    expect((await engine.run("up", before())).errors).toEqual([]);
    const create = async (path: string, body: Json) =>
      (await testbed.call("POST", `/iam/v2beta1/${path}`, body)).uid as string;
    const partnerClaims = github("repo:acme/partner:ref:refs/heads/main");
    const partner = await create(`identities/${org}`, { name: "partner", claimMatch: partnerClaims });
    for (const place of ["legacy", "tools"])
      await create(`roleBindings/${testbed.uid("seal", place)}`, { identityUid: partner, roleUid: editor });
    await testbed.call("DELETE", `/iam/v2beta1/roleBindings/${testbed.uid("seal", "by-hand")}`);
    await engine.run("refresh");
    const after: Program = [
      ...common(org, viewer, editor),
      publisher(["CAP_REPO_LIST", "CAP_REPO_CREATE", "CAP_TAG_CREATE"]),
      release({ issuer, subjectPattern: "repo:acme/.*:ref:refs/heads/main" }),
      moved(ref("platform"), { allowReplace: true }),
      ...movedEdits(),
      {
        name: SET,
        kind: "roleBindingSet",
        inputs: {
          parent: ref("tools"),
          bindings: [
            { identity: ref("moved"), role: viewer },
            { identity: ref("review"), role: ref("publisher") },
          ],
          exclusive: true,
        },
      },
      { name: "clusters", kind: "group", inputs: { parent: ref("platform"), name: "clusters" } },
      { name: "deploy", kind: "identity", inputs: { parent: ref("clusters"), name: "deploy", claimMatch: deploys } },
      {
        name: "deploy-publishes",
        kind: "roleBinding",
        inputs: { parent: ref("clusters"), identity: ref("deploy"), role: ref("publisher") },
      },
      {
        name: "deploy-unknown",
        kind: "roleBinding",
        inputs: { parent: ref("clusters"), identity: ref("deploy"), role: ref("what only the run knows") },
      },
      {
        name: "partner",
        kind: "identity",
        inputs: { parent: org, name: "partner", claimMatch: partnerClaims, adopt: partner },
      },
      {
        name: "partner-views",
        kind: "roleBinding",
        inputs: { parent: ref("registry"), identity: ref("partner"), role: viewer },
      },
    ];
    const document = await engine.document(after);
    const real = recorded("edit");
    const stepsOf = ({ steps }: Json): string[] =>
      (steps as { op: string; urn: string }[])
        .filter(({ op, urn }) => op !== "refresh" && !urn.includes("pulumi:Stack"))
        .map(({ op, urn }) => `${op} ${urn.split("::").slice(2).join(" ").replace(/^.*:/, "").replace(SET, "tools")}`)
        .sort();
    expect(stepsOf(document)).toEqual(stepsOf(real.preview));
    const live = await readLive(stack.client());
    const isFurniture = (row: string) => /^(foreigner|owner) /.test(row);
    const report = reviewFrom(document, live).report;
    expect(rowsOf(report).filter((row) => !isFurniture(row))).toEqual(
      rowsOf(reviewFrom(real.preview, real.live).report),
    );
    expect(report.unknown.map(({ subject, property }) => `${subject} ${property}`)).toEqual(["deploy-unknown role"]);
  });
});
