// The examples in the descriptions of a package schema, as Pulumi's registry finds them.

export type Language = "typescript" | "python" | "yaml" | "go";

interface Described {
  resources: Readonly<Record<string, { description: string }>>;
}

/** The program in each language, by the type of the resource. */
export const examplesOf = ({ resources }: Described): ReadonlyMap<string, Readonly<Record<Language, string>>> =>
  new Map(
    Object.entries(resources).map(([token, { description }]) => {
      const [, example = ""] =
        /\{\{% examples %\}\}\n## Example Usage\n\n\{\{% example %\}\}\n### [^\n]+\n\n(.*)\{\{% \/example %\}\}\n\{\{% \/examples %\}\}$/s.exec(
          description,
        ) ?? [];
      const fences = [...example.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => [
        language,
        text,
      ]);
      return [token.replace("irm:index:", ""), Object.fromEntries(fences)];
    }),
  );
