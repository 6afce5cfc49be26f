import { expect, test } from "vitest";
import { z } from "zod";
import { asMessage, fieldInfo, type Message, messageInfo, unwrap } from "../../schema/field.ts";
import {
  AccountAssociation,
  Advisory,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  type Json,
  Repo,
  Role,
  RoleBinding,
  Tag,
} from "../../schema/index.ts";
import { inputFields } from "../../schema/input.ts";
import { canonicalForm, fieldPaths, normalForm } from "../../schema/normal.ts";

const messages = [
  AccountAssociation,
  Advisory,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  Repo,
  Role,
  RoleBinding,
  Tag,
];

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
