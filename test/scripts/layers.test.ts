// The table of layers: a wrong import of each kind is found. `npm run check` runs it over the whole clone.
import { expect, test } from "vitest";
import { layerProblems } from "../../scripts/layers.ts";

test.each<[file: string, imported: string, imports: string]>([
  ["schema/address.ts", "client/config.ts", "schema/ imports only itself"],
  ["client/retry.ts", "access/text.ts", "client/ imports only schema"],
  ["access/text.ts", "client/retry.ts", "access/*/ imports only schema"],
  [
    "access/graph/group.ts",
    "access/review/report.ts",
    "access/graph/ imports only schema, client, pulumi, access/*, access/change, access/pattern, access/preset, access/workload",
  ],
  ["access/change/write.ts", "access/graph/group.ts", "access/change/ imports only schema, access/*"],
  ["access/change/write.ts", "client/client.ts", "access/change/ imports only schema, access/*"],
  ["ci/text.ts", "cli/main.ts", "ci/ imports only schema, client, pulumi, access"],
  ["plugin/main.ts", "server/index.ts", "plugin/ imports only schema, client, pulumi, access, provider"],
  ["provider/index.ts", "plugin/main.ts", "provider/ imports only schema, client, pulumi, access"],
  [
    "provider/log/entry.ts",
    "provider/run/journal.ts",
    "provider/log/ imports only schema, client, pulumi, access, provider/record",
  ],
  ["server/index.ts", "client/client.ts", "server/ imports only schema"],
  ["server/base/log.ts", "server/options.ts", "server/base/ imports only schema"],
  ["server/sts/key/ring.ts", "server/sts/rule/match.ts", "server/sts/key/ imports only schema, server/base"],
  [
    "server/caller/caller.ts",
    "server/sts/exchange.ts",
    "server/caller/ imports only schema, server/base, server/store, server/sts/index.ts",
  ],
  [
    "cli/main.ts",
    "test/support/irm.ts",
    "cli/ imports only schema, client, pulumi, access, gate, ci, provider, server, plugin",
  ],
])("%s does not import %s", (file, imported, imports) => {
  expect(layerProblems(file, [imported])).toEqual([`${file}: imports ${imported}, and ${imports}`]);
});

test.each([
  ["client/retry.ts", "client/clock.ts"],
  ["provider/index.ts", "provider/engine/methods.ts"],
  ["server/caller/caller.ts", "server/sts/index.ts"],
  ["access/change/write.ts", "access/canonical.ts"],
  ["cli/version.ts", "package.json"],
  ["test/support/irm.ts", "cli/program.ts"],
])("%s imports %s", (file, imported) => {
  expect(layerProblems(file, [imported])).toEqual([]);
});

test("a room without a row is named", () => {
  expect(layerProblems("attic/box.ts", [])).toEqual(["attic/box.ts: attic/ has no row in scripts/layers.ts"]);
});
