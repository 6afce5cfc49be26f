import { describe, expect, it } from "vitest";
import { readAnswer, requestOf } from "../../client/rest.ts";
import { AttemptError } from "../../client/retry.ts";
import type { HttpAnswer } from "../../client/transport.ts";
import { type ApiError, type Json, type Operation, type OperationName, operations } from "../../schema/index.ts";
import { GROUP, IDENTITY, json, ORG, ROLE, refusal } from "../support/scripted.ts";

const write = (name: OperationName, request: Json) => {
  const { method, url, body } = requestOf(operations[name] as Operation, "https://api.example.com", request);
  return `${method} ${url.pathname}${url.search}${body === undefined ? "" : ` ${body}`}`;
};

describe("a request", () => {
  const [ENG, GROUPS] = [{ name: "eng" }, "/iam/v2beta1/groups"];
  const EXCHANGE = `GET /sts/exchange?aud=https%3A%2F%2Fa&identity=${IDENTITY}`;
  const rows: [OperationName, Json, string, string][] = [
    ["GetGroup", { uid: GROUP }, `GET ${GROUPS}/${GROUP}`, "slashes of a uid stay"],
    ["DeleteIdentity", { uid: IDENTITY }, `DELETE /iam/v2beta1/identities/${IDENTITY}`, "no body"],
    ["CreateGroup", { parent: ORG, group: ENG }, `POST ${GROUPS}/${ORG} {"name":"eng"}`, "the resource is the body"],
    ["CreateGroup", { parent: "", group: ENG }, `POST ${GROUPS} {"name":"eng"}`, "an empty parent makes a root"],
    [
      "UpdateIdentity",
      { identity: { uid: IDENTITY, claimMatch: { subject: "s" } }, updateMask: "claimMatch.subject,name" },
      `PATCH /iam/v2beta1/identities/${IDENTITY}?updateMask=claimMatch.subject%2Cname {"claimMatch":{"subject":"s"}}`,
      "the uid is in the path, the mask in the query",
    ],
    [
      "ListGroups",
      { uidp: { descendantsOf: ORG, inRoot: true }, name: "a b", pageSize: 200, pageToken: undefined },
      `GET ${GROUPS}?uidp.descendantsOf=${ORG}&uidp.inRoot=true&name=a+b&pageSize=200`,
      "messages are dotted, absent fields left out",
    ],
    ["ListGroups", { uidp: { ids: [ORG, ROLE] } }, `GET ${GROUPS}?uidp.ids=${ORG}&uidp.ids=${ROLE}`, "lists repeat"],
    ["ExchangeGet", { aud: ["https://a"], identity: IDENTITY }, EXCHANGE, "no version in this path"],
  ];
  for (const [name, request, expected, reason] of rows)
    it(`${name}: ${reason}`, () =>
      expect(write(name, request).replaceAll("%2F", "/")).toBe(expected.replaceAll("%2F", "/")));

  it("does not change its argument", () => {
    const request = { group: { uid: GROUP, name: "x" }, updateMask: "name" };
    write("UpdateGroup", request);
    expect(request).toEqual({ group: { uid: GROUP, name: "x" }, updateMask: "name" });
  });

  it("puts nothing but uids into a path", () => {
    expect(() => write("GetGroup", { uid: "../identities/x" })).toThrow("uid is not a uid");
  });
});

const failureOf = (name: OperationName, answer: HttpAnswer): AttemptError => {
  try {
    readAnswer(operations[name] as Operation, name, answer);
  } catch (error) {
    return error as AttemptError;
  }
  throw new Error("nothing was thrown");
};

describe("an answer", () => {
  it("keeps fields and enum values that this version does not know", () => {
    const body = { uid: ROLE, name: "r", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_NEW", 99], novelty: { a: 1 } };
    expect(readAnswer(operations.GetRole, "GetRole", json(body))).toEqual(body);
  });

  it("may be empty for a delete", () => {
    expect(readAnswer(operations.DeleteGroup, "DeleteGroup", { status: 200, headers: {}, body: "" })).toEqual({});
    expect(readAnswer(operations.DeleteGroup, "DeleteGroup", json({}))).toEqual({});
  });

  const unreadable: [string, HttpAnswer, string][] = [
    ["no JSON", { status: 200, headers: {}, body: "<html>" }, "the response (HTTP 200) is not JSON"],
    ["no uid", json({ name: "x" }), "the response (HTTP 200) contains no uid"],
    ["a wrong type", json({ uid: ROLE, name: 5 }), "the response (HTTP 200) does not decode: name must be a string"],
    ["a list", json([]), "the response (HTTP 200) does not decode:  must be an object"],
  ];
  for (const [reason, answer, message] of unreadable)
    it(`is refused with ${reason}`, () => {
      const error = failureOf("GetGroup", answer);
      expect(error).toBeInstanceOf(AttemptError);
      expect(error.failure).toEqual({ status: 200, sent: true });
      expect(error.cause).toMatchObject({ code: "UNKNOWN", message, operation: "GetGroup" });
    });
});

describe("an error", () => {
  const NO_ERROR = "a body that is not an API error (text/html)";
  const REDIRECT = "a redirect, which is not followed";
  it("is the API's own, with its details", () => {
    const { failure, cause } = failureOf("GetGroup", refusal("NOT_FOUND", "Group x does not exist"));
    expect(failure).toEqual({ status: 404, sent: true, retryAfterMs: undefined });
    expect(cause).toMatchObject({
      code: "NOT_FOUND",
      message: "Not found: Group x does not exist",
      operation: "GetGroup",
    });
    expect((cause as ApiError).detail("ErrorInfo")?.domain).toBe("iam.chainguard.dev");
  });

  const html = { "content-type": "text/html" };
  it.each<[string, HttpAnswer, string, string]>([
    ["of a proxy has nothing of its text", { status: 502, headers: html, body: "Bearer x" }, "UNAVAILABLE", NO_ERROR],
    ["of a proxy is not about a record", { status: 404, headers: html, body: "no such host" }, "UNKNOWN", NO_ERROR],
    ["includes a redirect", { status: 302, headers: { location: "https://x" }, body: "" }, "UNKNOWN", REDIRECT],
  ])("%s", (_, answer, code, message) => {
    const expected = { code, message: `HTTP ${answer.status} with ${message}` };
    expect(failureOf("GetGroup", answer).cause).toMatchObject(expected);
  });

  const [FIRST, LATER] = ["Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:30 GMT"];
  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["a date, by the service's own clock", { "retry-after": LATER, date: FIRST }, 30_000],
    ["a date that has passed", { "retry-after": FIRST, date: LATER }, 0],
    ["nonsense", { "retry-after": "soon" }, undefined],
  ])("says when to retry: %s", (_, headers, expected) => {
    expect(failureOf("GetGroup", refusal("UNAVAILABLE", "busy", headers)).failure.retryAfterMs).toBe(expected);
  });

  it("says when to retry by RetryInfo", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }];
    const answer = json({ code: 14, message: "Unavailable: busy", details }, 503);
    expect(failureOf("GetGroup", answer).failure.retryAfterMs).toBe(1_500);
  });

  it("ignores malformed details", () => {
    const answer = json({ code: 14, message: "Unavailable: busy", details: [null, "x"] }, 503);
    expect(failureOf("GetGroup", answer).cause).toMatchObject({ code: "UNAVAILABLE", details: [] });
  });
});
