// Counts the requests of an update, without a seal and under one: in each group three identities, and two role bindings of each. The
// identities and groups are new, or they exist and the role bindings alone are new.
//
//   npm run -s bench:sealed -- [GROUPS]
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Program, ref } from "../test/harness/small-engine/program.ts";
import { ADAPTERS } from "../test/harness/small-engine/provider.ts";
import { openSealed, STACK } from "../test/harness/small-engine/sealed.ts";
import { countsFrom } from "./counts.ts";

const [groups] = countsFrom("bench:sealed -- [GROUPS]", [20]);

const programOf = (parent: string): Record<"records" | "all", Program> => {
  const records: Program = [];
  const bindings: Program = [];
  for (let i = 1; i <= groups; i += 1) {
    const group = `group-${i}`;
    records.push({ kind: "group", name: group, inputs: { parent, name: group } });
    for (const letter of ["a", "b", "c"]) {
      const name = `${group}-${letter}`;
      const claimMatch = { issuer: "https://ci.example.com", subject: name };
      records.push({ kind: "identity", name, inputs: { parent: ref(group), name, claimMatch } });
      for (const role of ["viewer", "editor"]) {
        const inputs = { parent: ref(group), identity: ref(name), role };
        bindings.push({ kind: "roleBinding", name: `${name}-${role}`, inputs });
      }
    }
  }
  return { records, all: [...records, ...bindings] };
};

for (const adapter of ADAPTERS) {
  const stack = await openSealed(adapter, { speed: 20 });
  const { faults } = stack.testbed.server;
  const count = async (program: Program, isSealed: boolean): Promise<{ reads: number; writes: number }> => {
    if (isSealed) stack.write((await stack.review(program)).seal);
    faults?.set({});
    const { errors } = await (isSealed ? stack.bound() : stack.engine).run("up", program);
    if (errors.length > 0) throw new Error(errors.join("\n"));
    const sent = (faults?.attempts() ?? []).map(({ operation }) => operation);
    const reads = sent.filter((operation) => /^(Get|List)/.test(operation)).length;
    return { reads, writes: sent.length - reads };
  };
  try {
    for (const [title, hasRecords] of [
      ["all of it is new", false],
      ["the role bindings are new", true],
    ] as const)
      for (const isSealed of [false, true]) {
        const parent = (
          await stack.testbed.call("POST", `/iam/v2beta1/groups/${stack.testbed.home}`, {
            name: `${title} ${isSealed}`,
          })
        ).uid;
        const { records, all } = programOf(parent as string);
        if (hasRecords) await count(records, false);
        const { reads, writes } = await count(all, isSealed);
        console.log(
          `${adapter}, ${title} (${all.length} resources), ${isSealed ? "under a seal" : "without a seal"}: ${reads} reads, ${writes} writes`,
        );
        for (const name of [`${STACK}.state.json`, `${STACK}.journal`])
          rmSync(join(stack.testbed.folder, name), { recursive: true, force: true });
      }
  } finally {
    await stack.close();
  }
}
