// Secrets, and values that the API shows once, in the state: the engine encrypts the outputs that the classes name.
import * as pulumi from "@pulumi/pulumi";
import { expect, it, test } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { inputsFrom, withSecretOutputs } from "../../../provider/program/inputs.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { SECRETS } from "../../../provider/record/normal-form.ts";
import { type Json, resources } from "../../../schema/index.ts";
import { GROUP, json, ROLE, scriptedSession } from "../../support/scripted.ts";

const { groupInvite, identityProvider } = kindRecords;

const PROVIDER = `${GROUP}/2222222222222222`;
const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "s3cret" };
const inputs = { parent: GROUP, name: "login", defaultRole: ROLE, oidc };
const login = { uid: PROVIDER, name: "login", defaultRole: ROLE };
const answer = (further: Json = {}) => json({ ...login, oidc: { issuer: oidc.issuer, clientId: "c", ...further } });
const stored: Json = {
  ...{ ...login, parent: GROUP, oidc: { issuer: oidc.issuer, clientId: "c" } },
  [SECRETS]: { "oidc.clientSecret": "s3cret" },
};

it("a client secret is a separate output, also when a service returns it", async () => {
  for (const echoed of [{}, { clientSecret: "s3cret" }]) {
    const { session } = scriptedSession(answer(echoed));
    const { props, inputs: read } = await reconcile.read(identityProvider, session, PROVIDER, stored);
    expect(props.oidc).toEqual({ issuer: oidc.issuer, clientId: "c" });
    expect(props[SECRETS]).toEqual({ "oidc.clientSecret": "s3cret" });
    expect(read).toMatchObject({ oidc });
  }
});

it("a client secret is sent when it changes, and not when another field does", async () => {
  const changes: [Json, string, unknown][] = [
    [{ ...oidc, clientSecret: "other" }, "oidc.clientSecret", "other"],
    [{ ...oidc, clientId: "d" }, "oidc.clientId", undefined],
    [{ issuer: oidc.issuer, clientId: "c", pkceEnabled: true }, "oidc.clientSecret,oidc.pkceEnabled", undefined],
  ];
  for (const [changed, mask, sent] of changes) {
    const { clientSecret: _, ...kept } = changed;
    const { session, requests } = scriptedSession(answer(kept));
    const { outs } = await reconcile.update(identityProvider, session, PROVIDER, stored, { ...inputs, oidc: changed });
    const [request] = requests;
    expect(request?.url.searchParams.get("updateMask")).toBe(mask);
    expect((request?.json?.oidc as Json | undefined)?.clientSecret).toBe(sent);
    expect((outs[SECRETS] as Json | undefined)?.["oidc.clientSecret"]).toBe(changed.clientSecret);
  }
});

const invite = `${GROUP}/3333333333333333`;
const state: Json = { uid: invite, parent: GROUP, role: { uid: ROLE, name: "viewer" }, ttl: "60s", code: "cginvite_1" };
const own = { parent: GROUP, role: ROLE, ttl: "60s" };

it("the code of an invite is kept by a read, whose response lacks it", async () => {
  const { session } = scriptedSession(json({ uid: invite, roleUid: ROLE, role: { uid: ROLE, name: "viewer" } }));
  const { props } = await reconcile.read(groupInvite, session, invite, state);
  expect(props).toMatchObject({ code: "cginvite_1", ttl: "60s", role: { uid: ROLE, name: "viewer" } });
  // The name of a group's role may be secret where it is declared.
  const role = `${GROUP}/4444444444444444`;
  const { session: other } = scriptedSession(json({ uid: invite, roleUid: role, role: { uid: role, name: "hidden" } }));
  expect((await reconcile.read(groupInvite, other, invite, state)).props.role).toEqual({ uid: role });
});

it("the code of an invite that was never seen replaces the invite, unless it was adopted", () => {
  const { code: _, ...unseen } = state;
  expect(reconcile.diff(groupInvite, invite, unseen, own)).toEqual({ changes: true, replaces: ["code"] });
  expect(reconcile.diff(groupInvite, invite, { ...unseen, adopted: true }, own)).toEqual({
    changes: false,
    replaces: [],
  });
});

const block = { issuer: "i", clientSecret: "s3cret" };
const given = (oidc: unknown) => inputsFrom(resources.identityProvider, { oidc }).oidc;

it("an argument that is never returned is secret whatever the program declares, and the rest of its block is not, unless the block is an Output", async () => {
  const own = given(block);
  expect(own.issuer).toBe("i");
  expect(await pulumi.isSecret(own.clientSecret)).toBe(true);
  expect(given({ ...block, clientSecret: undefined })).toEqual({ issuer: "i", clientSecret: undefined });
  for (const oidc of [pulumi.output(block), Promise.resolve(block)])
    expect(await pulumi.isSecret(given(oidc))).toBe(true);
});

it("an argument that is never returned keeps the option additionalSecretOutputs, and adds its own", () => {
  const opts = { additionalSecretOutputs: ["email"], protect: true };
  const withOwn = { additionalSecretOutputs: ["email", "code"], protect: true };
  expect(withSecretOutputs(resources.groupInvite, opts, {})).toEqual(withOwn);
  expect(withSecretOutputs(resources.identityProvider, {}, {})).toEqual({ additionalSecretOutputs: [SECRETS] });
  expect(withSecretOutputs(resources.group, {}, {})).toEqual({});
});

test.each([
  ["secret", pulumi.secret("editor"), ["roleUid"]],
  ["known", pulumi.output("editor"), []],
])("an output with another name than its argument is marked like it: %s", async (_, role, expected) => {
  const { additionalSecretOutputs } = withSecretOutputs(resources.externalGroupRoleMapping, {}, { role });
  await pulumi.isSecret(role);
  expect(additionalSecretOutputs).toEqual(expected);
});
