// The two methods of Vault's transit engine, for the key of a stack. A passphrase would cost each command 0.3 s of processor time.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { listen } from "../support/listen.ts";

const PREFIX = "vault:v1:";

/** https://developer.hashicorp.com/vault/api-docs/secret/transit */
const answerTo = (method: string | undefined, { plaintext = "", ciphertext = "" }: Record<string, string>) =>
  method === "encrypt" ? { ciphertext: PREFIX + plaintext } : { plaintext: ciphertext.slice(PREFIX.length) };

/** What the engine knows it by, and what it reaches it with. */
const started = async () => {
  const server = createServer(async (request, response) => {
    const [, method] = request.url?.match(/^\/v1\/transit\/(encrypt|decrypt)\/tests$/) ?? [];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: answerTo(method, (await json(request)) as Record<string, string>) }));
  });
  const port = await listen(server.unref());
  return { url: "hashivault://tests", env: { VAULT_ADDR: `http://127.0.0.1:${port}`, VAULT_TOKEN: "unused" } };
};

let service: ReturnType<typeof started> | undefined;

/** One for all stacks of a worker. It ends with the worker. */
export const keyService = () => (service ??= started());
