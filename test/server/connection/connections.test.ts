// Connections: a client that goes away, a server that closes during a request.
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createLog } from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";

const open = (baseUrl: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.on("error", reject);
  });

const start = (path: string, token: string, length: number) =>
  [
    `POST ${path} HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${token}`,
    "content-type: application/json",
    `content-length: ${length}`,
    "",
    "",
  ].join("\r\n");

const nextLine = () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { promise, resolve };
};

describe("a client that goes away in the middle of its body", () => {
  test("is logged, but not as a failure; it creates nothing, and the next request is served", async () => {
    const gone = nextLine();
    const clock = manualClock();
    const write = (line: string) => {
      if (line.includes("the client closed the connection")) gone.resolve(line);
    };
    const api = await serve({ clock, log: createLog({ level: "debug", json: true, clock, write }) });
    const socket = await open(api.baseUrl);
    socket.write(`${start(`${IAM}/groups/${api.organization}`, api.owner.token, 100)}{"name":`, () => socket.destroy());
    expect(JSON.parse(await gone.promise)).toMatchObject({ level: "info", event: "request", status: 499 });
    expect((await api.ok("GET", `${IAM}/groups`)).totalCount).toBe("1");
  });
});

describe("closing", () => {
  test("waits for a request under way, answers it, and accepts no new ones", async () => {
    const api = await serve();
    const body = '{"name":"late"}';
    const socket = await open(api.baseUrl);
    socket.write(start(`${IAM}/groups/${api.organization}`, api.owner.token, body.length) + body.slice(0, 5));
    // Answered, so the connection before it was accepted too, and its request is being read.
    await api.ok("GET", `${IAM}/groups`);
    const closed = api.close();
    await expect(open(api.baseUrl)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    const ended = new Promise((resolve) => socket.on("close", resolve));
    socket.write(body.slice(5));
    await closed;
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('"name":"late"');
  });

  test("ends at once when connections are only kept alive", async () => {
    const api = await serve();
    const idle = await open(api.baseUrl);
    const answered = new Promise((resolve) => idle.once("data", resolve));
    const ended = new Promise((resolve) => idle.on("close", resolve));
    idle.write("GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n");
    await answered;
    await api.close();
    await ended;
  });
});
