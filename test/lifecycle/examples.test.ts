// The example of the README: created, found unchanged twice, destroyed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../harness/api-process.ts";
import { createStack } from "../harness/engine-stack.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";

// The root Pulumi.yaml is the example's; a stack's configuration lies beside it.
const STACK = `demo-test-${process.pid}`;

describe("examples/organization", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(async () => {
    await place.close();
    rmSync(join(root, `Pulumi.${STACK}.yaml`), { force: true });
  });

  it("is created, unchanged by a second up and by one after a refresh, and destroyed", async () => {
    const stack = await createStack({ folder: place.folder, program: root, name: STACK, env: place.env });
    await stack.must("up", "--yes", "--skip-preview");
    const [acme] = place.rows("groups", "name = ?", "acme");
    expect(acme?.parent).toBeNull();
    const made = place.rows("groups", "uid LIKE ?", `${acme?.uid}/%`);
    expect(made.map(({ name }) => name).sort()).toEqual(["clusters", "platform", "product", "registry"]);
    await stack.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    await stack.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");
    await stack.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
  });
});
