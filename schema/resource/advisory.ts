// Advisory: what is known of a vulnerability in an artifact, as a list of events. Read only: advisories come with the seed.
import { z } from "zod";
import { enumeration, message, optional, output, plain, required, string, strings, timestamp } from "../field.ts";
import { type Operations, rows } from "../operation.ts";
import { resource } from "../resource.ts";
import { standardMethods } from "../standard-methods.ts";
import { nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";
import { AdvisoryEvent, EventTypeFilter, ReviewState } from "./advisory-event.ts";

const Severity = message("vulnerabilities.Severity", {
  type: plain(
    1,
    enumeration("vulnerabilities.Severity.Type", {
      TYPE_UNSPECIFIED: 0,
      TYPE_CVSS_V2: 1,
      TYPE_CVSS_V3: 2,
      TYPE_CVSS_V4: 3,
    }),
    { text: "The scale" },
  ),
  score: plain(2, string, { text: "The vector, as text" }),
});

export const Advisory = message("vulnerabilities.Advisory", {
  uid: output(1, uidp, { text: "uid of its group, then a segment of its own" }),
  advisoryId: output(2, string, { text: "Identifier such as CGA-xvgw-cvr7-9g2q" }),
  createTime: output(3, timestamp, { text: "When it was created: RFC 3339, UTC" }),
  updateTime: output(4, timestamp, { text: "When it was last changed: RFC 3339, UTC" }),
  deleteTime: output(5, timestamp.optional(), {
    text: "When it was deleted: RFC 3339, UTC; absent: it was not",
    presence: true,
  }),
  author: required(6, nonEmpty, { text: "Who wrote it" }),
  artifactName: required(7, nonEmpty, { text: "Name of the artifact that it is about" }),
  artifactType: required(8, nonEmpty, { text: "Type of the artifact: apk, image, library" }),
  artifactArchitecture: required(9, nonEmpty, { text: "Architecture of the artifact, such as x86_64" }),
  componentName: required(10, nonEmpty, { text: "Name of the component in the artifact" }),
  componentLocation: required(11, nonEmpty, { text: "Where in the artifact the component is" }),
  componentType: required(12, nonEmpty, { text: "Ecosystem of the component: go-module, python" }),
  aliases: optional(13, strings, { text: "Other identifiers of the vulnerability: CVE, GHSA", list: "set" }),
  events: optional(14, z.array(AdvisoryEvent, { error: "must be a list" }), {
    text: "What happened, the oldest first",
    list: "ordered",
  }),
  legacyAdvisoryId: output(15, string.optional(), { text: "Its former identifier", presence: true }),
  severities: output(16, z.array(Severity).optional(), { text: "How severe it is, by each scale" }),
});
export type Advisory = z.infer<typeof Advisory>;

const standard = standardMethods(Advisory, "advisory", "advisories");
const advisoryOperations = rows("vulnerabilities.AdvisoriesService", "/vulnerabilities/{version}", {
  GetAdvisory: standard.get("advisories.list"),
  ListAdvisories: standard.list(
    "advisories.list",
    {
      advisoryIds: plain(2, strings, { text: "With one of these identifiers" }),
      legacyAdvisoryIds: plain(3, strings, { text: "With one of these former identifiers" }),
      artifactNames: plain(4, strings, { text: "About one of these artifacts" }),
      artifactTypes: plain(5, strings, { text: "About artifacts of one of these types" }),
      artifactArchitectures: plain(6, strings, { text: "About artifacts of one of these architectures" }),
      componentNames: plain(7, strings, { text: "About one of these components" }),
      componentTypes: plain(8, strings, { text: "About components of one of these ecosystems" }),
      componentLocations: plain(9, strings, { text: "About components at one of these places" }),
      aliases: plain(10, strings, { text: "With one of these other identifiers" }),
      origin: plain(11, string, {
        text: "Every package that is built from this one; `artifactNames` is then ignored",
        presence: true,
      }),
      eventReviewStates: plain(21, z.array(ReviewState), { text: "An event in one of these states" }),
      eventAuthors: plain(22, strings, { text: "An event by one of these" }),
      excludeEventAuthors: plain(23, strings, { text: "No event by any of these" }),
      eventReviewers: plain(24, strings, { text: "An event that one of these reviewed" }),
      eventTypes: plain(25, z.array(EventTypeFilter), { text: "An event of one of these types" }),
      latestEventType: plain(26, EventTypeFilter, {
        text: "Type of the newest event that was approved",
        presence: true,
      }),
      query: plain(35, string, {
        text: "Part of the artifact's name, the component's name or an alias, in any case",
      }),
    },
    30,
    34,
  ),
}) satisfies Operations;

export const advisory = resource("Advisory", advisoryOperations, { schema: Advisory });
