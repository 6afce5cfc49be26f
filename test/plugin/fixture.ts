// A reference server, and plugin processes that share a journal, as those of the operations of one stack do.
import { afterAll, expect } from "vitest";
import type { Env } from "../../client/config.ts";
import type { Transport } from "../../client/transport.ts";
import type { Marked } from "../../plugin/value.ts";
import type { Json } from "../../schema/index.ts";
import { type Diffed, type PluginClient, startPlugin, urnOf } from "../harness/plugin.ts";
import { startSharedService } from "../harness/provider.ts";

export interface Stored {
  urn: string;
  id: string;
  outs: Marked;
  inputs: Marked;
}

export const setUp = async () => {
  const service = await startSharedService();
  const processes: PluginClient[] = [];
  afterAll(() => {
    for (const one of processes) one.close();
  });
  /** a process with these variables besides those of the service, and without its configuration */
  const startProcess = async (env: Env = {}, transport?: Transport, own?: Parameters<typeof startPlugin>[2]) => {
    const one = await startPlugin({ ...service.env, ...env }, transport, own);
    processes.push(one);
    return one;
  };
  const nextProcess = async (transport?: Transport): Promise<PluginClient> => {
    const one = await startProcess({ PULUMI_BACKEND_URL: "file:///state" }, transport);
    await one.configure();
    return one;
  };
  /** of one operation, in which all tests of a file are */
  const plugin = await nextProcess();
  let count = 0;
  /** the same resource with other arguments */
  const compared = async ({ urn, id, outs, inputs }: Stored, args: Json, process = plugin): Promise<Diffed> => {
    const { inputs: news, failures } = await process.check(urn, args, inputs);
    expect(failures).toEqual([]);
    return process.diff(urn, id, outs, news, inputs);
  };
  /** a record that an update has created; each has a name of its own */
  const created = async (type: string, args: Json): Promise<Stored> => {
    count += 1;
    const urn = urnOf(type, `r${count}`);
    const { inputs, failures } = await plugin.check(urn, args);
    expect(failures).toEqual([]);
    return { urn, inputs, ...(await plugin.create(urn, inputs)) };
  };
  const org: string = service.organization as string;
  return {
    ...{ service, plugin, startProcess, nextProcess },
    ...{ org, created, compared },
    /** an identity that the workload of this subject may assume */
    createIdentity: (name: unknown, subject = String(name), parent = org): Promise<Stored> =>
      created("Identity", { parent, name, claimMatch: { issuer: "https://x.example.com", subject } }),
  };
};
