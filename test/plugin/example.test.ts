// The example of each resource in the package schema, in its three languages. test/package compiles those in TypeScript, and runs them as
// the programs of docs/.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { withExamples } from "../../scripts/generate/example.ts";
import { PYTHON_SDK } from "../../scripts/generate/sdk-schema.ts";
import { root } from "../harness/api-process.ts";
import { examplesOf } from "../support/example.ts";
import { type ResourceSpec, type Spec, pluginSchema as schema, specOf } from "../support/plugin-schema.ts";

const types = Object.keys(schema.resources).map((token) => token.replace("irm:index:", ""));
const examples = examplesOf(schema);

test("each resource has one, of itself, in each language, and the .d.ts shows the part about it", () => {
  expect(types.length).toBeGreaterThan(11);
  expect([...examples.keys()]).toEqual(types);
  for (const [type, { typescript, python, yaml }] of examples) {
    expect(typescript).toContain(`new ${type}(`);
    expect(python).toContain(`irm.${type}(`);
    expect(yaml).toContain(`type: irm:${type}\n`);
    expect(schema.resources[`irm:index:${type}`]?.description).toMatch(/^[A-Z][^{}]*\n\n\{\{% examples %\}\}\n/);
  }
  const generated = readFileSync(`${root}/provider/program/generated/role-binding.ts`, "utf8");
  expect(generated).toContain(
    ' * const binding = new RoleBinding("deploy-edits-shop", { parent: shop, identity: deploy, role: "editor" });\n',
  );
});

test("a program in docs/ with an argument that the schema does not have is refused", () => {
  const changed = structuredClone(schema);
  delete changed.resources["irm:index:Tag"]?.inputProperties.digest;
  expect(() => withExamples(changed as never)).toThrow(
    "docs/resources/tag.md: its first program cannot be the example: Tag has no property digest",
  );
});

describe("the example in YAML has arguments, values and references that the schema has:", () => {
  test.each([...examples])("%s", (_, { yaml }) => {
    const { resources, outputs = {} } = parse(yaml, { version: "1.1" }) as {
      resources: Record<string, { type: string; properties: object }>;
      outputs?: Record<string, string>;
    };
    const declared = (name: string): ResourceSpec =>
      schema.resources[resources[name]?.type.replace("irm:", "irm:index:") ?? ""] as ResourceSpec;

    const problems: string[] = [];
    const note = (at: string, text: string) => problems.push(`${at}: ${text}`);
    const checkObject = (value: object, properties: Record<string, Spec>, required: string[], at: string): void => {
      for (const name of required) if (!(name in value)) note(at, `lacks ${name}`);
      for (const [name, one] of Object.entries(value)) {
        const spec = properties[name];
        if (spec) check(one, spec, `${at}.${name}`);
        else note(at, `has no ${name}`);
      }
    };
    const check = (value: unknown, given: Spec, at: string): void => {
      const { type, items, additionalProperties, properties, required = [], enum: values } = specOf(given);
      const reference = /^\$\{(\w+)\.(\w+)/.exec(String(value));
      if (reference) {
        const [, name = "", output = ""] = reference;
        if (!declared(name)?.properties[output]) note(at, `there is no ${value}`);
      } else if (items && Array.isArray(value)) {
        for (const [i, item] of value.entries()) check(item, items, `${at}[${i}]`);
      } else if (additionalProperties && typeof value === "object") {
        for (const [key, item] of Object.entries(value ?? {})) check(item, additionalProperties, `${at}.${key}`);
      } else if (properties && typeof value === "object") {
        checkObject(value ?? {}, properties, required, at);
      } else if (
        values ? !values.some((one) => one.value === value) : typeof value !== type?.replace("integer", "number")
      )
        note(at, `${JSON.stringify(value)} is no ${type}`);
    };

    for (const [name, { properties }] of Object.entries(resources)) {
      const { inputProperties, requiredInputs } = declared(name);
      checkObject(properties, inputProperties, requiredInputs, name);
    }
    for (const [name, value] of Object.entries(outputs)) {
      expect(value).toMatch(/^\$\{/);
      check(value, {}, name);
    }
    expect(problems).toEqual([]);
  });
});

// With the parser of Python, and without the SDK, which need not be installed: the names of its arguments and of their fields.
const CHECK = `
import ast, json, pathlib, re, sys
required, arguments, outputs = {}, {}, {}
for file in pathlib.Path(sys.argv[1]).glob("*.py"):
    for one in ast.parse(file.read_text("utf-8")).body:
        if not isinstance(one, ast.ClassDef): continue
        if one.name.endswith("ArgsDict"):
            fields = [f for f in one.body if isinstance(f, ast.AnnAssign)]
            arguments[one.name] = {f.target.id: ast.unparse(f.annotation) for f in fields}
            required[one.name] = {n for n, t in arguments[one.name].items() if not t.startswith("NotRequired")}
            continue
        functions = [f for f in one.body if isinstance(f, ast.FunctionDef)]
        outputs[one.name] = {f.name for f in functions}
        for f in functions:
            if f.name == "__init__" and one.name.endswith("Args"):
                arguments[one.name] = {a.arg: ast.unparse(a.annotation) for a in f.args.kwonlyargs if a.annotation}
                required[one.name] = {a.arg for a, d in zip(f.args.kwonlyargs, f.args.kw_defaults) if d is None}

problems = []
def names(given, of, at):
    problems.extend(f"{at}: {of} has no {name}" for name in given - arguments[of].keys())
    problems.extend(f"{at}: {of} lacks {name}" for name in required[of] - given)

def check(value, annotation, at):
    if isinstance(value, ast.List):
        for item in value.elts: check(item, annotation, at)
    if not isinstance(value, ast.Dict): return
    keys = [key.value for key in value.keys]
    found = re.search(r"(Mapping.*)?'(\\w+?Args)(?:Dict)?'", annotation)
    if found is None:
        if "Mapping" not in annotation: problems.append(f"{at}: {annotation} is no object")
    elif found[1]:
        for item in value.values: check(item, f"'{found[2]}'", at)
    else:
        own = found[2] + "Dict"
        names(set(keys), own, at)
        for key, item in zip(keys, value.values): check(item, arguments[own].get(key, ""), f"{at}.{key}")

count = 0
for at, program in json.load(sys.stdin).items():
    made = {}
    for one in ast.parse(program, at).body:
        call = getattr(one, "value", None)
        for part in ast.walk(one):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id not in ("irm", "pulumi"):
                if part.attr not in outputs.get(made.get(part.value.id), ()): problems.append(f"{at}: {ast.unparse(part)}")
        if not isinstance(call, ast.Call) or call.func.value.id != "irm": continue
        count += 1
        own = call.func.attr + "Args"
        names({word.arg for word in call.keywords}, own, at)
        for word in call.keywords: check(word.value, arguments[own].get(word.arg, ""), f"{at}.{word.arg}")
        if isinstance(one, ast.Assign): made[one.targets[0].id] = call.func.attr
print(json.dumps({"count": count, "problems": problems}))
`;

const checkPython = (programs: object): { count: number; problems: string[] } => {
  const args = ["-I", "-c", CHECK, join(root, PYTHON_SDK, "pulumi_irm")];
  const { stdout, stderr } = spawnSync("python3", args, { input: JSON.stringify(programs), encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
};

const hasPython = process.env.IRM_REQUIRE_PYTHON === "1" || spawnSync("python3", ["--version"]).status === 0;

test.runIf(hasPython)(
  `the example in Python has arguments that its package has${hasPython ? "" : " (no python3)"}`,
  () => {
    const programs = Object.fromEntries([...examples].map(([type, { python }]) => [type, python]));
    const { count, problems } = checkPython(programs);
    expect(problems).toEqual([]);
    expect(count).toBeGreaterThan(types.length);

    const wrong = `import pulumi_irm as irm
a = irm.Group("a", parnt="b")
irm.Identity("c", parent=a.id_, name="c", claim_match={"isuer": "d", "claims": {"any": "e"}})
`;
    expect(checkPython({ wrong }).problems.toSorted()).toEqual([
      "wrong.claim_match: IdentityClaimMatchArgsDict has no isuer",
      "wrong: GroupArgs has no parnt",
      "wrong: GroupArgs lacks name",
      "wrong: a.id_",
    ]);
  },
);
