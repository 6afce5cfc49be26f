// Signals: the first one drains the server, the second one ends it. Drives a separate process and reads its output.
import { afterEach, expect, test } from "vitest";
import { type Started, startCommand } from "../support/command.ts";
import { openConnection } from "../support/socket.ts";

const body = '{"subject":"s"}';
const HEAD = `POST /dev-issuer/token HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;

let server: Started;
afterEach(() => server.process.kill("SIGKILL"));

/** A server that has read the head and half of the body of a request. */
const startWithSlowRequest = async () => {
  server = startCommand("serve", "--dev", "--json", "--log-level", "debug");
  const { baseUrl } = JSON.parse(await server.firstLine) as { baseUrl: string };
  const slow = await openConnection(baseUrl);
  slow.write(HEAD + body.slice(0, 5));
  const next = await openConnection(baseUrl);
  next.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await next.until(/\{"status":"ok"\}/);
  return slow;
};

const waitForLog = async (text: string): Promise<void> => {
  const { stderr } = server.process;
  while (!server.stderr().includes(text)) await new Promise((resolve) => stderr?.once("data", resolve));
};

test.each(["SIGTERM", "SIGINT"] as const)("on %s, it answers a slow request, and exits with 0", async (signal) => {
  const slow = await startWithSlowRequest();
  server.process.kill(signal);
  await waitForLog('"event":"draining"');
  slow.write(body.slice(5));
  expect(await slow.ended).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nconnection: close\r\n.*\{"token":"/is);
  expect(await server.finished).toMatchObject({ code: 0 });
});

test("a second signal, of any kind, while a client hangs: the server exits at once with 0", async () => {
  const hanging = await startWithSlowRequest();
  server.process.kill("SIGTERM");
  await waitForLog('"event":"draining"');
  server.process.kill("SIGINT");
  expect(await hanging.ended).toBe("");
  expect(await server.finished).toMatchObject({ code: 0 });
});
