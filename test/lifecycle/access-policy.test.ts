// examples/policy through a real engine: created, edited, renamed, adopted by another stack, destroyed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";

const example = (file: string): string => readFileSync(join(root, "examples", "policy", file), "utf8");
const policy = example("access.yaml");
const source = example("index.ts");

interface Step {
  op: string;
  urn: string;
  newState: { protect?: boolean; retainOnDelete?: boolean };
}

/** In index.ts. */
const CALL = 'new AccessPolicy("acme", { file: "access.yaml" })';

describe("examples/policy", () => {
  let place: Workplace;
  let program: Program;
  beforeAll(async () => {
    place = await createWorkplace();
    program = await place.program("policy", source);
  });
  afterAll(() => place.close());

  const write = (text: string, into = program) => writeFileSync(join(into.folder, "access.yaml"), text);
  const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation as string);
  const names = (table: string) => place.rows(table).map(({ name }) => name);

  it("with a mistake creates nothing, and shows its place", async () => {
    write(policy.replace("in: platform, github", "in: platfrm, github"));
    const preview = await program.run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain(
      "access.yaml:13:18: identities.release.in: there is no group platfrm; did you mean platform?",
    );
    expect(await writes()).toEqual([]);
  });

  it("is created: groups first, role bindings last", async () => {
    write(policy);
    await program.must("up", "--yes", "--skip-preview");
    const made = await writes();
    expect(made.filter((operation) => operation === "CreateGroup")).toHaveLength(5);
    expect(made[0]).toBe("CreateGroup");
    expect(made.filter((operation) => operation.includes("RoleBinding"))).toHaveLength(3);
    expect(made.at(-1)).toContain("RoleBinding");
    expect(names("roles")).toContain("publisher");
  });

  it("with a mistake, without its file, or with an ambiguous record to adopt, ends nothing in an inline program", async () => {
    const [platform] = place.rows("groups", "name = ?", "platform");
    const claimMatch = { issuer: "https://issuer.example", subject: "twin" };
    const twin = await place.call("POST", `/iam/v2beta1/identities/${platform?.uid}`, { name: "release", claimMatch });
    await place.server.takeRequests();
    const edits: [string, string, string][] = [
      [policy.replace("in: platform, github", "in: platfrm, github"), source, "there is no group platfrm"],
      [policy, source.replace(CALL, CALL.replace("access.yaml", "gone.yaml")), "gone.yaml"],
      [policy, source.replace(CALL, CALL.replace(" }", ', adopt: "match" }')), "identities.release: 2 identities"],
    ];
    for (const [text, edited, error] of edits) {
      write(text);
      program.write(edited);
      const up = await program.run("up", "--yes", "--skip-preview");
      expect(up.code).not.toBe(0);
      expect(up.output).toContain(error);
      expect(await writes()).toEqual([]);
    }
    await place.call("DELETE", `/iam/v2beta1/identities/${twin.json.uid}`);
    await place.server.takeRequests();
    program.write(source);
  });

  it("shows one change for an identity that gains a role, and none for lines that move", async () => {
    const [product = ""] = /^ {2}product: .*\n/m.exec(policy) ?? [];
    const moved = policy.replace(product, "").replace("groups:\n", `groups:\n${product}`);
    write(moved.replace("editor: [deploy]", "editor: [deploy, release]"));
    const preview = await program.must("preview");
    expect(preview.output).toContain(
      'RoleBindingSet acme:access/platform/clusters changes:\n      - adds "release" as "editor"',
    );
    expect(preview.output).toMatch(/~ 1 to update\n +13 unchanged/);
    await program.must("up", "--yes", "--skip-preview");
    expect(await writes()).toEqual(["CreateRoleBinding"]);
  });

  it("takes the options of a component: an alias for its earlier name, protect and transforms reach every resource", async () => {
    const transform = "({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } })";
    // A run that fails once the component has its new name.
    program.write(`
import { ComponentResource } from "@pulumi/pulumi";
const { urn } = new ComponentResource("irm:index:AccessPolicy", "company", {}, { aliases: [{ name: "acme" }] });
await new Promise((resolve) => urn.apply(resolve));
throw new Error("half-way");`);
    expect((await program.run("up", "--yes", "--skip-preview")).output).toContain("half-way");
    const options = `{ aliases: [{ name: "acme" }], protect: true, transforms: [${transform}] }`;
    program.write(source.replace(CALL, `new AccessPolicy("company", { file: "access.yaml" }, ${options})`));
    const preview = await program.must("preview", "--json", "--show-sames");
    const { steps } = JSON.parse(preview.stdout) as { steps: Step[] };
    const resources = steps.filter(({ urn }) => urn.includes("irm:index:AccessPolicy$"));
    expect(resources).toHaveLength(12);
    for (const { op, newState } of resources)
      expect([op, newState.protect, newState.retainOnDelete]).toEqual(["same", true, true]);
  });

  it('is adopted by another stack with adopt: "match", which creates what is missing', async () => {
    const other = await place.program(
      "adopting",
      source.replace(CALL, 'new AccessPolicy("acme", { file: "access.yaml", adopt: "match" })'),
    );
    write(policy.replace("  product:", "  sales: { description: Who sells }\n  product:"), other);
    await place.server.takeRequests();
    // The output of the preview, then that of the update.
    const up = await other.must("up", "--yes");
    const [preview = ""] = up.output.split("Updating (dev)");
    const adopted = ["acme", "platform", "platform/registry", "platform/clusters", "product"].map((path) => {
      const [row] = place.rows("groups", "name = ?", path.replace(/^.*\//, ""));
      return `Group ${path === "acme" ? path : `acme/${path}`} takes over group ${row?.uid} "${row?.name}"`;
    });
    for (const line of adopted) expect(preview).toContain(line);
    expect(preview).toContain("Identity acme:identity/release takes over identity");
    expect(preview).toContain("Role acme:role/publisher takes over role");
    expect(preview).not.toContain("Group acme/sales adopts");
    expect(await writes()).toEqual(["CreateGroup"]);
    expect(names("groups")).toContain("sales");

    const destroy = await other.must("destroy", "--yes", "--skip-preview");
    expect(destroy.output).toContain('"platform" was adopted and is left in place');
    expect((await writes()).filter((operation) => operation !== "DeleteRoleBinding")).toEqual(["DeleteGroup"]);
    expect(names("groups")).not.toContain("sales");
    expect(names("identities")).toEqual(expect.arrayContaining(["release", "review", "deploy"]));
  });

  it("keeps the record of a renamed key with was, and without it says which workflows lose their uid", async () => {
    const [release] = place.rows("identities", "name = ?", "release");
    const uid = release?.uid as string;
    const current = readFileSync(join(program.folder, "access.yaml"), "utf8");
    const renamed = current
      .replace("  release: {", "  publish: {")
      .replace("publisher: [release]", "publisher: [publish]")
      .replace("editor: [deploy, release]", "editor: [deploy, publish]");
    program.write(source);
    write(renamed);
    // A program of its own process reports what leaves the stack.
    const lost = await program.commandLine.must("preview");
    const lines = [
      "Identity acme:identity/release is removed:",
      `workflows that name ${uid} in IRM_IDENTITY can no longer sign in`,
      'who could assume it: a workload whose token has issuer "https://token.actions.githubusercontent.com" and subject "repo:acme@123456/images@456789:ref:refs/heads/main"',
      "Identity acme:identity/publish takes its place with another uid. To keep the record, name the former resource in aliases, or the former key of a policy as was",
    ];
    expect(lost.output).toContain(lines.join("\n      - "));

    write(renamed.replace("  publish: {", "  publish: { was: release,"));
    const kept = await program.must("up", "--yes", "--skip-preview");
    expect(kept.output).not.toContain("is removed");
    expect(place.rows("identities", "name = ?", "publish").map((one) => one.uid)).toEqual([uid]);
    expect(await writes()).toEqual(["UpdateIdentity"]);
  });

  it("is destroyed", async () => {
    program.write(source);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
    expect(names("roles")).not.toContain("publisher");
  });
});
