// A process that copies the service at the address of its argument and serves the copy; with `review`, ten role bindings change there, and what
// that does to access is read and asked, as a review does it (test/bench/memory.ts). Without an address it does nothing: that is what its modules
// take.
import { copyOf } from "../../cli/copy.ts";
import { disagreements, type Sides, sidesOf } from "../../cli/twin/sides.ts";
import { readTwin, startTwin, type Twin } from "../../cli/twin/twin.ts";
import { clientWith } from "../../client/client.ts";
import { readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { systemClock } from "../../client/retry.ts";
import { systemTransport } from "../../client/transport.ts";

const change = async (twin: Twin): Promise<Sides> => {
  const before = await readTwin(twin);
  const operator = await twin.operatorOf(undefined);
  const { roles, bindings } = before.graph;
  const role = [...roles.values()].find(({ name }) => name === "editor")?.id as string;
  for (const { id } of [...bindings.values()].slice(0, 10))
    await operator.call("UpdateRoleBinding", {
      roleBinding: { uid: id, roleUid: role } as never,
      updateMask: "roleUid",
    });
  return await sidesOf(twin, before);
};

const run = async (address: string, isReview: boolean): Promise<void> => {
  const { env } = process;
  const config = readConfig(undefined, env);
  const client = clientWith({ config, env, clock: systemClock, redactor: redactor(), transport: systemTransport() });
  const copy = await copyOf(client, address);
  const twin = await startTwin(copy, address);
  const sides = isReview ? await change(twin) : undefined;
  await twin.close();
  if (sides === undefined) return;
  const differs = await disagreements([sides], (uid) => uid);
  if (differs.length > 0) throw new Error(JSON.stringify(differs));
};

const [address, review] = process.argv.slice(2);
if (address !== undefined) await run(address, review === "review");
