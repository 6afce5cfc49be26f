// What people change by hand between a review and the update: what the seal rests on, or something else.

import type { SealContent } from "../../../access/seal/seal.ts";
import { type Json, parentOf } from "../../../schema/index.ts";
import { IAM } from "../../harness/small-engine/owner.ts";
import type { Testbed } from "../../harness/small-engine/testbed.ts";
import type { Random } from "../../support/random.ts";
import type { HandMade } from "../program/hand-made.ts";
import { someCapabilities, someClaims } from "../program/some.ts";

interface Edit {
  what: "role" | "claims" | "binding" | "owner" | "people" | "other";
  /** the request, for a report */
  text: string;
}

interface World {
  random: Random;
  testbed: Testbed;
  made: HandMade;
  seal: SealContent;
}

type Editor = (world: World) => Promise<Edit | undefined>;

const uidsIn = (nodes: readonly { uid: string | null }[]): string[] => nodes.flatMap(({ uid }) => uid ?? []);

const send = async (
  { testbed }: World,
  what: Edit["what"],
  method: string,
  path: string,
  body?: Json,
): Promise<Edit | undefined> => {
  try {
    await testbed.call(method, `${IAM}/${path}`, body);
  } catch (error) {
    // What another edit has deleted, or what the API refuses, is no edit.
    if (/ answered 4/.test((error as Error).message)) return undefined;
    throw error;
  }
  return { what, text: `${method} ${path} ${JSON.stringify(body ?? {})}` };
};

const isBuiltIn = (uid: string): boolean => parentOf(uid) === "";

const relevant: readonly Editor[] = [
  async (world) => {
    const { random, seal, made } = world;
    const roles = uidsIn([...seal.before.roles, ...seal.after.roles]).filter((uid) => !isBuiltIn(uid));
    const uid = random.pick(roles.length > 0 ? roles : made.roles);
    return send(world, "role", "PATCH", `roles/${uid}?updateMask=capabilities`, {
      capabilities: someCapabilities(random),
    });
  },
  async (world) => {
    const { random, seal, made } = world;
    const found = seal.before.identities.flatMap(({ uid, relationship }) =>
      uid && relationship?.claimMatch ? uid : [],
    );
    const uid = random.pick(found.length > 0 ? found : made.identities);
    return send(world, "claims", "PATCH", `identities/${uid}?updateMask=claimMatch`, {
      claimMatch: someClaims(random),
    });
  },
  async (world) => {
    const { random, seal, made } = world;
    const identityUid = random.pick([...uidsIn(seal.before.identities), ...made.identities]);
    const roleUid = random.pick([...uidsIn(seal.before.roles), ...made.roles]);
    return send(world, "binding", "POST", `roleBindings/${random.pick(made.groups)}`, { identityUid, roleUid });
  },
  async (world) => {
    const { random, seal, made } = world;
    const uid = random.pick(uidsIn(seal.before.bindings));
    if (uid === undefined) return undefined;
    const [identityUid, roleUid] = [random.pick(made.identities), random.pick([...made.roles, made.viewer])];
    const mask = random.pick(["identityUid", "roleUid", "identityUid,roleUid"]);
    return send(world, "binding", "PATCH", `roleBindings/${uid}?updateMask=${mask}`, { identityUid, roleUid });
  },
  async (world) => {
    const uid = world.random.pick(uidsIn(world.seal.before.bindings));
    return uid === undefined ? undefined : send(world, "binding", "DELETE", `roleBindings/${uid}`);
  },
  async (world) => {
    const { random, made, testbed } = world;
    const { roles } = await testbed.call("GET", `${IAM}/roles?name=owner&uidp.inRoot=true`);
    const roleUid = (roles as { uid: string }[])[0]?.uid;
    const place = random.pick([...made.groups, made.organization]);
    return send(world, "owner", "POST", `roleBindings/${place}`, {
      identityUid: random.pick(made.identities),
      roleUid,
    });
  },
  async (world) => {
    const { random, seal, made } = world;
    const uid = random.pick([...uidsIn(seal.before.providers), ...made.providers]);
    const oidc = { issuer: `https://others-${random.hex(4)}.example`, clientId: "x", pkceEnabled: true };
    if (random.below(2) === 0)
      return send(world, "people", "POST", `externalGroupRoleMappings/${uid}`, {
        ...{ externalGroupId: random.hex(5), scope: made.organization },
        roleUid: random.pick([...made.roles, made.viewer]),
      });
    return random.below(2) === 0
      ? send(world, "people", "PATCH", `identityProviders/${uid}?updateMask=oidc`, { oidc })
      : send(world, "people", "PATCH", `identityProviders/${uid}?updateMask=defaultRole`, {
          defaultRole: random.pick([...made.roles, made.viewer]),
        });
  },
];

const irrelevant: readonly Editor[] = [
  async (world) => send(world, "other", "POST", `groups/${world.made.home}`, { name: `n${world.random.hex(4)}` }),
  async (world) => {
    const { random, made } = world;
    return send(world, "other", "POST", `identities/${random.pick(made.groups)}`, {
      ...{ name: `n${random.hex(4)}`, claimMatch: someClaims(random) },
    });
  },
  async (world) => {
    const { random, made } = world;
    return send(world, "other", "POST", `roles/${made.organization}`, {
      ...{ name: `n${random.hex(4)}`, capabilities: someCapabilities(random) },
    });
  },
];

/** `isRelevant`: it changes a role, a claim, a binding, an owner or people that the seal has. */
export const editByHand = async (world: World, isRelevant: boolean): Promise<Edit | undefined> =>
  world.random.pick(isRelevant ? relevant : irrelevant)(world);
