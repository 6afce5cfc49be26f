// The name look-up for issuers: by DNS, without the thread pool that computes signatures.
import { createSocket, type RemoteInfo } from "node:dgram";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { createResolve } from "../../../../server/sts/issuer/fetch.ts";
import { atEnd } from "../../../harness/api-server.ts";
import { ANYONE, createService } from "../../../harness/sts.ts";

const A = 1;
const AAAA = 28;

interface Question {
  name: string;
  type: number;
  /** Answers with addresses, in bytes; with none, that the name does not exist. */
  answer(...addresses: number[][]): void;
}

/** A name server (RFC 1035) on loopback with scripted answers, or none. */
const startNameServer = async (onQuestion: (question: Question) => void) => {
  const socket = createSocket("udp4");
  atEnd(() => socket.close());
  socket.on("message", (query: Buffer, from: RemoteInfo) => {
    let end = 12;
    const labels: string[] = [];
    for (let size = query[end] as number; size > 0; size = query[end] as number) {
      labels.push(query.toString("latin1", end + 1, end + 1 + size));
      end += size + 1;
    }
    const type = query.readUInt16BE(end + 1);
    const question = query.subarray(12, end + 5);
    const answer = (...addresses: number[][]) => {
      const head = Buffer.from(query.subarray(0, 12));
      head.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2);
      head.writeUInt16BE(addresses.length, 6);
      head.writeUInt32BE(0, 8);
      const records = addresses.map((bytes) =>
        Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
      );
      socket.send(Buffer.concat([head, question, ...records]), from.port, from.address);
    };
    onQuestion({ name: labels.join("."), type, answer });
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return [`127.0.0.1:${socket.address().port}`];
};

it("createResolve returns the addresses of both families", async () => {
  const servers = await startNameServer(({ type, answer }) =>
    answer(type === A ? [8, 8, 8, 8] : [0x26, 0x20, 0, 0xfe, ...Array(11).fill(0), 0xfe]),
  );
  expect(await createResolve({ servers })("issuer.example")).toEqual([
    { address: "8.8.8.8", family: 4 },
    { address: "2620:fe::fe", family: 6 },
  ]);
});

it("createResolve accepts addresses of one family", async () => {
  const servers = await startNameServer(({ type, answer }) => (type === A ? answer([8, 8, 8, 8]) : answer()));
  expect(await createResolve({ servers })("issuer.example")).toEqual([{ address: "8.8.8.8", family: 4 }]);
});

it("createResolve fails for an unknown name", async () => {
  const servers = await startNameServer(({ answer }) => answer());
  await expect(createResolve({ servers })("issuer.example")).rejects.toMatchObject({ code: "ENOTFOUND" });
});

it("createResolve sends no query for localhost", async () => {
  const asked: string[] = [];
  const servers = await startNameServer(({ name }) => asked.push(name));
  expect(await createResolve({ servers })("localhost")).toEqual([
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ]);
  expect(asked).toEqual([]);
});

it("createResolve blocks no thread while a name server is silent: files are read, tokens signed and verified", async () => {
  const held: Question[] = [];
  const asked = Promise.withResolvers<void>();
  const servers = await startNameServer((question) => {
    held.push(question);
    if (held.length === 16) asked.resolve();
  });
  const resolve = createResolve({ servers });
  let isWaiting = true;
  const waiting = Promise.all(Array.from({ length: 8 }, (_, i) => resolve(`dead-${i}.example`))).then(() => {
    isWaiting = false;
  });
  await asked.promise;
  await readFile(import.meta.filename);
  const { sts } = createService([]);
  const bearer = (await sts.devIssuer?.mint({ subject: "me" })) ?? "";
  expect(await sts.exchange({ identity: ANYONE }, bearer)).toHaveProperty("token");
  expect(isWaiting).toBe(true);
  for (const { type, answer } of held) answer(type === AAAA ? [...Array(15).fill(0), 1] : [8, 8, 8, 8]);
  await waiting;
});
