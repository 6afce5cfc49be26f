// One program in TypeScript, in YAML and in Go.
import { GO_MODULE } from "../../plugin/schema/language.ts";

export const ISSUER = "https://token.actions.githubusercontent.com";

interface Values {
  description: string;
  claim: Readonly<Record<string, string>>;
  capabilities: readonly string[];
  /** the group of the binding to a built-in role */
  bound: "sub" | "team";
  /** the built-in role of the other binding */
  role: string;
}

export const before: Values = {
  description: "Builds things",
  claim: { subject: "repo:acme/app:ref:refs/heads/main" },
  capabilities: ["groups.list"],
  bound: "sub",
  role: "editor",
};
export const after: Values = {
  description: "Builds everything",
  claim: { subjectPattern: "repo:acme/.*" },
  capabilities: ["groups.list", "repo.list"],
  bound: "team",
  role: "owner",
};

export const typescript = (organization: string, { description, claim, capabilities, bound, role }: Values) => `
import { getRoleOutput, Group, Identity, Role, RoleBinding } from "pulumi-irm";

const team = new Group("team", { parent: "${organization}", name: "team", description: "${description}" });
const sub = new Group("sub", { parent: team, name: "sub" });
const claimMatch = ${JSON.stringify({ issuer: ISSUER, ...claim })};
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
const custom = new Role("custom", { parent: team, name: "custom", capabilities: ${JSON.stringify(capabilities)} });
new RoleBinding("built-in", { parent: ${bound}, identity: ci, role: "viewer" });
new RoleBinding("own", { parent: sub, identity: ci, role: custom });
new RoleBinding("other", { parent: sub, identity: ci, role: "${role}" });
export const viewer = getRoleOutput({ name: "viewer" }).uid;
`;

export const yaml = (organization: string, { description, claim, capabilities, bound, role }: Values) => `
resources:
  team:
    type: irm:Group
    properties: { parent: ${organization}, name: team, description: ${description} }
  sub:
    type: irm:Group
    properties: { parent: "\${team.uid}", name: sub }
  ci:
    type: irm:Identity
    properties:
      parent: \${team.uid}
      name: ci
      claimMatch: ${JSON.stringify({ issuer: ISSUER, ...claim })}
  custom:
    type: irm:Role
    properties: { parent: "\${team.uid}", name: custom, capabilities: [${capabilities}] }
  built-in:
    type: irm:RoleBinding
    properties: { parent: "\${${bound}.uid}", identity: "\${ci.uid}", role: viewer }
  own:
    type: irm:RoleBinding
    properties: { parent: "\${sub.uid}", identity: "\${chosen.identity}", role: "\${chosen.role}" }
  other:
    type: irm:RoleBinding
    properties: { parent: "\${sub.uid}", identity: "\${ci.uid}", role: ${role} }
variables:
  viewer:
    fn::invoke: { function: irm:getRole, arguments: { name: viewer } }
  chosen:
    identity: { fn::select: [1, ["\${team.uid}", "\${ci.uid}"]] }
    role: { fn::select: [1, ["\${team.uid}", "\${custom.uid}"]] }
outputs: { viewer: "\${viewer.uid}" }
`;

export const go = (organization: string, { description, claim, capabilities, bound, role }: Values) => `
package main

import (
	"${GO_MODULE}"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(program)
}

func program(ctx *pulumi.Context) error {
	organization := pulumi.String("${organization}")
	team, err := irm.NewGroup(ctx, "team", &irm.GroupArgs{
		Parent: organization, Name: pulumi.String("team"), Description: pulumi.String("${description}"),
	})
	if err != nil {
		return err
	}
	sub, err := irm.NewGroup(ctx, "sub", &irm.GroupArgs{Parent: team.Uid, Name: pulumi.String("sub")})
	if err != nil {
		return err
	}
	ci, err := irm.NewIdentity(ctx, "ci", &irm.IdentityArgs{
		Parent: team.Uid, Name: pulumi.String("ci"),
		ClaimMatch: &irm.IdentityClaimMatchArgs{${goFields({ issuer: ISSUER, ...claim })}},
	})
	if err != nil {
		return err
	}
	custom, err := irm.NewRole(ctx, "custom", &irm.RoleArgs{
		Parent: team.Uid, Name: pulumi.String("custom"),
		Capabilities: pulumi.ToStringArray([]string{${capabilities.map((one) => JSON.stringify(one))}}),
	})
	if err != nil {
		return err
	}
	uids := pulumi.All(team.Uid, ci.Uid, custom.Uid)
	chosen := func(index int) pulumi.StringOutput {
		return uids.ApplyT(func(uids []any) string { return uids[index].(string) }).(pulumi.StringOutput)
	}
	bindings := map[string]*irm.RoleBindingArgs{
		"built-in": {Parent: ${bound}.Uid, Identity: ci.Uid, Role: pulumi.String("viewer")},
		"own":      {Parent: sub.Uid, Identity: chosen(1), Role: chosen(2)},
		"other":    {Parent: sub.Uid, Identity: ci.Uid, Role: pulumi.String("${role}")},
	}
	for name, args := range bindings {
		if _, err := irm.NewRoleBinding(ctx, name, args); err != nil {
			return err
		}
	}
	viewer, err := irm.LookupRole(ctx, &irm.LookupRoleArgs{Name: "viewer"})
	if err != nil {
		return err
	}
	ctx.Export("viewer", pulumi.String(viewer.Uid))
	return nil
}
`;

const goFields = (members: Readonly<Record<string, string>>) =>
  Object.entries(members).map(([name, value]) => {
    const field = name.replace(/^[a-z]/, (letter) => letter.toUpperCase());
    return `${field}: pulumi.String(${JSON.stringify(value)})`;
  });
