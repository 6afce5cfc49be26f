// What is wrong with the records of a seed: the API's own rules, in its words; references to what is not in the file; records
// that would be taken for one another.
import {
  AccountAssociation,
  Advisory,
  type FieldViolation,
  Group,
  Identity,
  IdentityProvider,
  inputViolations,
  isUidp,
  type Json,
  type Message,
  messageFromJson,
  Repo,
  RepoReadme,
  Role,
  Tag,
} from "../../schema/index.ts";
import { isBuiltInRole } from "../services/built-in-role.ts";
import { unusableViolations } from "../services/identity.ts";
import { secretViolations } from "../services/identity-provider.ts";
import { readmeViolation } from "../services/readme.ts";
import { internalViolations } from "../services/role.ts";
import { identityInput, roleInput, type Seed, seedPath } from "./record.ts";
import type { Problem as FileProblem } from "./yaml-file.ts";

// What the schema of a record does not say.
type Further = (value: Json) => FieldViolation[];

export interface Problem extends FileProblem {
  /** section of the file in which something is missing */
  refersTo?: keyof Seed;
}

export const recordProblems = (seed: Seed): Problem[] => {
  const groups = new Set(["", ...seed.groups.map(({ parent, name }) => seedPath(parent, name))]);
  const identities = new Set(seed.identities.map((identity) => seedPath(identity.group, identity.name)));
  /** group of a role, by its path */
  const roles = new Map(seed.roles.map((role) => [seedPath(role.group, role.name), role.group]));
  const problems = (violations: FieldViolation[], path: PropertyKey[]): Problem[] =>
    violations.map(({ field, description }) => ({
      path: [...path, ...field.replace(/\[(\d+)\]/g, ".$1").split(".")],
      text: description,
    }));
  const rules = (schema: Message, value: Json, path: PropertyKey[], further: Further = () => []): Problem[] =>
    problems([...inputViolations(schema, value), ...further(value)], path);
  // What is not of its type is told before what is not of its rule.
  const recordRules = (schema: Message, json: Json, path: PropertyKey[], further?: Further): Problem[] => {
    const { value, violations } = messageFromJson(schema, json);
    return violations.length > 0 ? problems(violations, path) : rules(schema, value, path, further);
  };
  const inGroup = (name: string, path: PropertyKey[]): Problem[] =>
    groups.has(name) ? [] : [{ path, text: `there is no group ${show(name)} in this file`, refersTo: "groups" }];
  const hasIdentity = (name: string, path: PropertyKey[]): Problem[] =>
    identities.has(name)
      ? []
      : [{ path, text: `there is no identity ${show(name)} in this file`, refersTo: "identities" }];
  const hasRole = (name: string, group: string, path: PropertyKey[]): Problem[] => {
    const own = roles.get(name);
    if (own !== undefined && !isAtOrAbove(own, group))
      return [{ path, text: `role ${show(name)} does not exist at ${show(group)} or above` }];
    // Whether a uid is a role's is known by the database alone.
    if (own !== undefined || isBuiltInRole(name) || isUidp(name)) return [];
    return [{ path, text: `there is no role ${show(name)} in this file, nor is it built in`, refersTo: "roles" }];
  };
  return [
    ...rules(Group, seed.organization as Json, ["organization"]),
    ...seed.groups.flatMap(({ parent, ...value }, i) => [
      ...rules(Group, value, ["groups", i]),
      ...inGroup(parent, ["groups", i, "parent"]),
    ]),
    ...seed.roles.flatMap((role, i) => [
      ...rules(Role, roleInput(role), ["roles", i], internalViolations),
      ...inGroup(role.group, ["roles", i, "group"]),
    ]),
    ...seed.identities.flatMap((identity, i) => [
      ...rules(Identity, identityInput(identity, "https://issuer.example"), ["identities", i], unusableViolations),
      ...inGroup(identity.group, ["identities", i, "group"]),
    ]),
    ...seed.bindings.flatMap((binding, i) => [
      ...inGroup(binding.group, ["bindings", i, "group"]),
      ...hasIdentity(binding.identity, ["bindings", i, "identity"]),
      ...hasRole(binding.role, binding.group, ["bindings", i, "role"]),
    ]),
    ...(seed.identityProviders ?? []).flatMap(({ group: parent, ...value }, i) => [
      // Any uid: the role is a name here.
      ...recordRules(
        IdentityProvider,
        { ...value, defaultRole: "0".repeat(40) },
        ["identityProviders", i],
        secretViolations,
      ),
      ...hasRole(value.defaultRole, parent, ["identityProviders", i, "defaultRole"]),
      ...inGroup(parent, ["identityProviders", i, "group"]),
    ]),
    ...(seed.accountAssociations ?? []).flatMap(({ group: parent, ...value }, i) => [
      ...recordRules(AccountAssociation, value, ["accountAssociations", i]),
      ...inGroup(parent, ["accountAssociations", i, "group"]),
    ]),
    ...seed.repos.flatMap(({ group: parent, tags = [], readme = "", ...value }, i) => [
      ...recordRules(Repo, value, ["repos", i]),
      ...inGroup(parent, ["repos", i, "group"]),
      ...tags.flatMap((tag, k) => recordRules(Tag, tag, ["repos", i, "tags", k])),
      ...repeated(
        ["repos", i, "tags"],
        "name",
        tags.map(({ name }) => name),
      ),
      ...inputViolations(RepoReadme, { content: readme }).map(({ description: text }) => ({
        path: ["repos", i, "readme"],
        text,
      })),
      ...[readmeViolation(readme) ?? []].flat().map((text) => ({ path: ["repos", i, "readme"], text })),
    ]),
    ...(seed.advisories ?? []).flatMap(({ group: parent, origin, ...value }, i) => [
      ...recordRules(Advisory, value, ["advisories", i]),
      ...inGroup(parent, ["advisories", i, "group"]),
    ]),
    ...repeated(
      ["groups"],
      "name",
      seed.groups.map(({ parent, name }) => seedPath(parent, name)),
    ),
    ...NAMED.flatMap((section) =>
      repeated(
        [section],
        "name",
        (seed[section] ?? []).map(({ group, name }) => seedPath(group, name)),
      ),
    ),
    ...repeated(
      ["accountAssociations"],
      "group",
      (seed.accountAssociations ?? []).map(({ group }) => group),
    ),
    ...repeated(
      ["advisories"],
      "advisoryId",
      (seed.advisories ?? []).map(({ group, advisoryId }) => seedPath(group, advisoryId)),
    ),
  ];
};

const NAMED = ["roles", "identities", "identityProviders", "repos"] as const;

// By this a record is found again when the server starts again: the second one would be taken for the first, and be lost.
const repeated = (path: PropertyKey[], field: string, keys: readonly string[]): Problem[] =>
  keys.flatMap((key, i) =>
    keys.indexOf(key) === i ? [] : [{ path: [...path, i, field], text: "another record of this file has the same" }],
  );

const show = (name: string) => JSON.stringify(name);

const isAtOrAbove = (above: string, group: string): boolean =>
  above === "" || above === group || group.startsWith(`${above}/`);
