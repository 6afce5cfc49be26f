// The built-in roles of a server: the roles of the table, or roles from its user, such as the current ones of a service.

import {
  BUILT_IN_ROLE_CAPABILITIES,
  capabilities,
  capabilityFrom,
  isObject,
  isRoleName,
  type RoleBundles,
  suggestion,
} from "../../schema/index.ts";
import { readYaml } from "../base/yaml-file.ts";
import { ensureBuiltInRoles, formerBuiltInRoles, useViolations } from "../services/role.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import type { Problem } from "./problem.ts";
import { SeedError } from "./record.ts";

/** The founder of an organization gets the first, people who sign in without another role the second. */
const REQUIRED = ["owner", "viewer"];

const names = capabilities.map(({ name }) => name);

/** Every problem of a map from names of roles to lists of capabilities, such as `{ viewer: [groups.list] }`. */
export const roleProblems = (value: unknown): Problem[] => {
  if (!isObject(value)) return [{ path: [], text: "must be a map such as { viewer: [groups.list, repo.list] }" }];
  const missing = REQUIRED.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => ({ path: [], text: `has no role ${name}, which the server grants by itself: add it` })),
    ...Object.entries(value).flatMap(([name, held]) => bundleProblems(name, held)),
  ];
};

const bundleProblems = (name: string, held: unknown): Problem[] => {
  if (!isRoleName(name)) return [{ path: [name], text: "is not the name of a role: use a-z, 0-9, space, . _ and -" }];
  if (!Array.isArray(held) || held.length === 0) return [{ path: [name], text: "must be a list of capabilities" }];
  return held.flatMap((one, i): Problem[] => {
    const path = [name, i];
    if (typeof one !== "string" || capabilityFrom(one) === undefined)
      return [{ path, text: `there is no capability ${one}${suggestion(String(one), names, 3)}` }];
    return held.indexOf(one) === i ? [] : [{ path, text: `${one} is here twice` }];
  });
};

/** Parses `--roles FILE`. Throws SeedError with every problem and its line. */
export const parseRoles = (text: string, file: string): RoleBundles => {
  const { value, describe } = readYaml(text, file, SeedError);
  const problems = roleProblems(value);
  if (problems.length > 0) throw new SeedError(describe(problems));
  return value as RoleBundles;
};

/** Gives the store these built-in roles and no others. Throws SeedError, without a change, if a role to remove is still in use. */
export const ensureRoles = (store: Store, bundles: RoleBundles = BUILT_IN_ROLE_CAPABILITIES, now: number): void =>
  store.transaction(() => {
    const former = formerBuiltInRoles(store, bundles);
    const used = former.filter(({ uid }) => useViolations(store, uid).length > 0).map(({ name }) => name);
    if (used.length > 0)
      throw new SeedError(
        `the database grants built-in roles that the server would not have: ${used.join(", ")}. Start it with --roles FILE, a file that has them`,
      );
    for (const { uid } of former) store.remove(shapes.role, uid);
    ensureBuiltInRoles(store, bundles, now);
  });
