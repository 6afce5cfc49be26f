// Advisories (docs/internals/contract.md#advisories): read only, from the seed. Some filters need values that a record does not
// show: the type of its newest event, the text to search. They are computed when the record is written.
import { type Advisory, AdvisoryEvent, oneofsOf, toSnake } from "../../schema/index.ts";
import { among, type Condition, equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import type { ServiceMethods } from "./context.ts";
import { recordsOf } from "./record.ts";

const records = recordsOf("advisory");

export const advisoryService = {
  GetAdvisory: records.get,
  ListAdvisories: records.list(({ query, ...request }) => [
    ...among("advisory_id", request.advisoryIds),
    ...among(inBody("legacyAdvisoryId"), request.legacyAdvisoryIds),
    // The origin replaces the names of all artifacts that are built from it.
    ...(request.origin ? equals({ origin: request.origin }) : among("artifact_name", request.artifactNames)),
    ...among(inBody("artifactType"), request.artifactTypes),
    ...among(inBody("artifactArchitecture"), request.artifactArchitectures),
    ...among(inBody("componentName"), request.componentNames),
    ...among(inBody("componentType"), request.componentTypes),
    ...among(inBody("componentLocation"), request.componentLocations),
    ...exists("json_each(body, '$.aliases')", among("item.value", request.aliases)),
    ...exists(EVENTS, among(ofEvent("reviewState"), set(request.eventReviewStates))),
    ...exists(EVENTS, among(ofEvent("author"), request.eventAuthors)),
    ...exists(EVENTS, among(ofEvent("author"), request.excludeEventAuthors), "NOT "),
    ...exists(EVENTS, among(ofEvent("reviewer"), request.eventReviewers)),
    ...exists(`${EVENTS} AS event, json_each(event.value)`, among("item.key", set(request.eventTypes).map(memberOf))),
    ...equals({ latest_event_type: set([request.latestEventType ?? ""])[0] }),
    ...exists("json_each(search)", query ? [{ sql: "instr(item.value, ?) > 0", values: [query.toLowerCase()] }] : []),
  ]),
} satisfies ServiceMethods;

const EVENTS = "json_each(body, '$.events')";
const inBody = (field: string) => `json_extract(body, '$.${field}')`;
const ofEvent = (field: string) => `json_extract(item.value, '$.${field}')`;

const exists = (items: string, [condition]: Condition[], not = ""): Condition[] =>
  condition ? [{ ...condition, sql: `${not}EXISTS (SELECT 1 FROM ${items} AS item WHERE ${condition.sql})` }] : [];

// The unset value of an enum is no filter.
const set = (values: readonly string[] = []) => values.filter((value) => !value.endsWith("_UNSPECIFIED"));

export interface AdvisoryInput extends Omit<Advisory, "uid" | "createTime" | "updateTime"> {
  createTime?: string;
  updateTime?: string;
  /** package that the artifact is built from; default: the artifact itself */
  origin?: string;
}

export const insertAdvisory = (store: Store, uid: string, input: AdvisoryInput, now: number): void => {
  const { origin = input.artifactName, createTime, updateTime = createTime, ...body } = input;
  const { events = [], aliases = [], artifactName, componentName } = input;
  const approved = events.filter(({ reviewState }) => reviewState === "REVIEW_STATE_APPROVED");
  // If two have the same time, the later one in the list wins.
  const newest = approved.toSorted((a, b) => Date.parse(a.createTime) - Date.parse(b.createTime)).at(-1);
  const msOf = (time: string | undefined) => (time ? Date.parse(time) : now);
  const row = { uid, createTime: msOf(createTime), updateTime: msOf(updateTime), body };
  store.insert(shapes.advisory, row, {
    origin,
    latest_event_type: newest
      ? filterOf(TYPES.find((name) => newest[name as keyof AdvisoryEvent] !== undefined) ?? "unspecified")
      : null,
    search: JSON.stringify([artifactName, componentName, ...aliases].map((text) => text.toLowerCase())),
  });
};

// The filter's name of an event's type: `fixNotPlanned` is EVENT_TYPE_FILTER_FIX_NOT_PLANNED.
const filterOf = (member: string) => `EVENT_TYPE_FILTER_${toSnake(member).toUpperCase()}`;

const TYPES = oneofsOf(AdvisoryEvent).get("type") as string[];

const memberOf = (filter: string) => TYPES.find((member) => filterOf(member) === filter) ?? "";
