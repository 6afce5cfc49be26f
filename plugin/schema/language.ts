// The options of the SDK generators for each language: the names of its package, and a README with an example.
import manifest from "../../package.json" with { type: "json" };

/** Languages that have a package here, which the engine's generators write. */
export type Language = "python" | "go";

const about = (language: string) =>
  `Access as code for an identity and registry management API: groups, workload identities, roles, role bindings and image
repositories as Pulumi resources in ${language}.`;

const NEEDS =
  "The engine needs the plugin `irm` of the same version. The executable plugin contains Node; the other one needs Node 22.19 or later on the PATH. See docs/resources.md#native-plugin of the project.";

const PYTHON_EXAMPLE = `import pulumi_irm as irm

platform = irm.Group("platform", parent="<uid of your organization>", name="platform")
irm.Role("reader", parent=platform.uid, name="reader", capabilities=["groups.list", "repo.list"])
`;

/** Address of the source: `https://github.com/…`. */
export const REPOSITORY = manifest.repository.url.replace(/^git\+|\.git$/g, "");

/** `go` finds a module by its path: the repository, and the folder in it. */
export const GO_MODULE = `${REPOSITORY.replace("https://", "")}/sdk/go/irm`;

const GO_EXAMPLE = `package main

import (
	"${GO_MODULE}"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		platform, err := irm.NewGroup(ctx, "platform", &irm.GroupArgs{
			Parent: pulumi.String("<uid of your organization>"),
			Name:   pulumi.String("platform"),
		})
		if err != nil {
			return err
		}
		_, err = irm.NewRole(ctx, "reader", &irm.RoleArgs{
			Parent:       platform.Uid,
			Name:         pulumi.String("reader"),
			Capabilities: pulumi.ToStringArray([]string{"groups.list", "repo.list"}),
		})
		return err
	})
}
`;

const readme = (title: string, language: string, fence: string, example: string) =>
  `# ${title}\n\n${about(language)}\n\n\`\`\`${fence}\n${example}\`\`\`\n\n${NEEDS}\n`;

/** The comment of the package clause, as `go doc` shows it. */
const goComment = `Package irm is ${about("Go").replace(/^A/, "a")}\n\n${GO_EXAMPLE.replace(/^(?=.)/gm, "\t")}\n${NEEDS}\n`;

/** READMEs by language, and the text of `go doc`. */
export const readmes: Readonly<Record<Language | "goComment", string>> = {
  goComment,
  python: readme("pulumi_irm", "Python", "python", PYTHON_EXAMPLE),
  go: readme("irm", "Go", "go", GO_EXAMPLE),
};

// Each language takes the version of the package, and asks for the plugin of that version. A user generates the package for .NET.
export const languages = {
  python: {
    packageName: "pulumi_irm",
    requires: { pulumi: ">=3.231.0,<4.0.0" },
    pyproject: { enabled: true },
    respectSchemaVersion: true,
    readme: readmes.python,
  },
  // The package is the root of its module, where the engine looks for pulumi-plugin.json.
  go: { importBasePath: GO_MODULE, modulePath: GO_MODULE, rootPackageName: "irm", respectSchemaVersion: true },
  csharp: { rootNamespace: "Pulumi", namespaces: { irm: "Irm" }, respectSchemaVersion: true },
} as const satisfies Record<Language | "csharp", object>;
