// proto3 JSON (docs/internals/contract.md#json): both spellings in, lowerCamel out, unknown fields dropped, malformed values by
// path. And the normal form of what means the same.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { asMessage, fieldInfo, messageInfo, unwrap } from "../../schema/field.ts";
import {
  AccountAssociation,
  AdvisoryEvent,
  answerFromJson,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  type Json,
  type Message,
  messageFromJson,
  messageToJson,
  operations,
  RawToken,
  Repo,
  type Resource,
  Role,
  resources,
  StaticKeys,
  Tag,
} from "../../schema/index.ts";
import { inputFields } from "../../schema/input.ts";
import { canonicalForm, fieldPaths, normalForm } from "../../schema/normal.ts";

const { ListGroups, ListRepos, BatchCreateRoleBindings } = operations;
const [LIST, LISTED, BATCH] = [ListGroups.request, ListGroups.response, BatchCreateRoleBindings.request];
const apps = (appInstallations: unknown) => ({ github: { appInstallations } });
const EIGHT = { 7: { installations: [{ installationId: "8" }] } };
const WITH_MORE = { 7: { installations: [{ installation_id: 8, colour: "x" }], size: 1 } };
const ZEROS = { 7: { installations: [{ installationId: "8", name: "" }] }, 8: { installations: [] } };
const matching = (claimMatch: object) => ({ claimMatch });
const SYNCED = { sync_config: { source: "s" } };
const BOUND = { requests: [{ roleBinding: { roleUid: "r" } }] };
const CLAIMS = { job_workflow_ref: "x" };
const ONE_RELATIONSHIP = "only one of claimMatch, servicePrincipal may be set";
const identity = { name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "s" } };

describe("reading", () => {
  /** Without a value: the message as it is given. */
  test.each<[string, Message, object, object?]>([
    ["lowerCamel", LIST, { pageSize: 7, orderBy: "name" }],
    ["snake_case", LIST, { page_size: 7, order_by: "name" }, { pageSize: 7, orderBy: "name" }],
    ["snake_case below it", Identity, { claim_match: { issuer_pattern: "x" } }, matching({ issuerPattern: "x" })],
    ["a list of messages", BATCH, { requests: [{ role_binding: { role_uid: "r" } }] }, BOUND],
    ["messages in a map in both spellings, without unknown fields", AccountAssociation, apps(WITH_MORE), apps(EIGHT)],
    ["sync_config by its published name", Repo, SYNCED],
    ["sync_config by its camel name, a leniency", Repo, { syncConfig: { source: "s" } }, SYNCED],
    ["keys of a map unchanged", Identity, matching({ claim_patterns: CLAIMS }), matching({ claimPatterns: CLAIMS })],
    ["null as absent", Group, { name: "a", description: null, verified: null }, { name: "a" }],
    ["no unknown field", Group, { name: "a", etag: "x", __proto__x: 1 }, { name: "a" }],
    ["int32 from text", LIST, { pageSize: "7", skip: "-1" }, { pageSize: 7, skip: -1 }],
    ["int64 from a number", LISTED, { totalCount: 12 }, { totalCount: "12" }],
    ["int64 beyond 2^53 from text", LISTED, { totalCount: "9007199254740993" }],
    ["an enum by name", Group, { kind: "ORG_KIND_DEV" }],
    ["an enum by number", Group, { kind: 3 }, { kind: "ORG_KIND_DEV" }],
  ])("takes %s", (_, schema, json, value = json) => {
    expect(messageFromJson(schema, json)).toEqual({ value, violations: [] });
  });

  test.each([
    ["two texts", { page_size: 7, pageSize: 8 }],
    ["a null", { page_size: null, pageSize: 8 }],
  ])("refuses a field in both spellings: %s", (_, json) => {
    const violations = [{ field: "pageSize", description: "must be given once" }];
    expect(messageFromJson(LIST, json)).toEqual({ value: { pageSize: 8 }, violations });
  });

  test.each([
    ["2026-01-28T12:54:21.189Z", "2026-01-28T12:54:21.189Z", "in its own spelling"],
    ["2026-01-28T12:54:21Z", "2026-01-28T12:54:21.000Z", "without a fraction"],
    ["2026-01-28T12:54:21.189123456Z", "2026-01-28T12:54:21.189Z", "with nanoseconds, cut to the stored precision"],
    ["2026-01-28T14:54:21.189+02:00", "2026-01-28T12:54:21.189Z", "with an offset, which proto3 JSON accepts"],
  ])("reads the time %s as %s: %s", (text, value) => {
    expect(messageFromJson(RawToken, { expiry: text })).toEqual({ value: { expiry: value }, violations: [] });
  });

  test.each(["2026-01-28", "2026-01-28T12:54:21", "2026-02-30T12:54:21Z", "yesterday", 1_769_604_861])(
    "refuses %j as a time: RFC 3339 has a date, hours to seconds and an offset",
    (expiry) => {
      expect(messageFromJson(RawToken, { expiry }).violations).toEqual([
        { field: "expiry", description: "must be an RFC 3339 time" },
      ]);
    },
  );

  test.each<[string, Message, object, string, string]>([
    ["a number for a text", Group, { name: 7 }, "name", "must be a string"],
    ["a text for a boolean", Group, { verified: "true" }, "verified", "must be a boolean"],
    ["a fraction for an integer", LIST, { pageSize: 1.5 }, "pageSize", "must be an integer of 32 bits"],
    ["an integer of 33 bits", LIST, { pageSize: 2 ** 31 }, "pageSize", "must be an integer of 32 bits"],
    ["an unknown name of an enum", Group, { kind: "ORG_KIND_HUGE" }, "kind", "is not a known value of its enum"],
    ["a name of the prototype for an enum", Group, { kind: "constructor" }, "kind", "is not a known value of its enum"],
    ["an unknown number of an enum", Group, { kind: 99 }, "kind", "is not a known value of its enum"],
    ["a text for a list", Role, { capabilities: "CAP_IAM_GROUPS_LIST" }, "capabilities", "must be a list"],
    ["a list for a map", Identity, { claimMatch: { claims: [] } }, "claimMatch.claims", "must be a map"],
    ["a number in a map", Identity, { claimMatch: { claims: { a: 1 } } }, "claimMatch.claims.a", "must be a string"],
    ["a text for a message", Identity, { claimMatch: "x" }, "claimMatch", "must be an object"],
    ["a text in a list of messages", BATCH, { requests: [{}, "x"] }, "requests[1]", "must be an object"],
    ["two members of a oneof", Identity, { claimMatch: {}, servicePrincipal: 1 }, "servicePrincipal", ONE_RELATIONSHIP],
  ])("refuses %s by its path", (_, schema, json, field, description) => {
    expect(messageFromJson(schema, json).violations).toEqual([{ field, description }]);
  });

  test.each([[[]], ["x"], [7], [null], [undefined]])("refuses %j as a message", (json) => {
    expect(messageFromJson(Group, json, "group").violations).toEqual([
      { field: "group", description: "must be an object" },
    ]);
  });

  test("ignores names of the prototype", () => {
    const json = JSON.parse('{"__proto__":{"name":"x"},"claimMatch":{"claims":{"__proto__":"y","constructor":"z"}}}');
    const { value, violations } = messageFromJson(Identity, json);
    expect(violations).toEqual([]);
    expect(Object.keys(value)).toEqual(["claimMatch"]);
    expect(value.name).toBeUndefined();
    const { claims } = value.claimMatch as { claims: Record<string, string> };
    expect(Object.entries(claims)).toEqual([
      ["__proto__", "y"],
      ["constructor", "z"],
    ]);
  });
});

test("an answer keeps fields and enum values of a newer server (AIP-180), and a value of another type is still refused", () => {
  const json = { name: "a", kind: "ORG_KIND_GALACTIC", status: 9, founded: 1990 };
  expect(answerFromJson(Group, json)).toEqual({ value: json, violations: [] });
  expect(answerFromJson(Group, { name: 7 }).violations).toEqual([{ field: "name", description: "must be a string" }]);
});

const EMPTY_GROUP = { name: "a", description: "", resourceLimits: {}, verified: false };
const UNSET = { ...identity, description: "" };
const NO_REPOS = { repos: [], nextPageToken: "" };
const NO_REPOS_SHOWN = { repos: [], totalCount: "0", skipped: 0 };
const COUNTED = { groups: [], totalCount: "12", skipped: 3 };
const ONE_GROUP = { groups: [EMPTY_GROUP], totalCount: "1", skipped: 0 };
const MANUAL = { reviewState: "REVIEW_STATE_PENDING", detection: { manual: {} } };
const KEYS = { issuer: "i", subject: "s" };
test.each<[string, Message, object, object]>([
  ["description, resourceLimits and verified of a group even when zero", Group, { name: "a" }, EMPTY_GROUP],
  ["no unset message, list or text otherwise", Identity, { ...identity, company: "", awsIdentity: undefined }, UNSET],
  ["plural and counts of a list even when zero, and no last token", ListRepos.response, NO_REPOS, NO_REPOS_SHOWN],
  ["int64 as text, int32 as a number", LISTED, COUNTED, COUNTED],
  ["sync_config by its published name", Repo, { name: "r", ...SYNCED }, { name: "r", ...SYNCED }],
  ["messages in lists", LISTED, { groups: [{ name: "a" }], totalCount: "1" }, ONE_GROUP],
  [
    "no zeros in the messages of a map, but an empty message",
    AccountAssociation,
    apps(ZEROS),
    apps({ ...EIGHT, 8: {} }),
  ],
  ["an empty message that is the member of a oneof", AdvisoryEvent, MANUAL, MANUAL],
  ["no field that the schema does not have", StaticKeys, { ...KEYS, secret: "x" }, KEYS],
])("writing shows %s", (_, schema, value, json) => {
  expect(messageToJson(schema, value as Record<string, unknown>)).toEqual(json);
});

describe("reading a scalar or a map", () => {
  test.each<[string, unknown, string]>([
    ["standard base64", "+/8=", "+/8="],
    ["base64url", "-_8=", "+/8="],
    ["nothing", "", ""],
  ])("reads bytes as %s, and writes them as standard base64", (_, findings, expected) => {
    expect(messageFromJson(AdvisoryEvent, { findings })).toEqual({ value: { findings: expected }, violations: [] });
  });

  test.each<[string, unknown]>([
    ["another alphabet", "a b"],
    ["padding in the middle", "a=b="],
    ["a number", 7],
  ])("refuses bytes in %s", (_, findings) => {
    expect(messageFromJson(AdvisoryEvent, { findings }).violations).toEqual([
      { field: "findings", description: "must be base64" },
    ]);
  });

  test.each(["0s", "3600s", "1.5s", "-0.000000001s", "315576000000s"])("accepts the duration %s", (ttl) => {
    expect(messageFromJson(GroupInvite, { ttl })).toEqual({ value: { ttl }, violations: [] });
  });

  test.each(["3600", "1h", "1.0000000001s", "s", "+1s", "1e3s", "315576000001s", 3600, { seconds: 1 }])(
    "refuses the duration %s",
    (ttl) => {
      expect(messageFromJson(GroupInvite, { ttl }).violations).toEqual([
        { field: "ttl", description: 'must be a duration such as "3600s"' },
      ]);
    },
  );

  test.each<[string, string]>([
    ["9007199254740993", "9007199254740993"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["007", "7"],
    ["-0", "0"],
  ])("reads the key %s of a map by 64-bit integers as %s", (given, key) => {
    const { value, violations } = messageFromJson(AccountAssociation, apps({ [given]: { installations: [] } }));
    expect({ value, violations }).toEqual({ value: apps({ [key]: { installations: [] } }), violations: [] });
  });

  test.each(["9223372036854775808", "-9223372036854775809", "1.5", "", "x", "0x7"])(
    "refuses the key %s of such a map, with its path",
    (key) => {
      const [violation] = messageFromJson(AccountAssociation, apps({ [key]: {} })).violations;
      expect(violation).toEqual({ field: `github.appInstallations.${key}`, description: "must be an integer" });
    },
  );
});

const messages = Object.values<Resource>(resources).map(({ schema }) => schema);

const below = (schema: z.ZodType): Message[] => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return below(inner.element as z.ZodType);
  if (inner instanceof z.ZodRecord) return below(inner.valueType as z.ZodType);
  const message = asMessage(inner);
  return message ? [message, ...inputFields(message).flatMap((name) => below(message.shape[name] as z.ZodType))] : [];
};

const lists = messages.flatMap(below).flatMap((message) =>
  inputFields(message).flatMap((name) => {
    const field = message.shape[name] as z.ZodType;
    const inner = unwrap(field);
    return inner instanceof z.ZodArray ? [{ path: `${messageInfo(message)?.message}.${name}`, field, inner }] : [];
  }),
);

test.each(lists)("the list $path declares the meaning of its order", ({ field, inner }) => {
  const { list } = fieldInfo(field);
  const item = asMessage(inner.element as z.ZodType);
  if (typeof list === "object") expect(Object.keys(item?.shape ?? {})).toContain(list.key);
  else expect(list).toBe(item ? "ordered" : list === "set" ? "set" : "ordered");
});

test("the lists of the API have all three behaviours", () => {
  const behaviours = lists
    .map(({ field }) => fieldInfo(field).list)
    .map((list) => (typeof list === "object" ? "keyed" : list));
  expect(new Set(behaviours)).toEqual(new Set(["set", "ordered", "keyed"]));
});

const sources = (...hosts: string[]): Json => ({
  name: "images",
  customOverlay: { contents: { runtimeRepositories: hosts.map((host) => `https://${host}.example`) } },
});
const until = (time: string): Json => ({ staticKeys: { expirationTime: `2026-01-01T${time}` } });
const user = (username: string, shell?: string): Json => ({ username, ...(shell === undefined ? {} : { shell }) });
const users = (...all: Json[]): Json => ({ name: "images", customOverlay: { accounts: { users: all } } });
const installations = (...ids: string[]): Json => ({
  name: "a",
  github: { appInstallations: { "7": { installations: ids.map((installationId) => ({ installationId })) } } },
});

const rows: [what: string, schema: Message, before: Json, after: Json, isSame: boolean][] = [
  ["a set in another order", Role, { capabilities: ["A", "B"] }, { capabilities: ["B", "A"] }, true],
  ["a set with an item twice", Role, { capabilities: ["A", "B"] }, { capabilities: ["A", "B", "A"] }, true],
  ["a set that lacks an item", Role, { capabilities: ["A", "B"] }, { capabilities: ["A"] }, false],
  ["an ordered list in another order", Repo, sources("a", "b"), sources("b", "a"), false],
  ["objects by key in another order", Repo, users(user("a"), user("b")), users(user("b"), user("a")), true],
  ["an object whose other field differs", Repo, users(user("a", "/bin/sh")), users(user("a", "/bin/bash")), false],
  ["a zero in an object of a list", Repo, users(user("a")), users(user("a", "")), true],
  ["objects by key in a map", AccountAssociation, installations("1", "2"), installations("2", "1"), true],
  ["a zero written out", Group, { name: "a" }, { name: "a", description: "", verified: false }, true],
  ["an empty list written out", Tag, { name: "a" }, { name: "a", bundles: [] }, true],
  ["an empty message", Repo, { name: "a" }, { name: "a", customOverlay: {} }, false],
  ["one instant in two time zones", Identity, until("00:00:00Z"), until("01:00:00.000+01:00"), true],
  ["a duration with a fraction of zero", GroupInvite, { ttl: "60s" }, { ttl: "60.000s" }, true],
  ["another duration", GroupInvite, { ttl: "60s" }, { ttl: "60.5s" }, false],
  ["an output-only field", Group, { name: "a" }, { name: "a", createTime: "2026-01-01T00:00:00Z" }, true],
];

test.each(rows)("%s", (_, schema, before, after, isSame) => {
  const [one, other] = [before, after].map((value) => JSON.stringify(normalForm(schema, value)));
  if (isSame) expect(one).toBe(other);
  else expect(one).not.toBe(other);
});

test("a value that is unknown in a preview is unchanged", () => {
  const value = { name: "?", customOverlay: { accounts: { users: ["?", user("a")] }, environment: "?" } };
  expect(normalForm(Repo, value, "?")).toEqual(value);
  expect(normalForm(Role, { capabilities: "?" }, "?")).toEqual({ capabilities: "?" });
});

test("arguments keep all that was given, with lists, times and durations in one spelling", () => {
  const given = { ...users(user("b", ""), user("a")), bundles: ["base", "ai", "base"], other: [2, 1] };
  expect(canonicalForm(Repo, given)).toEqual({
    ...users(user("a"), user("b", "")),
    bundles: ["ai", "base"],
    other: [2, 1],
  });
  const keys = (expirationTime: string): Json => ({ name: "a", staticKeys: { issuer: "i", expirationTime } });
  expect(canonicalForm(Identity, keys("2027-03-01T01:00:00+01:00"))).toEqual(keys("2027-03-01T00:00:00.000Z"));
  for (const text of ["soon", "?"]) expect(canonicalForm(Identity, keys(text), "?")).toEqual(keys(text));
  expect(canonicalForm(GroupInvite, { ttl: "60.000s" })).toEqual({ ttl: "60s" });
});

test("paths of fields by their behaviour", () => {
  expect(fieldPaths(Identity, ({ serverChosen }) => serverChosen === true)).toEqual(["staticKeys.expirationTime"]);
  expect(fieldPaths(Identity, ({ createOnly }) => createOnly === true)).toEqual(["staticKeys", "servicePrincipal"]);
  expect(fieldPaths(IdentityProvider, ({ immutable }) => immutable === true)).toEqual(["oidc.correlationRule"]);
});
