package main

import (
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func generate(pkg *schema.Package) (map[string][]byte, error) {
	return python.GeneratePackage("pulumi-irm", pkg, nil, nil)
}
