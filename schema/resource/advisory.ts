// Advisory: what is known of a vulnerability in an artifact, as a list of events. Read only: advisories come with the seed.
import { z } from "zod";
import { enumeration, message, optional, output, plain, required, string, strings, timestamp } from "../field.ts";
import { listRequest, listResponse } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { getRequest } from "../request.ts";
import { resource } from "../resource.ts";
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
  ),
  score: plain(2, string),
});

export const Advisory = message("vulnerabilities.Advisory", {
  /** uid of its group, then a segment of its own */
  uid: output(1, uidp),
  /** such as CGA-xvgw-cvr7-9g2q */
  advisoryId: output(2, string),
  createTime: output(3, timestamp),
  updateTime: output(4, timestamp),
  deleteTime: output(5, timestamp.optional(), { presence: true }),
  author: required(6, nonEmpty),
  artifactName: required(7, nonEmpty),
  /** apk, image, library */
  artifactType: required(8, nonEmpty),
  artifactArchitecture: required(9, nonEmpty),
  componentName: required(10, nonEmpty),
  componentLocation: required(11, nonEmpty),
  /** ecosystem of the component: go-module, python */
  componentType: required(12, nonEmpty),
  /** other identifiers of the vulnerability: CVE, GHSA */
  aliases: optional(13, strings, { list: "set" }),
  events: optional(14, z.array(AdvisoryEvent, { error: "must be a list" }), { list: "ordered" }),
  legacyAdvisoryId: output(15, string.optional(), { presence: true }),
  severities: output(16, z.array(Severity).optional()),
});
export type Advisory = z.infer<typeof Advisory>;

const advisoryOperations = rows("vulnerabilities.AdvisoriesService", "/vulnerabilities/{version}", {
  GetAdvisory: {
    http: "GET /advisories/{uid=**}",
    request: getRequest("vulnerabilities.GetAdvisoryRequest"),
    response: Advisory,
    capabilities: ["advisories.list"],
    scope: "uid",
  },
  ListAdvisories: {
    http: "GET /advisories",
    request: listRequest(
      "vulnerabilities.ListAdvisoriesRequest",
      {
        advisoryIds: plain(2, strings),
        legacyAdvisoryIds: plain(3, strings),
        artifactNames: plain(4, strings),
        artifactTypes: plain(5, strings),
        artifactArchitectures: plain(6, strings),
        componentNames: plain(7, strings),
        componentTypes: plain(8, strings),
        componentLocations: plain(9, strings),
        aliases: plain(10, strings),
        /** every package that is built from this one; `artifactNames` is then ignored */
        origin: plain(11, string, { presence: true }),
        /** an event in one of these states */
        eventReviewStates: plain(21, z.array(ReviewState)),
        /** an event by one of these */
        eventAuthors: plain(22, strings),
        /** no event by any of these */
        excludeEventAuthors: plain(23, strings),
        /** an event that one of these reviewed */
        eventReviewers: plain(24, strings),
        /** an event of one of these types */
        eventTypes: plain(25, z.array(EventTypeFilter)),
        /** type of the newest event that was approved */
        latestEventType: plain(26, EventTypeFilter, { presence: true }),
        /** part of the artifact's name, the component's name or an alias, in any case */
        query: plain(35, string),
      },
      30,
      34,
    ),
    response: listResponse("vulnerabilities.ListAdvisoriesResponse", "advisories", Advisory),
    capabilities: ["advisories.list"],
  },
}) satisfies Operations;

export const advisory = resource("Advisory", advisoryOperations, { schema: Advisory });
