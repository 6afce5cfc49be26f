// Package irm is access as code for an identity and registry management API: groups, workload identities, roles, role bindings and image
// repositories as Pulumi resources in Go.
//
//	package main
//
//	import (
//	    "github.com/pulumi-irm/pulumi-irm/sdk/go/irm"
//	    "github.com/pulumi/pulumi/sdk/v3/go/pulumi"
//	)
//
//	func main() {
//	    pulumi.Run(func(ctx *pulumi.Context) error {
//	        platform, err := irm.NewGroup(ctx, "platform", &irm.GroupArgs{
//	            Parent: pulumi.String("<uid of your organization>"),
//	            Name:   pulumi.String("platform"),
//	        })
//	        if err != nil {
//	            return err
//	        }
//	        _, err = irm.NewRole(ctx, "reader", &irm.RoleArgs{
//	            Parent:       platform.Uid,
//	            Name:         pulumi.String("reader"),
//	            Capabilities: pulumi.ToStringArray([]string{"groups.list", "repo.list"}),
//	        })
//	        return err
//	    })
//	}
//
// The engine needs the plugin `irm` of the same version. The executable plugin contains Node; the other one needs Node 22.19 or later on the PATH. See docs/resources.md#native-plugin of the project.
package irm
