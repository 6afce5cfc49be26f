// The steps of identity providers and invites: what they give to people, who have no identity.
import { type Json, parentOf } from "../../schema/index.ts";
import type { GraphBuilder, NodeId, ProviderNode, SignIn } from "../graph/graph.ts";
import { signInOf } from "../graph/live-record.ts";
import { changedInputs, hiddenPart, nameIn, nodeIn } from "./record.ts";
import { nodeOf, roleReferenceOf } from "./reference.ts";
import type { Resource, Stored } from "./resource.ts";
import { report, type Work } from "./work.ts";

/** `placeOf` is the group of the record after the run, given the one where it is now. */
export const applyProvider = (work: Work, resource: Resource, placeOf: (live?: NodeId) => NodeId): void => {
  const live = work.after.providers.get(nodeOf(resource));
  const group = placeOf(live?.group);
  const signIn = signInAfter(work, resource, live);
  const defaultRole = roleAfter(work, resource, "defaultRole", group, live?.defaultRole);
  work.after.providers.set(nodeOf(resource), { ...nodeIn(resource, live), group, signIn, defaultRole });
};

/** The same; nothing of an invite changes but by a new one. */
export const applyInvite = (work: Work, resource: Resource, placeOf: () => NodeId): void => {
  if (work.after.invites.has(nodeOf(resource))) return;
  const place = placeOf();
  const { uid = null, inputs = {} } = resource.planned ?? {};
  const role = roleAfter(work, resource, "role", place, undefined);
  const email = inputs.email ?? "";
  const isHidden = typeof email !== "string" || hiddenPart(email) !== undefined;
  if (isHidden) report(work, resource, "email", "who can accept it is not known");
  const singleUse = inputs.singleUse === true;
  const name = resource.logicalName;
  const fields = { email: isHidden ? "" : email, singleUse, expirationTime: null };
  work.after.invites.set(nodeOf(resource), { id: nodeOf(resource), uid, name, group: place, role, ...fields });
};

/** Which identity provider it takes over is not known. It creates nothing, so it is not in the graph. */
export const reportAdoptedProvider = (work: Work, resource: Resource): void => {
  const why = "it takes over an identity provider that exists, and which one is not known";
  report(work, resource, "adopt", `${why}; its people get another role`, { of: "people" });
  report(work, resource, "adopt", `${why}; its people sign in elsewhere`, { of: "issuer" });
};

const signInAfter = (work: Work, resource: Resource, live: ProviderNode | undefined): SignIn | null => {
  const { oidc } = resource.planned?.inputs ?? {};
  if (live && !changedInputs(resource, ["oidc"])) return live.signIn;
  const signIn = signInOf(oidc);
  if (signIn && hiddenPart(signIn) === undefined) return signIn;
  const text = "where people sign in is not known, so they may be any people";
  report(work, resource, "oidc", text, { of: "issuer" }, nodeOf(resource));
  return null;
};

/** A role that is not known may be any; what it replaces counts as no loss. */
const roleAfter = (
  work: Work,
  resource: Resource,
  property: "role" | "defaultRole",
  group: NodeId,
  live: NodeId | null | undefined,
): NodeId | null => {
  const { [property]: value } = resource.planned?.inputs ?? {};
  if (live !== undefined && !changedInputs(resource, [property])) return live;
  const role = roleReferenceOf(work.records, work.after, value);
  if ("id" in role) return role.id;
  report(work, resource, property, `${role.why}; people get it`, { of: "people", group }, nodeOf(resource));
  return live ?? null;
};

/** A record that the engine's state shows, where the API does not list it. */
export const showStoredPeople = (
  graph: GraphBuilder,
  kind: "identityProvider" | "groupInvite",
  { uid, outputs }: Stored,
): void => {
  const group = parentOf(uid);
  if (kind === "identityProvider" && !graph.providers.has(uid))
    graph.providers.set(uid, {
      id: uid,
      uid,
      name: nameIn(outputs, uid),
      group,
      signIn: signInOf(outputs.oidc),
      defaultRole: textIn(outputs, "defaultRole"),
    });
  if (kind === "groupInvite" && !graph.invites.has(uid))
    graph.invites.set(uid, {
      id: uid,
      uid,
      name: textIn(outputs, "keyId") ?? uid,
      group,
      role: textIn(outputs, "roleUid") ?? textIn(outputs, "role"),
      email: textIn(outputs, "email") ?? "",
      singleUse: outputs.singleUse === true,
      expirationTime: textIn(outputs, "expirationTime"),
    });
};

const textIn = (outputs: Json, name: string): string | null => {
  const value = outputs[name];
  return typeof value === "string" && value !== "" && hiddenPart(value) === undefined ? value : null;
};
