// Advisory: the known facts of a vulnerability in an artifact, as a list of events. Read only: advisories come with the seed.
import { z } from "zod";
import {
  bytes,
  enumeration,
  message,
  optional,
  output,
  plain,
  recordTimes,
  required,
  string,
  strings,
  timestamp,
} from "../field.ts";
import { rows, standardMethods } from "../operation.ts";
import { resource } from "../resource.ts";
import { nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";

// AdvisoryEvent: one step in the life of an advisory, of exactly one type, with the state of its review.

const EVENT = "vulnerabilities.AdvisoryEvent";

export const ReviewState = enumeration("vulnerabilities.ReviewState", {
  REVIEW_STATE_UNSPECIFIED: 0,
  REVIEW_STATE_PENDING: 1,
  REVIEW_STATE_APPROVED: 2,
  REVIEW_STATE_REQUEST_CHANGES: 3,
  REVIEW_STATE_REJECTED: 4,
});

export const EventTypeFilter = enumeration("vulnerabilities.EventTypeFilter", {
  EVENT_TYPE_FILTER_UNSPECIFIED: 0,
  EVENT_TYPE_FILTER_DETECTION: 1,
  EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION: 2,
  EVENT_TYPE_FILTER_FIXED: 3,
  EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION: 4,
  EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED: 5,
  EVENT_TYPE_FILTER_FIX_NOT_PLANNED: 6,
  EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX: 7,
  EVENT_TYPE_FILTER_PATCHED: 8,
});
export type EventTypeFilter = z.infer<typeof EventTypeFilter>;

const Detection = message(
  `${EVENT}.Detection`,
  {
    nvdapi: plain(
      1,
      message(`${EVENT}.Detection.NVDAPI`, {
        cpeSearched: plain(1, string, "CPE that was searched for"),
        cpeFound: plain(2, string, "CPE that was found"),
      }),
      "By the National Vulnerability Database",
      { oneof: "type" },
    ),
    manual: plain(2, message(`${EVENT}.Detection.Manual`, {}), "By a person", { oneof: "type" }),
    scanv1: plain(
      3,
      message(`${EVENT}.Detection.ScanV1`, {
        scanner: plain(1, string, "Name of the scanner"),
        subpackage: plain(2, string, "Package in which it was found"),
        componentId: plain(3, string, "Id of the component"),
        component: plain(4, string, "Name of the component"),
        componentVersion: plain(5, string, "Version of the component"),
        componentType: plain(6, string, "Ecosystem of the component"),
        componentLocation: plain(7, string, "Path of the component"),
        artifactVersion: plain(8, string, "Version of the artifact"),
        scannerVersion: plain(9, string, "Version of the scanner"),
        grypeDbBuilt: plain(10, string, "When the scanner's database was built"),
        grypeDbChecksum: plain(11, string, "Checksum of the scanner's database"),
      }),
      "By a scanner",
      { oneof: "type" },
    ),
  },
  { requiredOneofs: ["type"] },
);

const Fixed = message(`${EVENT}.Fixed`, {
  fixedVersion: plain(1, string, "First version with the fix"),
  note: plain(2, string, "A remark"),
  scannerVersion: plain(3, string, "Version of the scanner"),
  grypeDbBuilt: plain(4, string, "When the scanner's database was built"),
  grypeDbChecksum: plain(5, string, "Checksum of the scanner's database"),
});

const FalsePositiveDetermination = message(`${EVENT}.FalsePositiveDetermination`, {
  type: plain(
    1,
    enumeration(`${EVENT}.FalsePositiveDetermination.Type`, {
      TYPE_UNSPECIFIED: 0,
      TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED: 1,
      TYPE_COMPONENT_VULNERABILITY_MISMATCH: 2,
      TYPE_VULNERABLE_CODE_VERSION_NOT_USED: 3,
      TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE: 4,
      TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH: 5,
      TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY: 6,
      TYPE_INLINE_MITIGATIONS_EXIST: 7,
    }),
    "Why it does not apply",
  ),
  note: plain(2, string, "A remark"),
});

const Patched = message(`${EVENT}.Patched`, {
  patchedVersions: plain(1, strings, "Versions with the patch", { list: "set" }),
  note: plain(2, string, "A remark"),
});

const noteMessage = (name: string) => message(`${EVENT}.${name}`, { note: plain(1, string, "A remark") });

const TYPE = { oneof: "type" };

export const AdvisoryEvent = message(
  EVENT,
  {
    uid: output(1, uidp, "uid of its advisory, then a segment of its own"),
    createTime: output(2, timestamp, "When it was created: RFC 3339, UTC"),
    findings: plain(3, bytes, "What the scanner found: JSON, in base64"),
    author: required(4, nonEmpty, "Who wrote the event"),
    reviewer: optional(5, string, "Who reviewed it"),
    reviewState: required(
      6,
      ReviewState.refine((state) => state !== "REVIEW_STATE_UNSPECIFIED", "is required"),
      "State of the review",
    ),
    issue: optional(7, string, "Address of the issue about it", { presence: true }),
    detection: plain(10, Detection, "It was found", { ...TYPE }),
    fixed: plain(11, Fixed, "It is fixed", { ...TYPE }),
    falsePositiveDetermination: plain(12, FalsePositiveDetermination, "It does not apply", { ...TYPE }),
    analysisNotPlanned: plain(13, noteMessage("AnalysisNotPlanned"), "It will not be analysed", { ...TYPE }),
    fixNotPlanned: plain(14, noteMessage("FixNotPlanned"), "It will not be fixed", { ...TYPE }),
    pendingUpstreamFix: plain(
      15,
      noteMessage("PendingUpstreamFix"),
      "It waits for a fix by the authors of the component",
      { ...TYPE },
    ),
    truePositiveDetermination: plain(16, noteMessage("TruePositiveDetermination"), "It applies", { ...TYPE }),
    patched: plain(17, Patched, "The component is patched", { ...TYPE }),
  },
  { requiredOneofs: ["type"] },
);
export type AdvisoryEvent = z.infer<typeof AdvisoryEvent>;

const Severity = message("vulnerabilities.Severity", {
  type: plain(
    1,
    enumeration("vulnerabilities.Severity.Type", {
      TYPE_UNSPECIFIED: 0,
      TYPE_CVSS_V2: 1,
      TYPE_CVSS_V3: 2,
      TYPE_CVSS_V4: 3,
    }),
    "The scale",
  ),
  score: plain(2, string, "The vector, as text"),
});

export const Advisory = message("vulnerabilities.Advisory", {
  uid: output(1, uidp, "uid of its group, then a segment of its own"),
  advisoryId: output(2, string, "Identifier such as CGA-xvgw-cvr7-9g2q"),
  ...recordTimes(3),
  deleteTime: output(5, timestamp.optional(), "When it was deleted: RFC 3339, UTC; absent: it was not", {
    presence: true,
  }),
  author: required(6, nonEmpty, "Who wrote it"),
  artifactName: required(7, nonEmpty, "Name of the artifact that it is about"),
  artifactType: required(8, nonEmpty, "Type of the artifact: apk, image, library"),
  artifactArchitecture: required(9, nonEmpty, "Architecture of the artifact, such as x86_64"),
  componentName: required(10, nonEmpty, "Name of the component in the artifact"),
  componentLocation: required(11, nonEmpty, "Where in the artifact the component is"),
  componentType: required(12, nonEmpty, "Ecosystem of the component: go-module, python"),
  aliases: optional(13, strings, "Other identifiers of the vulnerability: CVE, GHSA", { list: "set" }),
  events: optional(14, z.array(AdvisoryEvent, { error: "must be a list" }), "What happened, the oldest first", {
    list: "ordered",
  }),
  legacyAdvisoryId: output(15, string.optional(), "Its former identifier", { presence: true }),
  severities: output(16, z.array(Severity).optional(), "How severe it is, by each scale"),
});
export type Advisory = z.infer<typeof Advisory>;

const standard = standardMethods(Advisory, "advisory", "advisories");
const advisoryOperations = rows("vulnerabilities.AdvisoriesService", "/vulnerabilities/{version}", {
  GetAdvisory: standard.get("advisories.list"),
  ListAdvisories: standard.list(
    "advisories.list",
    {
      advisoryIds: plain(2, strings, "With one of these identifiers"),
      legacyAdvisoryIds: plain(3, strings, "With one of these former identifiers"),
      artifactNames: plain(4, strings, "About one of these artifacts"),
      artifactTypes: plain(5, strings, "About artifacts of one of these types"),
      artifactArchitectures: plain(6, strings, "About artifacts of one of these architectures"),
      componentNames: plain(7, strings, "About one of these components"),
      componentTypes: plain(8, strings, "About components of one of these ecosystems"),
      componentLocations: plain(9, strings, "About components at one of these places"),
      aliases: plain(10, strings, "With one of these other identifiers"),
      origin: plain(11, string, "Every package that is built from this one; `artifactNames` is then ignored", {
        presence: true,
      }),
      eventReviewStates: plain(21, z.array(ReviewState), "An event in one of these states"),
      eventAuthors: plain(22, strings, "An event by one of these"),
      excludeEventAuthors: plain(23, strings, "No event by any of these"),
      eventReviewers: plain(24, strings, "An event that one of these reviewed"),
      eventTypes: plain(25, z.array(EventTypeFilter), "An event of one of these types"),
      latestEventType: plain(26, EventTypeFilter, "Type of the newest event that was approved", { presence: true }),
      query: plain(35, string, "Part of the artifact's name, the component's name or an alias, in any case"),
    },
    30,
    34,
  ),
});

export const advisory = resource("Advisory", advisoryOperations, { schema: Advisory });
