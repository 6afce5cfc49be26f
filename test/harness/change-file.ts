// The file of a change, as `npx pulumi-irm review --out` writes it: what is sent to copies of servers, and the access that it gives there.
import { writeFileSync } from "node:fs";
import { type Change, type ChangeContent, changeText, lifeFrom, parseChange } from "../../access/change/change.ts";
import type { Call } from "../../access/change/methods.ts";
import { writesFrom } from "../../access/change/write.ts";
import { accessOfChange, sidesOf } from "../../cli/twin/sides.ts";
import { readTwin, recordsOf, startTwin } from "../../cli/twin/twin.ts";
import type { Client } from "../../client/client.ts";
import { createRecord } from "../../client/records.ts";
import { type Json, resources } from "../../schema/index.ts";
import type { TestServer } from "./api-server.ts";
import { copyOfServer } from "./copy.ts";

/** `act` sends the requests, with the rights of an operator, to a client for each of the servers. */
export const makeChange = async (
  apis: TestServer | readonly TestServer[],
  act: (...clients: [Client, ...Client[]]) => Promise<unknown>,
): Promise<Change> => {
  const servers = [apis].flat() as [TestServer, ...TestServer[]];
  const [first] = servers;
  const calls: Call[] = [];
  const twins = await Promise.all(
    servers.map(async (api) => {
      const service = api === first ? {} : { service: api.baseUrl };
      return startTwin(await copyOfServer(api), api.baseUrl, {
        onWrite: (call) => void calls.push({ ...call, ...service }),
      });
    }),
  );
  try {
    const before = await Promise.all(twins.map(readTwin));
    // The other services know no identity of the first one.
    const clients = await Promise.all(twins.map((twin, i) => twin.operatorOf(i === 0 ? first.identity : undefined)));
    await act(...(clients as [Client]));
    const byAddress = new Map(twins.map((twin) => [twin.original, twin]));
    const normal = writesFrom(calls, { recordOf: recordsOf(byAddress, first.baseUrl) });
    const sides = await Promise.all(twins.map((twin, i) => sidesOf(twin, before[i] as never)));
    const content: ChangeContent = {
      ...{ version: 1, operation: "up", arguments: [], stack: "access/dev", as: first.identity, writes: normal.writes },
      ...{ ...lifeFrom(first.clock.today()), services: servers.map(({ baseUrl }) => baseUrl) },
      ...accessOfChange(sides, normal),
      restored: [],
    };
    return parseChange(changeText(content), "a change");
  } finally {
    await Promise.all(twins.map((twin) => twin.close()));
  }
};

/** Writes what it says, with the digest of that. */
export const writeChangeFile = (file: string, { digest: _, ...content }: Change): string => {
  writeFileSync(file, changeText(content));
  return file;
};

/** Sends a role binding; `role` is the name of a built-in one. */
export const grant =
  (api: TestServer, parent: string, identityUid: string, role: string) =>
  async (client: Client): Promise<Json> =>
    createRecord(client, resources.roleBinding, parent, { identityUid, roleUid: await api.role(role) });
