// Identity providers. Everyone who signs in for the first time is granted the default role, so setting one up takes what
// granting that role takes (docs/internals/contract.md#d21). The client secret is not stored and so cannot be shown.
import { IdentityProvider, type Json, parseMask } from "../../schema/index.ts";
import { equals } from "../store/list.ts";
import type { IdentityRules, ServiceMethods } from "./context.ts";
import { demandMappedRoles } from "./external-group-role-mapping.ts";
import { issuerViolations } from "./identity.ts";
import { changeInput, existing, recordFrom, recordsOf, throwIfAny, uidIn } from "./record.ts";
import { demandRole, roleViolations } from "./role.ts";

type Oidc = NonNullable<IdentityProvider["oidc"]>;

// Replaces the secret: the store records only that there is one.
const KEPT = "kept";

const records = recordsOf(
  "identityProvider",
  // Reads of one provider show its provisioning. This server never issues a token for it.
  (row): IdentityProvider => ({
    ...recordFrom<IdentityProvider>(row),
    scim: { credentialState: "CREDENTIAL_STATE_NOT_ISSUED" },
  }),
  recordFrom<IdentityProvider>,
);

export const identityProviderService = {
  GetIdentityProvider: records.get,

  ListIdentityProviders: records.list(({ name }) => equals({ name })),

  CreateIdentityProvider: ({ parent, identityProvider }, context) => {
    const violations = issuerOf(identityProvider, context.identityRules);
    const input = records.input(context, identityProvider, violations);
    const { defaultRole } = input;
    existing(context, "group", parent);
    throwIfAny(roleViolations(context, parent, defaultRole, "defaultRole"));
    demandRole(context, parent, defaultRole);
    const { body, hasSecret } = withoutSecret(input);
    // The client of a copy has a secret, which no copy shows, unless it proves itself by PKCE.
    const has_secret = Number(context.original ? !input.oidc?.pkceEnabled : hasSecret);
    return records.insert(context, uidIn(context, parent), body, { has_secret });
  },

  // A caller who moves a provider to another issuer could sign in as anyone, in any external group. So every change requires that
  // the caller may grant the default role, and the roles of these groups.
  UpdateIdentityProvider: ({ identityProvider, updateMask }, context) => {
    const row = records.row(context, identityProvider.uid);
    const oidc = { ...(row.body.oidc as Oidc), ...(row.columns.has_secret === 1 && { clientSecret: KEPT }) };
    const change = keepStored(oidc, identityProvider, updateMask);
    const { next } = changeInput(IdentityProvider, { ...row.body, oidc }, change, updateMask, (changed) => {
      const description = "cannot be changed; create another identity provider";
      const isKept = !changed.oidc || ruleOf(oidc) === ruleOf(changed.oidc as Oidc);
      return [
        ...issuerOf(changed, context.identityRules),
        ...(isKept ? [] : [{ field: "oidc.correlationRule", description }]),
      ];
    });
    const { defaultRole } = next as IdentityProvider;
    throwIfAny(roleViolations(context, row.parent as string, defaultRole, "defaultRole"));
    demandRole(context, row.parent as string, defaultRole);
    demandMappedRoles(context, row.uid);
    const { body, hasSecret } = withoutSecret(next as IdentityProvider);
    return records.update(context, row.uid, body, { has_secret: Number(hasSecret) });
  },

  DeleteIdentityProvider: records.delete,
} satisfies ServiceMethods;

const withoutSecret = ({ oidc, ...provider }: IdentityProvider) => {
  // Another service may have other ways to sign in.
  if (!oidc) return { body: provider, hasSecret: false };
  const { clientSecret, ...rest } = oidc;
  return { body: { ...provider, oidc: rest }, hasSecret: Boolean(clientSecret) };
};

// An empty secret keeps the stored one, unless the mask names it. An unset rule keeps the stored one.
const keepStored = (current: Oidc, change: IdentityProvider, updateMask: string | undefined): Json => {
  if (!change.oidc) return change;
  const named = parseMask(IdentityProvider, updateMask ?? "").paths.includes("oidc.clientSecret");
  const { clientSecret, correlationRule, ...oidc } = change.oidc;
  const restated = correlationRule === undefined || correlationRule === UNSET || correlationRule === ruleOf(current);
  return {
    ...change,
    oidc: {
      ...oidc,
      clientSecret: clientSecret || named ? clientSecret : current.clientSecret,
      correlationRule: restated ? current.correlationRule : correlationRule,
    },
  };
};

const UNSET = "CORRELATION_RULE_UNSPECIFIED";

const ruleOf = ({ correlationRule = UNSET }: Oidc) =>
  correlationRule === UNSET ? "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID" : correlationRule;

const issuerOf = ({ oidc }: Partial<IdentityProvider>, rules: IdentityRules) =>
  issuerViolations("oidc.issuer", oidc?.issuer, rules);
