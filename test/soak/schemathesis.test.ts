// The quick part of the generated requests; `npm run soak -- --only schemathesis` is the long one.
import { expect, test } from "vitest";
import { installSchemathesis, schemathesis } from "./schemathesis.ts";

const { reason } = await installSchemathesis();
// Where it has to run, a machine that cannot is a failure (CONTRIBUTING.md).
const isRequired = process.env.IRM_REQUIRE_SCHEMATHESIS === "1";
const name =
  "generated requests and scenarios find no 5xx but the declared 501, no schema violation and no use after free";

const title = reason === undefined ? name : `${name} (${reason})`;

// Python starts twice: half a minute on an idle machine, minutes on a busy one.
test.skipIf(reason !== undefined && !isRequired)(title, { timeout: 300_000 }, async () => {
  expect(reason).toBeUndefined();
  const { figures, failures } = await schemathesis({
    seed: 1,
    rounds: 1,
    phases: ["fuzzing"],
    requestsMin: 200,
    scenariosMin: 10,
  });
  expect(failures).toEqual([]);
  expect(figures).toMatchObject({ "answers 5xx other than 501": 0, "schema violations": 0, "uses after free": 0 });
});
