// Writes the package of a language from a package schema, as `pulumi package gen-sdk` does. Usage: PROGRAM SCHEMA FOLDER
// The file beside it has the language: the engine's generators of different languages come from different versions of the engine.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var spec schema.PackageSpec
	check(json.Unmarshal(text, &spec))
	// Also validates it against the metaschema. No type refers to another package, so the loader is never called.
	pkg, problems, err := schema.BindSpec(spec, struct{ schema.Loader }{}, schema.ValidationOptions{})
	for _, problem := range problems {
		log.Println(problem)
	}
	check(err)
	if len(problems) > 0 {
		os.Exit(1)
	}
	files, err := generate(pkg)
	check(err)
	for name, content := range files {
		file := filepath.Join(os.Args[2], name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, content, 0o644))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
