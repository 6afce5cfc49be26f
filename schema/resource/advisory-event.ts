// AdvisoryEvent: one step in the life of an advisory, of exactly one type, with the state of its review.
import type { z } from "zod";
import {
  bytes,
  enumeration,
  message,
  optional,
  output,
  plain,
  required,
  string,
  strings,
  timestamp,
} from "../field.ts";
import { nonEmpty } from "../text.ts";
import { uidp } from "../uidp.ts";

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
      message(`${EVENT}.Detection.NVDAPI`, { cpeSearched: plain(1, string), cpeFound: plain(2, string) }),
      { oneof: "type" },
    ),
    manual: plain(2, message(`${EVENT}.Detection.Manual`, {}), { oneof: "type" }),
    scanv1: plain(
      3,
      message(`${EVENT}.Detection.ScanV1`, {
        scanner: plain(1, string),
        subpackage: plain(2, string),
        componentId: plain(3, string),
        component: plain(4, string),
        componentVersion: plain(5, string),
        componentType: plain(6, string),
        componentLocation: plain(7, string),
        artifactVersion: plain(8, string),
        scannerVersion: plain(9, string),
        grypeDbBuilt: plain(10, string),
        grypeDbChecksum: plain(11, string),
      }),
      { oneof: "type" },
    ),
  },
  { requiredOneofs: ["type"] },
);

const Fixed = message(`${EVENT}.Fixed`, {
  fixedVersion: plain(1, string),
  note: plain(2, string),
  scannerVersion: plain(3, string),
  grypeDbBuilt: plain(4, string),
  grypeDbChecksum: plain(5, string),
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
  ),
  note: plain(2, string),
});

const Patched = message(`${EVENT}.Patched`, {
  patchedVersions: plain(1, strings, { list: "set" }),
  note: plain(2, string),
});

const noted = (name: string) => message(`${EVENT}.${name}`, { note: plain(1, string) });

const TYPE = { oneof: "type" };

export const AdvisoryEvent = message(
  EVENT,
  {
    /** uid of its advisory, then a segment of its own */
    uid: output(1, uidp),
    createTime: output(2, timestamp),
    /** what the scanner found: JSON, in base64 */
    findings: plain(3, bytes),
    author: required(4, nonEmpty),
    reviewer: optional(5, string),
    reviewState: required(
      6,
      ReviewState.refine((state) => state !== "REVIEW_STATE_UNSPECIFIED", "is required"),
    ),
    issue: optional(7, string, { presence: true }),
    detection: plain(10, Detection, TYPE),
    fixed: plain(11, Fixed, TYPE),
    falsePositiveDetermination: plain(12, FalsePositiveDetermination, TYPE),
    analysisNotPlanned: plain(13, noted("AnalysisNotPlanned"), TYPE),
    fixNotPlanned: plain(14, noted("FixNotPlanned"), TYPE),
    pendingUpstreamFix: plain(15, noted("PendingUpstreamFix"), TYPE),
    truePositiveDetermination: plain(16, noted("TruePositiveDetermination"), TYPE),
    patched: plain(17, Patched, TYPE),
  },
  { requiredOneofs: ["type"] },
);
export type AdvisoryEvent = z.infer<typeof AdvisoryEvent>;
