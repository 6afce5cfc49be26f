package main

import (
	gen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func generate(pkg *schema.Package) (map[string][]byte, error) {
	return gen.GeneratePackage("pulumi-irm", pkg, nil)
}
