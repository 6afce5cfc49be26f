// Records that people made by hand, which programs name or adopt.
import type { Json } from "../../../schema/index.ts";
import { IAM } from "../../harness/small-engine/owner.ts";
import type { Declared } from "../../harness/small-engine/program.ts";
import type { Testbed } from "../../harness/small-engine/testbed.ts";
import type { Random } from "../../support/random.ts";
import { someCapabilities, someClaims } from "./some.ts";

export type HandMade = Awaited<ReturnType<typeof makeByHand>>;

/** A caller who may do everything in the organization, and a group in it. */
type Owner = Pick<Testbed, "call" | "create" | "home" | "organization">;

/** All names in it begin with the prefix, also those of what a program declares. */
export const makeByHand = async (random: Random, place: Owner & { prefix: string }) => {
  const { call, home, organization, prefix } = place;
  const create = (plural: string, parent: string, body: Json) => place.create(`${plural}/${parent}`, body);
  const { roles: found } = await call("GET", `${IAM}/roles?name=viewer&uidp.inRoot=true`);
  const viewer = (found as { uid: string }[])[0]?.uid as string;
  /** what a program may adopt, as it declares it */
  const adoptable: { kind: Declared["kind"]; uid: string; inputs: Json }[] = [];

  /** home, and groups below it */
  const groups = [home];
  const named = (name: string): string => `${prefix}${name}`;
  for (const name of ["team", "inner"].map(named))
    groups.push(await create("groups", groups.at(-1) as string, { name }));
  /** holds role bindings that programs only declare as a set */
  const setGroup = await create("groups", home, { name: named("shared") });
  const legacy = await create("groups", home, { name: named("legacy") });
  adoptable.push({ kind: "group", uid: legacy, inputs: { parent: home, name: named("legacy") } });

  const identities: string[] = [];
  for (const name of ["ann", "bob", "cid"].map(named)) {
    const [parent, claimMatch] = [random.pick(groups), someClaims(random)];
    const uid = await create("identities", parent, { name, claimMatch });
    identities.push(uid);
    if (identities.length > 1) adoptable.push({ kind: "identity", uid, inputs: { parent, name, claimMatch } });
  }
  const roles: string[] = [];
  for (const name of ["reader", "writer", "maker"].map(named)) {
    const capabilities = someCapabilities(random);
    const uid = await create("roles", organization, { name, capabilities });
    roles.push(uid);
    if (roles.length > 1) adoptable.push({ kind: "role", uid, inputs: { parent: organization, name, capabilities } });
  }
  for (const parent of [...groups, setGroup]) {
    const [identity, role] = [random.pick(identities), random.pick([...roles, viewer])];
    const uid = await create("roleBindings", parent, { identityUid: identity, roleUid: role });
    if (parent === groups[2]) adoptable.push({ kind: "roleBinding", uid, inputs: { parent, identity, role } });
  }
  const oidc = { issuer: "https://people.example", clientId: "people", pkceEnabled: true, groupsClaim: "groups" };
  const [defaultRole] = roles as [string];
  const provider = await create("identityProviders", organization, { name: named("people"), oidc, defaultRole });
  const inputs = { parent: organization, name: named("people"), oidc, defaultRole };
  adoptable.push({ kind: "identityProvider", uid: provider, inputs });
  return { prefix, organization, home, groups, setGroup, identities, roles, providers: [provider], viewer, adoptable };
};
