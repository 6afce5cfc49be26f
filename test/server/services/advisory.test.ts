// Advisories (docs/contract.md#advisories): read only, as the seed wrote them, and every filter of the list.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve, shuffledIds } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal } from "../../support/refusal.ts";

const PATH = "/vulnerabilities/v2beta1/advisories";

const FINDINGS = Buffer.from('{"matches":[]}').toString("base64");
// One advisory with every field, and three others that differ in the filters.
const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: eng }, { name: sales }]
advisories:
  - group: eng
    advisoryId: CGA-aaaa-aaaa-aaaa
    legacyAdvisoryId: CGA-old1-old1-old1
    origin: nginx
    author: ann@acme.example
    artifactName: nginx-mod
    artifactType: apk
    artifactArchitecture: x86_64
    componentName: OpenSSL
    componentLocation: ./.PKGINFO
    componentType: apk
    aliases: [CVE-2024-0001, GHSA-xxxx-yyyy-zzzz]
    createTime: "2025-01-01T00:00:00Z"
    updateTime: "2025-06-01T12:00:00+02:00"
    deleteTime: "2025-07-01T00:00:00Z"
    severities: [{ type: TYPE_CVSS_V3, score: "7.5" }]
    events:
      - { author: ann@acme.example, reviewer: rob@acme.example, reviewState: REVIEW_STATE_APPROVED, issue: "12", createTime: "2025-01-01T00:00:00Z", findings: "${FINDINGS}", detection: { scanv1: { scanner: grype, subpackage: nginx-mod, componentId: "1", component: openssl, componentVersion: "3", componentType: apk, componentLocation: ./.PKGINFO, artifactVersion: "1", scannerVersion: "2", grypeDbBuilt: d, grypeDbChecksum: c } } }
      - { author: bea@acme.example, reviewState: REVIEW_STATE_APPROVED, createTime: "2025-03-01T00:00:00Z", fixed: { fixedVersion: 1.2.3-r0, note: n } }
      - { author: bea@acme.example, reviewState: REVIEW_STATE_PENDING, createTime: "2025-04-01T00:00:00Z", fixNotPlanned: { note: n } }
  - group: eng
    advisoryId: CGA-bbbb-bbbb-bbbb
    author: ann@acme.example
    artifactName: nginx
    artifactType: apk
    artifactArchitecture: aarch64
    componentName: zlib
    componentLocation: /usr/lib
    componentType: go-module
    aliases: [CVE-2024-0002]
    events:
      - { author: cat@acme.example, reviewer: rob@acme.example, reviewState: REVIEW_STATE_REJECTED, createTime: "2025-05-01T00:00:00Z", patched: { patchedVersions: [1.0.0] } }
      - { author: cat@acme.example, reviewState: REVIEW_STATE_APPROVED, createTime: "2025-02-01T00:00:00Z", falsePositiveDetermination: { type: TYPE_COMPONENT_VULNERABILITY_MISMATCH, note: n } }
      - { author: cat@acme.example, reviewState: REVIEW_STATE_APPROVED, createTime: "2025-02-01T00:00:00Z", truePositiveDetermination: {} }
  - group: sales
    advisoryId: CGA-cccc-cccc-cccc
    author: dan@acme.example
    artifactName: Ünicode-LIB
    artifactType: library
    artifactArchitecture: noarch
    componentName: requests
    componentLocation: /app/50%_done
    componentType: python
    events:
      - { author: ann@acme.example, reviewState: REVIEW_STATE_REQUEST_CHANGES, analysisNotPlanned: {} }
  - group: sales
    advisoryId: CGA-dddd-dddd-dddd
    author: dan@acme.example
    artifactName: curl
    artifactType: apk
    artifactArchitecture: x86_64
    componentName: curl
    componentLocation: ./.PKGINFO
    componentType: apk
`,
  "seed.yaml",
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

describe("an advisory", () => {
  test("is read as in the seed, with its times in UTC and its events below its uid", async () => {
    const answer = await api.ok("GET", `${PATH}/${advisories.a?.uid}`);
    const uid = answer.uid as string;
    const event = { uid: expect.stringMatching(`^${uid}/[0-9a-f]{16}$`) };
    expect(answer).toEqual({
      uid: expect.stringMatching(`^${groups.eng}/[0-9a-f]{16}$`),
      advisoryId: "CGA-aaaa-aaaa-aaaa",
      legacyAdvisoryId: "CGA-old1-old1-old1",
      author: "ann@acme.example",
      artifactName: "nginx-mod",
      artifactType: "apk",
      artifactArchitecture: "x86_64",
      componentName: "OpenSSL",
      componentLocation: "./.PKGINFO",
      componentType: "apk",
      aliases: ["CVE-2024-0001", "GHSA-xxxx-yyyy-zzzz"],
      createTime: "2025-01-01T00:00:00.000Z",
      updateTime: "2025-06-01T10:00:00.000Z",
      deleteTime: "2025-07-01T00:00:00.000Z",
      severities: [{ type: "TYPE_CVSS_V3", score: "7.5" }],
      events: [
        {
          ...event,
          createTime: "2025-01-01T00:00:00.000Z",
          findings: FINDINGS,
          author: "ann@acme.example",
          reviewer: "rob@acme.example",
          reviewState: "REVIEW_STATE_APPROVED",
          issue: "12",
          detection: {
            scanv1: {
              scanner: "grype",
              subpackage: "nginx-mod",
              componentId: "1",
              component: "openssl",
              componentVersion: "3",
              componentType: "apk",
              componentLocation: "./.PKGINFO",
              artifactVersion: "1",
              scannerVersion: "2",
              grypeDbBuilt: "d",
              grypeDbChecksum: "c",
            },
          },
        },
        {
          ...event,
          createTime: "2025-03-01T00:00:00.000Z",
          author: "bea@acme.example",
          reviewState: "REVIEW_STATE_APPROVED",
          fixed: { fixedVersion: "1.2.3-r0", note: "n" },
        },
        {
          ...event,
          createTime: "2025-04-01T00:00:00.000Z",
          author: "bea@acme.example",
          reviewState: "REVIEW_STATE_PENDING",
          fixNotPlanned: { note: "n" },
        },
      ],
    });
  });

  test("has the times of the start where the seed has none, and an empty message is there all the same", () => {
    expect(advisories.c).toMatchObject({
      createTime: "2026-01-28T12:54:21.189Z",
      updateTime: "2026-01-28T12:54:21.189Z",
      events: [{ createTime: "2026-01-28T12:54:21.189Z", analysisNotPlanned: {} }],
    });
    expect(advisories.d).not.toHaveProperty("events");
  });

  test.each(["POST", "PATCH", "DELETE"])("cannot be written: %s is not a method of it", async (method) => {
    const answer = await api.call(method, `${PATH}/${advisories.a?.uid}`, { body: {} });
    const text = `${method} is not a method of this path; it takes GET`;
    expectRefusal(answer, "UNIMPLEMENTED", text, { domain: "vulnerabilities", http: 405 });
    expect(answer.headers.allow).toBe("GET");
  });
});

describe("the list by", () => {
  test.each<[string, Body, string]>([
    ["nothing: all", {}, "abcd"],
    ["an id", { advisoryIds: "CGA-aaaa-aaaa-aaaa" }, "a"],
    ["several ids, one of them unknown", { advisory_ids: ["CGA-aaaa-aaaa-aaaa", "CGA-dddd-dddd-dddd", "x"] }, "ad"],
    ["an id in another case: exact", { advisoryIds: "cga-aaaa-aaaa-aaaa" }, ""],
    ["a legacy id", { legacyAdvisoryIds: "CGA-old1-old1-old1" }, "a"],
    ["an id that is no legacy one", { legacyAdvisoryIds: "CGA-aaaa-aaaa-aaaa" }, ""],
    ["an artifact: exact, no part of a name", { artifactNames: "nginx" }, "b"],
    ["several artifacts", { artifactNames: ["nginx", "curl"] }, "bd"],
    ["types of artifact", { artifactTypes: ["library", "image"] }, "c"],
    ["architectures", { artifactArchitectures: ["aarch64", "noarch"] }, "bc"],
    ["components", { componentNames: ["zlib", "curl"] }, "bd"],
    ["a component in another case: exact", { componentNames: "openssl" }, ""],
    ["types of component", { componentTypes: "apk" }, "ad"],
    ["locations of a component, with what is a wildcard elsewhere", { componentLocations: "/app/50%_done" }, "c"],
    ["a location that a wildcard would match", { componentLocations: "/app/%" }, ""],
    ["one of its aliases", { aliases: "GHSA-xxxx-yyyy-zzzz" }, "a"],
    ["any of several aliases", { aliases: ["CVE-2024-0001", "CVE-2024-0002", "CVE-1"] }, "ab"],
    ["part of an alias: exact", { aliases: "CVE-2024" }, ""],
    ["its origin: what is built from it, the package itself too", { origin: "nginx" }, "ab"],
    ["an origin overrides the artifacts", { origin: "nginx", artifactNames: "curl" }, "ab"],
    ["an artifact is its own origin", { origin: "curl" }, "d"],
    ["the name of an artifact that is built from another is no origin", { origin: "nginx-mod" }, ""],
    ["an empty origin is none", { origin: "", artifactNames: "curl" }, "d"],
    ["a state that one of its events has", { eventReviewStates: "REVIEW_STATE_PENDING" }, "a"],
    ["any of several states", { event_review_states: ["REVIEW_STATE_REJECTED", "REVIEW_STATE_REQUEST_CHANGES"] }, "bc"],
    ["a state by its number", { eventReviewStates: 2 }, "ab"],
    ["the unset state is no filter", { eventReviewStates: "REVIEW_STATE_UNSPECIFIED" }, "abcd"],
    ["an author of one of its events, not of the advisory", { eventAuthors: "ann@acme.example" }, "ac"],
    ["any of several authors", { eventAuthors: ["bea@acme.example", "cat@acme.example"] }, "ab"],
    ["no event by an author", { excludeEventAuthors: "bea@acme.example" }, "bcd"],
    ["no event by any of several authors", { excludeEventAuthors: ["ann@acme.example", "cat@acme.example"] }, "d"],
    [
      "events by one author and none by another",
      { eventAuthors: "ann@acme.example", excludeEventAuthors: "bea@acme.example" },
      "c",
    ],
    ["a reviewer", { eventReviewers: "rob@acme.example" }, "ab"],
    ["an author is no reviewer", { eventReviewers: "ann@acme.example" }, ""],
    ["a type of event", { eventTypes: "EVENT_TYPE_FILTER_DETECTION" }, "a"],
    ["a type of event that waits for review", { eventTypes: "EVENT_TYPE_FILTER_FIX_NOT_PLANNED" }, "a"],
    ["a type of event that was rejected", { eventTypes: "EVENT_TYPE_FILTER_PATCHED" }, "b"],
    ["an event with only its type", { eventTypes: "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED" }, "c"],
    [
      "any of several types",
      {
        eventTypes: [
          "EVENT_TYPE_FILTER_FIXED",
          "EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION",
          "EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX",
        ],
      },
      "ab",
    ],
    ["the newest approved event: not one that waits", { latestEventType: "EVENT_TYPE_FILTER_FIXED" }, "a"],
    ["an approved event that is not the newest", { latestEventType: "EVENT_TYPE_FILTER_DETECTION" }, ""],
    ["a newer one that waits for review", { latestEventType: "EVENT_TYPE_FILTER_FIX_NOT_PLANNED" }, ""],
    ["a newer one that was rejected, anywhere in the list", { latestEventType: "EVENT_TYPE_FILTER_PATCHED" }, ""],
    [
      "of two at one time the later in the list",
      { latest_event_type: "EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION" },
      "b",
    ],
    ["the newest event, where none was approved", { latestEventType: "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED" }, ""],
    ["the unset type is no filter", { latestEventType: 0 }, "abcd"],
    ["part of the artifact's name, in any case", { query: "NGINX" }, "ab"],
    ["part of the component's name, in any case", { query: "openss" }, "a"],
    ["part of an alias, in any case", { query: "ghsa-XXXX" }, "a"],
    ["letters beyond ASCII, in any case", { query: "üNICODE" }, "c"],
    ["what is a wildcard elsewhere", { query: "%" }, ""],
    ["what is in no field that is searched", { query: "PKGINFO" }, ""],
    ["what only two fields together would hold", { query: "curlcurl" }, ""],
    ["an empty query is none", { query: "" }, "abcd"],
    [
      "filters of an advisory and of its events, which are ANDed",
      { query: "nginx", eventReviewers: "rob@acme.example", artifactArchitectures: "aarch64" },
      "b",
    ],
    ["filters that contradict one another", { artifactNames: "curl", query: "nginx" }, ""],
  ])("%s", async (_, query, expected) => {
    expect(await letters(query)).toBe(expected);
  });

  test.each<[string, Body, string]>([
    ["an unknown state", { eventReviewStates: ["REVIEW_STATE_DONE"] }, "eventReviewStates[0]"],
    ["an unknown type", { eventTypes: "FIXED" }, "eventTypes[0]"],
    ["an unknown newest type", { latestEventType: 9 }, "latestEventType"],
  ])("%s, which is refused", async (_, query, field) => {
    const text = "is not a known value of its enum";
    expectInvalid(await api.call("GET", PATH, { query }), { [field]: text }, "vulnerabilities");
  });
});
