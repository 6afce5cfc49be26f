import { type Cases, gets } from "../fixture.ts";

export const cases = {
  GetAdvisory: gets("advisory", () => ({
    advisoryId: "CGA-xvgw-cvr7-9g2q",
    events: [{ findings: "eyJhIjoxfQ==", detection: { manual: {} } }, {}],
  })),
  ListAdvisories: {
    request: ({ eng }) => ({
      uidp: { descendantsOf: eng },
      advisoryIds: ["CGA-xvgw-cvr7-9g2q", "CGA-none-none-none"],
      legacyAdvisoryIds: ["CGA-old"],
      artifactNames: ["nginx"],
      artifactTypes: ["apk"],
      artifactArchitectures: ["x86_64"],
      componentNames: ["openssl"],
      componentTypes: ["apk"],
      componentLocations: ["/usr/lib"],
      aliases: ["CVE-2026-1"],
      eventReviewStates: ["REVIEW_STATE_PENDING"],
      eventAuthors: ["b"],
      excludeEventAuthors: ["c"],
      eventReviewers: ["r"],
      eventTypes: ["EVENT_TYPE_FILTER_PATCHED"],
      latestEventType: "EVENT_TYPE_FILTER_DETECTION",
      query: "SSL",
      pageSize: 1,
      orderBy: "create_time desc",
    }),
    answer: ({ advisory: uid }) => ({ advisories: [{ uid }], totalCount: "1", skipped: 0 }),
  },
} satisfies Cases;
