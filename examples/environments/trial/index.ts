// Two organizations, each with an identity provider, for a trial on the reference server. Yours exist already.
import { Group, IdentityProvider } from "pulumi-irm";

const organizationOf = (environment: string) => {
  const organization = new Group(environment, { root: true, name: `acme-${environment}` });
  new IdentityProvider(environment, {
    parent: organization,
    name: `${environment}-sso`,
    defaultRole: "registry.pull",
    oidc: { issuer: "https://login.acme.example", clientId: environment, pkceEnabled: true, groupsClaim: "groups" },
  });
  return organization.uid;
};

export const staging = organizationOf("staging");
export const production = organizationOf("production");
