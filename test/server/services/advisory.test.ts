// Advisories (docs/internals/contract.md#advisories): read only, as the seed wrote them, and every filter of the list.
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve, shuffledIds } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";

const PATH = "/vulnerabilities/v2beta1/advisories";

const by = (name: string, state: string, month: number) =>
  `author: ${name}@acme.example, reviewState: REVIEW_STATE_${state}, createTime: 2025-0${month}-01T00:00:00.000Z`;
// One advisory with every field, and three others that differ in the filters.
const FULL: Body = parse(`{
  advisoryId: CGA-aaaa-aaaa-aaaa, legacyAdvisoryId: CGA-old1-old1-old1, author: ann@acme.example,
  artifactName: nginx-mod, artifactType: apk, artifactArchitecture: x86_64,
  componentName: OpenSSL, componentLocation: ./.PKGINFO, componentType: apk,
  aliases: [CVE-2024-0001, GHSA-xxxx-yyyy-zzzz], severities: [{ type: TYPE_CVSS_V3, score: "7.5" }],
  createTime: 2025-01-01T00:00:00.000Z, deleteTime: 2025-07-01T00:00:00.000Z,
  events: [
    { ${by("ann", "APPROVED", 1)}, reviewer: rob@acme.example, issue: "12", findings: eyJhIjoxfQ==,
      detection: { scanv1: { scanner: grype, subpackage: nginx-mod, componentId: "1", component: openssl, scannerVersion: "2" } } },
    { ${by("bea", "APPROVED", 3)}, fixed: { fixedVersion: 1.2.3-r0, note: "n" } },
    { ${by("bea", "PENDING", 4)}, fixNotPlanned: { note: "n" } },
  ],
}`);
const OTHERS: Body[] = parse(`[
  { group: eng, advisoryId: CGA-bbbb-bbbb-bbbb, author: ann@acme.example, aliases: [CVE-2024-0002],
    artifactName: nginx, artifactType: apk, artifactArchitecture: aarch64,
    componentName: zlib, componentLocation: /usr/lib, componentType: go-module,
    events: [
      { ${by("cat", "REJECTED", 5)}, reviewer: rob@acme.example, patched: { patchedVersions: [1.0.0] } },
      { ${by("cat", "APPROVED", 2)}, falsePositiveDetermination: { type: TYPE_COMPONENT_VULNERABILITY_MISMATCH, note: "n" } },
      { ${by("cat", "APPROVED", 2)}, truePositiveDetermination: {} },
    ] },
  { group: sales, advisoryId: CGA-cccc-cccc-cccc, author: dan@acme.example,
    artifactName: Ünicode-LIB, artifactType: library, artifactArchitecture: noarch,
    componentName: requests, componentLocation: /app/50%_done, componentType: python,
    events: [{ author: ann@acme.example, reviewState: REVIEW_STATE_REQUEST_CHANGES, analysisNotPlanned: {} }] },
  { group: sales, advisoryId: CGA-dddd-dddd-dddd, author: dan@acme.example,
    artifactName: curl, artifactType: apk, artifactArchitecture: x86_64,
    componentName: curl, componentLocation: ./.PKGINFO, componentType: apk },
]`);
const own = { ...FULL, group: "eng", origin: "nginx", updateTime: "2025-06-01T12:00:00+02:00" };
const groupsOfSeed = [{ name: "eng" }, { name: "sales" }];
const seed = parseSeed(
  JSON.stringify({ organization: { name: "acme" }, groups: groupsOfSeed, advisories: [own, ...OTHERS] }),
  "seed.json",
);
const groups: Record<string, string> = {};
const advisories: Record<string, Body> = {};
const api = await serve({ seed, ids: shuffledIds(41) });
for (const { name, uid } of (await api.ok("GET", `${IAM}/groups`)).groups) groups[name] = uid;
for (const advisory of (await api.ok("GET", PATH)).advisories) advisories[advisory.advisoryId[4]] = advisory;

/** The letters of the advisories that a list holds. */
const letters = async (query: Body): Promise<string> => {
  const page = await api.ok("GET", PATH, { query });
  expect(page.totalCount).toBe(String(page.advisories.length));
  return page.advisories
    .map(({ advisoryId }: Body) => advisoryId[4])
    .toSorted()
    .join("");
};

test("an advisory is read as in the seed, with its times in UTC and its events below its uid", async () => {
  const answer = await api.ok("GET", `${PATH}/${advisories.a?.uid}`);
  const event = { uid: expect.stringMatching(`^${answer.uid}/[0-9a-f]{16}$`) };
  expect(answer).toEqual({
    ...FULL,
    uid: expect.stringMatching(`^${groups.eng}/[0-9a-f]{16}$`),
    updateTime: "2025-06-01T10:00:00.000Z",
    events: FULL.events.map((one: Body) => ({ ...event, ...one })),
  });
});

test("an advisory has the times of the start where the seed has none, and an empty message is there all the same", () => {
  expect(advisories.c).toMatchObject({
    createTime: "2026-01-28T12:54:21.189Z",
    updateTime: "2026-01-28T12:54:21.189Z",
    events: [{ createTime: "2026-01-28T12:54:21.189Z", analysisNotPlanned: {} }],
  });
  expect(advisories.d).not.toHaveProperty("events");
});

const event = (type: string) => `EVENT_TYPE_FILTER_${type}`;
test.each<[string, Body, string]>([
  ["nothing: all", {}, "abcd"],
  ["several ids, one of them unknown", { advisory_ids: ["CGA-aaaa-aaaa-aaaa", "CGA-dddd-dddd-dddd", "x"] }, "ad"],
  ["a legacy id", { legacyAdvisoryIds: "CGA-old1-old1-old1" }, "a"],
  ["an artifact: exact, no part of a name", { artifactNames: "nginx" }, "b"],
  ["types of artifact", { artifactTypes: ["library", "image"] }, "c"],
  ["architectures", { artifactArchitectures: ["aarch64", "noarch"] }, "bc"],
  ["components", { componentNames: ["zlib", "curl"] }, "bd"],
  ["types of component", { componentTypes: "apk" }, "ad"],
  ["locations of a component, with what is a wildcard elsewhere", { componentLocations: "/app/50%_done" }, "c"],
  ["a location that a wildcard would match", { componentLocations: "/app/%" }, ""],
  ["any of several aliases", { aliases: ["CVE-2024-0001", "CVE-2024-0002", "CVE-1"] }, "ab"],
  ["part of an alias: exact", { aliases: "CVE-2024" }, ""],
  ["its origin: what is built from it, the package itself too", { origin: "nginx" }, "ab"],
  ["an origin overrides the artifacts", { origin: "nginx", artifactNames: "curl" }, "ab"],
  ["an artifact is its own origin", { origin: "curl" }, "d"],
  ["an empty origin is none", { origin: "", artifactNames: "curl" }, "d"],
  ["any of several states", { event_review_states: ["REVIEW_STATE_REJECTED", "REVIEW_STATE_REQUEST_CHANGES"] }, "bc"],
  ["the unset state is no filter", { eventReviewStates: "REVIEW_STATE_UNSPECIFIED" }, "abcd"],
  ["an author of one of its events, not of the advisory", { eventAuthors: "ann@acme.example" }, "ac"],
  ["no event by any of several authors", { excludeEventAuthors: ["ann@acme.example", "cat@acme.example"] }, "d"],
  ["a reviewer", { eventReviewers: "rob@acme.example" }, "ab"],
  ["a type of event that waits for review", { eventTypes: "EVENT_TYPE_FILTER_FIX_NOT_PLANNED" }, "a"],
  ["an event with only its type", { eventTypes: "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED" }, "c"],
  [
    "any of three types",
    { eventTypes: ["FIXED", "FALSE_POSITIVE_DETERMINATION", "PENDING_UPSTREAM_FIX"].map(event) },
    "ab",
  ],
  ["the newest approved event: not one that waits", { latestEventType: "EVENT_TYPE_FILTER_FIXED" }, "a"],
  ["an approved event that is not the newest", { latestEventType: "EVENT_TYPE_FILTER_DETECTION" }, ""],
  ["a newer one that waits for review", { latestEventType: "EVENT_TYPE_FILTER_FIX_NOT_PLANNED" }, ""],
  ["of two at a time the later", { latest_event_type: "EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION" }, "b"],
  ["the newest event, where none was approved", { latestEventType: "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED" }, ""],
  ["the unset type is no filter", { latestEventType: 0 }, "abcd"],
  ["part of the artifact's name, in any case", { query: "NGINX" }, "ab"],
  ["part of the component's name, in any case", { query: "openss" }, "a"],
  ["part of an alias, in any case", { query: "ghsa-XXXX" }, "a"],
  ["letters beyond ASCII, in any case", { query: "üNICODE" }, "c"],
  ["what only two fields together would hold", { query: "curlcurl" }, ""],
  ["an empty query is none", { query: "" }, "abcd"],
  ["ANDed filters", { query: "nginx", eventReviewers: "rob@acme.example", artifactArchitectures: "aarch64" }, "b"],
])("the list by %s", async (_, query, expected) => expect(await letters(query)).toBe(expected));
