// Every method with no token, a malformed token, an expired token, as a stranger, a viewer beside, a viewer and the owner.
// Also with a record that does not exist. Who may call it, its name or its case says (docs/internals/contract.md#authorization,
// docs/internals/contract.md#d5, docs/internals/contract.md#d23). scope.test.ts: where a grant holds; escalation.test.ts: what may be granted.
import { describe, expect, test } from "vitest";
import { type Operation, type OperationName, operations, type Resource, resources } from "../../schema/index.ts";
import { type Actor, queryText } from "../harness/api-server.ts";
import { HOUR_MS } from "../harness/clock.ts";
import type { Answer, Body } from "../support/http.ts";
import { expectDenied, expectNotFound, expectUnauthenticated } from "../support/refusal.ts";
import { restRequest } from "../support/rest-request.ts";
import { type Access, type Fixture, usualAccess } from "./fixture.ts";
import { operationCases, startFixture } from "./operation-case.ts";

/** The exchange, whose bearer is no API token (test/server/sts/must-refuse), and what needs none. */
const OTHERS: OperationName[] = ["Exchange", "ExchangeGet", "ExchangeRefreshToken", "Ping"];
/** Answers that say who asks. */
const OF_THE_CALLER: OperationName[] = ["LookupIdentity", "Validate"];

/** Deletes that succeed when there is nothing to delete (docs/internals/contract.md#d8). */
const IDEMPOTENT: OperationName[] = ["DeleteRoleBinding", "DeleteAccountAssociation"];

/** What holds the records of a method. */
const parentOf = (name: OperationName): string =>
  Object.values<Resource>(resources).find(({ methods }) => name in methods)?.parent ?? "Group";

/** What is missing when the uid of a request names nothing: the record, or what a new one is created in. */
const missingKind = (name: OperationName): string => {
  if (/Create|BatchDelete/.test(name)) return parentOf(name);
  return name.replace(/^(Get|Update|Delete|Check)/, "").replace(/Readme$/, "");
};
const actors: Record<string, Actor> = {};

const fixture: Fixture = await startFixture();
const { api } = fixture;
// A token of the owner from an hour ago: a moment before, it could do everything.
const expired: string = api.owner.token;
api.clock.advance(HOUR_MS);
api.owner.token = await api.token(api.identity, { subject: "owner" });
actors.owner = api.owner;
actors.viewer = await api.actor("viewer", { role: "viewer" });
// Of the group that holds every record of the requests, and of the one beside it.
const { groups } = await api.ok("GET", "/iam/v2beta1/groups", { query: { name: "sales" } });
actors.member = await api.actor("member", { role: "viewer", at: fixture.eng });
actors.beside = await api.actor("beside", { role: "viewer", at: groups[0].uid });
// Owns another organization, and nothing here.
actors.stranger = await api.actor("stranger");
await api.ok("POST", "/iam/v2beta1/groups", { token: actors.stranger.token, body: { name: "elsewhere" } });

const rows = (Object.entries(operations) as [OperationName, Operation][])
  .filter(([name]) => !OTHERS.includes(name))
  .map(([name, { capabilities }]) => {
    const access: Access = operationCases[name].access ?? usualAccess(name);
    return [name, { needs: capabilities.join(", "), ...access }] as const;
  });
const isRow = (name: OperationName): boolean => rows.some(([own]) => own === name);

const requestOf = async (name: OperationName): Promise<Body> => operationCases[name].request(fixture);

const send = async (name: OperationName, token: string | null, own?: Body) => {
  const row: Operation = operations[name];
  const request = own ?? (await requestOf(name));
  const { method, path, query, body } = restRequest(row, "v2beta1", request, "lowerCamel");
  return { answer: await api.call(method, path + queryText(query), { token, body }), request, row };
};

/** The same request about another uid. */
const aboutUid = (request: Body, from: string, to: string): Body =>
  JSON.parse(JSON.stringify(request), (_, value) => (value === from ? to : value));

/** The uid at which the capability is missing: the scope of the request, or the new group's parent. */
const scopeOf = (request: Body, row: Operation): string => {
  const path = (row.scope ?? ("parent" in request ? "parent" : "uid")).split(".");
  return path.reduce((value, name) => value[name], request) as unknown as string;
};

const domainOf = ({ service }: Operation) =>
  (["registry", "vulnerabilities"] as const).find((domain) => service.startsWith(domain)) ?? "iam";

describe.each(rows)("%s", (name, { needs, why, ownerLacks = "", owner = "served", ...others }) => {
  const outcomes = { owner, ...others };

  test.each([
    ["no token", () => null],
    ["a malformed token", () => "not-a-token"],
    ["another signature", () => fixture.api.owner.token.replace(/.$/, (c) => (c === "A" ? "Q" : "A"))],
    ["an expired token", () => expired],
  ])("refuses %s", async (_, token) => {
    const { answer, row } = await send(name, token());
    expectUnauthenticated(answer, domainOf(row));
  });

  test.each(["stranger", "viewer", "owner"] as const)(`answers a %s: ${why}`, async (who) => {
    const { answer, request, row } = await send(name, (actors[who] as Actor).token);
    const outcome = outcomes[who];
    if (outcome === "denied") {
      return expectDenied(answer, who === "owner" ? ownerLacks : needs, scopeOf(request, row), domainOf(row));
    }
    if (outcome === "missing") return expect(answer.json).toMatchObject({ code: 5 });
    expect(answer.status, answer.text).toBe(200);
    if (outcome === "empty") {
      const [plural] = Object.keys(answer.json) as [string];
      const counts = name.endsWith("V1") ? {} : { totalCount: "0", skipped: request.skip ?? 0 };
      expect(answer.json).toEqual({ [plural]: [], ...counts });
    } else if (who === "owner" || !OF_THE_CALLER.includes(name))
      expect(answer.json).toMatchObject(operationCases[name].answer(fixture, request));
  });
});

// A record that does not exist is denied to a caller who may not look, and NOT_FOUND to one who may (AIP-211).
describe.each(rows.filter(([, { needs, stranger }]) => needs !== "" && stranger === "denied"))(
  "%s",
  (name, { needs, viewer, owner = "served" }) => {
    const row: Operation = operations[name];
    const expectDeniedAt = ({ answer }: { answer: Answer }, uid: string) =>
      expectDenied(answer, needs, uid, domainOf(row));
    const tokenOf = (who: string) => (actors[who] as Actor).token;

    test("refuses a viewer of the group beside", async () => {
      const sent = await send(name, tokenOf("beside"));
      expectDeniedAt(sent, scopeOf(sent.request, row));
    });

    if (viewer === "served")
      test("serves a viewer of the group only", async () => {
        const { answer, request } = await send(name, tokenOf("member"));
        expect(answer.status, answer.text).toBe(200);
        expect(answer.json).toMatchObject(operationCases[name].answer(fixture, request));
      });

    test.each([
      ["a missing record", () => `${fixture.eng}/ffffffffffffffff`],
      ["a record of another kind", () => (missingKind(name) === "Identity" ? fixture.role : fixture.identity)],
    ])("of %s is PERMISSION_DENIED without the capability, and NOT_FOUND with it", async (_, other) => {
      const request = await requestOf(name);
      const uid = other();
      const missing = () => aboutUid(request, scopeOf(request, row), uid);
      for (const who of ["stranger", "beside"]) expectDeniedAt(await send(name, tokenOf(who), missing()), uid);
      if (viewer === "denied") expectDeniedAt(await send(name, tokenOf("member"), missing()), uid);
      for (const who of viewer === "served" ? ["member", "owner"] : ["owner"]) {
        const { answer } = await send(name, tokenOf(who), missing());
        if (owner === "denied") continue;
        if (IDEMPOTENT.includes(name)) expect(answer.status, answer.text).toBe(200);
        else expectNotFound(answer, missingKind(name), uid, domainOf(row));
      }
    });
  },
);

const deletes = rows.map(([name]) => name).filter((name) => name.startsWith("Delete"));

test.each(deletes)("%s answers with nothing, and then its record is gone", async (name) => {
  const { token } = api.owner;
  const { answer, request, row } = await send(name, token);
  expect([answer.status, answer.text]).toEqual([200, ""]);
  for (const other of [name, name.replace("Delete", "Get"), name.replace("Delete", "Update")] as OperationName[]) {
    if (!isRow(other)) continue;
    const own = other === name ? request : await requestOf(other);
    const again = await send(other, token, aboutUid(own, scopeOf(own, operations[other]), request.uid));
    if (other === name && IDEMPOTENT.includes(name))
      expect([again.answer.status, again.answer.text]).toEqual([200, ""]);
    else expectNotFound(again.answer, missingKind(name), request.uid, domainOf(row));
  }
});
