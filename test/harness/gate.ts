// A change that was made on a copy of a test server, and a gate that applies it there.
import { onTestFinished } from "vitest";
import type { Call } from "../../access/change/methods.ts";
import { writesFrom } from "../../access/change/write.ts";
import { recordsOf, startTwin } from "../../cli/twin/twin.ts";
import { type Client, clientWith } from "../../client/client.ts";
import { redactor } from "../../client/errors.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { type Gate, type GateInput, type Service, startGate } from "../../gate/index.ts";
import type { Json, OperationName } from "../../schema/index.ts";
import { clientOf } from "../access/client.ts";
import type { TestServer } from "./api-server.ts";
import { type ManualClock, manualClock } from "./clock.ts";
import { copyOfServer } from "./copy.ts";

export type Change = Awaited<ReturnType<typeof changeOf>>;

/** The writes of `act` on a copy. `secrets` are texts that the state marks as secret. */
export const changeOf = async (api: TestServer, act: (client: Client) => Promise<unknown>, secrets: string[] = []) => {
  const copy = await copyOfServer(api);
  const calls: Call[] = [];
  const twin = await startTwin(copy, api.baseUrl, { clock: api.clock, onWrite: (call) => void calls.push(call) });
  try {
    await act(await twin.operatorOf(api.identity));
    const recordOf = recordsOf(new Map([[api.baseUrl, twin]]), api.baseUrl);
    return { copy, writes: writesFrom(calls, { secrets, recordOf }).writes };
  } finally {
    await twin.close();
  }
};

export type Through = Awaited<ReturnType<typeof gateTo>>;

export interface ThroughOptions extends Partial<Pick<Service, "readToken" | "writeToken">> {
  /** between the gate and the service */
  wire?: Transport;
}

/** A call of any method. */
export const callOn = (client: Pick<Client, "call">, method: OperationName, request: Json): Promise<Json> =>
  client.call(method, request as never) as Promise<Json>;

export const gateTo = async (api: TestServer, { copy, writes }: Change, options: ThroughOptions = {}) => {
  const { wire = systemTransport(), ...own } = options;
  const [sent, tokens]: [string[], string[]] = [[], []];
  const service: Service = {
    client: clientOf(api, undefined, sent, (request) => {
      tokens.push(request.token);
      return wire(request);
    }),
    copy,
    readToken: async () => api.owner.token,
    writeToken: async () => api.owner.token,
    ...own,
  };
  await service.client.serviceNow();
  sent.length = 0;
  tokens.length = 0;
  const input: GateInput = { writes, services: new Map([[api.baseUrl, service]]), as: api.identity };
  const gate = await startGate(input);
  const [{ url, token }] = gate.services as [Gate["services"][number]];
  const clock = manualClock();
  const clientWithToken = (bearer: string, transport: Transport = systemTransport()): Client =>
    clientWith({
      config: { baseUrl: url, authUrl: url, requestTimeoutMs: 60_000 },
      env: { IRM_TOKEN: bearer },
      ...{ clock, redactor: redactor(), transport },
    });
  return {
    ...{ gate, clientWith: clientWithToken },
    /** what the engine's processes have: a client of the gate */
    client: clientWithToken(token),
    /** of the gate's own client and of the other one */
    clock: service.client.clock as ManualClock,
    /** `METHOD /path` of each request that the service got, and the tokens that the gate has used */
    ...{ sent, tokens },
  };
};

/** One that ends with its test. */
export const throughGate = async (...given: Parameters<typeof gateTo>): Promise<Through> => {
  const one = await gateTo(...given);
  onTestFinished(() => one.gate.close());
  return one;
};
