// The counts of a Schemathesis run, and its excluded checks, tested without Schemathesis.
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openapiDocument } from "../../schema/index.ts";
import { temporaryFolder } from "../support/command.ts";
import { type Document, widen } from "./narrowed.ts";
import { configurationFor } from "./schemathesis-configuration.ts";
import { readReport } from "./schemathesis-report.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const document = openapiDocument() as unknown as Document;

const scenario = (phase: string, recorder: object) => JSON.stringify({ ScenarioFinished: { phase, recorder } });
const link = (id: string, applied = true) => ({ transition: { id }, is_transition_applied: applied });

test("requests, scenarios in which a link was followed, links and failed checks are counted over all files", async () => {
  const checks = (status: string) => ({ a: [{ name: "use_after_free", status }] });
  writeFileSync(
    folder.path("a.ndjson"),
    [
      JSON.stringify({ ScenarioStarted: {} }),
      scenario("coverage", { interactions: { a: {}, b: {} }, cases: { a: link("none") }, checks: checks("success") }),
      scenario("stateful", {
        interactions: { a: {}, b: {} },
        cases: { a: {}, b: link("x") },
        checks: checks("failure"),
      }),
      "",
    ].join("\n"),
  );
  writeFileSync(
    folder.path("b.ndjson"),
    [
      scenario("stateful", { interactions: { a: {}, b: {} }, cases: { a: link("y"), b: link("x") } }),
      // The link led nowhere: the value that it names was not in the answer.
      scenario("stateful", { interactions: { a: {} }, cases: { a: link("z", false), b: { transition: null } } }),
      scenario("stateful", {}),
    ].join("\n"),
  );
  writeFileSync(folder.path("c.json"), scenario("stateful", { interactions: { a: {} } }));
  const { links, ...counts } = await readReport(folder.path(""));
  expect(counts).toEqual({ requests: 7, scenarios: 2, failed: ["use_after_free"] });
  expect(links.toSorted()).toEqual(["x", "x", "y"]);
});

test("checks of methods are left out where a create has its parent in the path, and at v1, and nowhere else", () => {
  const paths = [...configurationFor(document).matchAll(/^include-path = "(.*)"$/gm)].map(([, path]) => path);
  const iam = [
    "accountAssociations",
    "externalGroupRoleMappings",
    "groupInvites",
    "groups",
    "identities",
    "identityProviders",
    "roleBindings",
    "roles",
  ];
  const iamV1 = [
    "account_associations",
    "group_invites",
    "groups",
    "identities",
    "identities/lookup",
    "rolebindings",
    "roles",
  ];
  expect(paths.toSorted()).toEqual([
    ...iamV1.map((name) => `/iam/v1/${name}`),
    ...iam.map((name) => `/iam/v2beta1/${name}`),
    "/registry/v1/repos",
    "/registry/v2beta1/repos",
    "/registry/v2beta1/tags",
  ]);
});

test("an enum of a query takes its numbers too, and nothing else becomes wider", () => {
  const parametersOf = ({ paths }: Document, path: string) => paths[path]?.get?.parameters ?? [];
  const changeReport = (path: string) => {
    const before = parametersOf(document, path).map((parameter) => JSON.stringify(parameter));
    return parametersOf(widen(document), path).filter((parameter) => !before.includes(JSON.stringify(parameter)));
  };
  const $ref = "#/components/schemas/chainguard.platform.iam.v2beta1.RelationshipType";
  expect(changeReport("/iam/v2beta1/identities")).toEqual([
    {
      name: "relationshipType",
      in: "query",
      description: "How it is assumed",
      schema: { anyOf: [{ $ref }, { type: "integer", minimum: 0, maximum: 4 }] },
    },
  ]);
  expect(
    changeReport("/vulnerabilities/v2beta1/advisories")
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(["eventReviewStates", "eventTypes", "latestEventType"]);
  expect(changeReport("/iam/v2beta1/groups")).toEqual([]);
});
