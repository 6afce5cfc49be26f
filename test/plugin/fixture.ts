// A reference server, and plugin processes that share a journal, as those of the operations of one stack do.
import { afterAll, beforeAll, expect } from "vitest";
import type { Transport } from "../../client/transport.ts";
import type { Marked } from "../../plugin/value.ts";
import type { Json } from "../../schema/index.ts";
import { type Diffed, type PluginClient, startPlugin, urnOf } from "../harness/plugin.ts";
import { type Service, startService } from "../harness/provider.ts";

/** What the engine's state keeps of a resource. */
export interface Stored {
  urn: string;
  id: string;
  outs: Marked;
  inputs: Marked;
}

export const setUp = () => {
  const processes: PluginClient[] = [];
  let count = 0;
  const fixture = {
    service: undefined as unknown as Service,
    org: "",
    /** of one operation, in which all tests of a file are */
    plugin: undefined as unknown as PluginClient,
    /** the plugin of another operation */
    nextProcess: async (transport?: Transport): Promise<PluginClient> => {
      const env = { ...fixture.service.env, PULUMI_BACKEND_URL: "file:///state" };
      const one = await startPlugin(env, transport);
      processes.push(one);
      await one.configure();
      return one;
    },
    /** a record that an update has created; each has a name of its own */
    created: async (type: string, args: Json): Promise<Stored> => {
      count += 1;
      const urn = urnOf(type, `r${count}`);
      const { inputs, failures } = await fixture.plugin.check(urn, args);
      expect(failures).toEqual([]);
      return { urn, inputs, ...(await fixture.plugin.create(urn, inputs)) };
    },
    /** the same resource with other arguments */
    compared: async ({ urn, id, outs, inputs }: Stored, args: Json): Promise<Diffed> => {
      const { inputs: news, failures } = await fixture.plugin.check(urn, args, inputs);
      expect(failures).toEqual([]);
      return fixture.plugin.diff(urn, id, outs, news, inputs);
    },
  };
  beforeAll(async () => {
    fixture.service = await startService();
    fixture.org = fixture.service.organization as string;
    fixture.plugin = await fixture.nextProcess();
  });
  afterAll(async () => {
    for (const one of processes) one.close();
    await fixture.service.close();
  });
  return fixture;
};
