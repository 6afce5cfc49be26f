// A change without a program: the writes of a command, as they come out on a copy.
import { type ChangeContent, ChangeError, lifeFrom } from "../../access/change/change.ts";
import type { Write } from "../../access/change/write.ts";
import { whoAmI } from "../../access/query/whoami.ts";
import type { Client } from "../../client/client.ts";
import { serviceOf } from "../../client/config.ts";
import { systemConfig } from "../client.ts";
import { copyOf } from "../copy.ts";
import { accessIn, replay } from "../twin/replay.ts";

/** At the service of the environment. Errors: ChangeError, and those of a copy. */
export const changeWithout = async (client: Client, writes: readonly Write[]): Promise<ChangeContent> => {
  const address = serviceOf(systemConfig().baseUrl);
  const { identity: as } = await whoAmI(client);
  if (as === null) throw new ChangeError("your identity is not known, and a change has its uid");
  const services = [address];
  const copies = new Map([[address, await copyOf(client, address)]]);
  const run = await replay({ change: { services, writes: [...writes] }, copies, actors: new Map([[address, as]]) });
  const [failed] = run.outcomes.filter(({ ok }) => !ok);
  if (failed) throw new ChangeError(`write ${failed.n} cannot be carried out: ${failed.message}`);
  return {
    ...{ version: 1, operation: "revoke", arguments: [], stack: "", services, as },
    ...{ ...lifeFrom(await client.serviceNow()), writes: [...writes], ...accessIn(run), restored: [] },
  };
};
