// Requests to the API of GitHub or GitLab: JSON, retries as for any request (client/retry.ts), and lists page by page (RFC 8288).
import { systemClock } from "../client/clock.ts";
import { parse } from "../client/rest.ts";
import { AttemptError, retryWith, SAFETY } from "../client/retry.ts";
import { type HttpAnswer, type HttpRequest, systemTransport } from "../client/transport.ts";
import { isObject, type Json, printable, protocolProblem } from "../schema/index.ts";
import { ForgeError } from "./forge.ts";

export interface Rest {
  send(method: HttpRequest["method"], path: string, body?: Json): Promise<Json>;
  list(path: string): AsyncIterable<Json>;
  /** of a file */
  text(path: string): Promise<string>;
}

interface RestParts {
  /** of the host, for errors: `GitHub` */
  host: string;
  baseUrl: string;
  token: string;
  /** what to do about a request that is refused */
  advice(path: string): string;
}

const TIMEOUT_MS = 30_000;
const PAGES_MAX = 100;
const REASON_MAX = 300;

export const restOf = ({ host, baseUrl, token, advice }: RestParts): Rest => {
  const problem = protocolProblem(baseUrl);
  if (problem !== undefined) throw new ForgeError(`the address of ${host}'s API ${problem}`);
  const [retry, transport] = [retryWith(systemClock), systemTransport()];

  const request = async (method: HttpRequest["method"], url: URL, body?: Json): Promise<HttpAnswer> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const attempt = async (): Promise<HttpAnswer> => {
      const answer = await transport({ method, url, token, timeoutMs: TIMEOUT_MS, ...text });
      const { status } = answer;
      if (status >= 200 && status <= 299) return answer;
      const isRefused = [401, 403, 404].includes(status);
      const message = `${host} answered ${status} to ${method} ${url.pathname}${reasonOf(answer)}${isRefused ? `; ${advice(url.pathname)}` : ""}`;
      throw new AttemptError({ status, sent: true }, Object.assign(new ForgeError(message), { isRefused }));
    };
    try {
      return await retry(SAFETY[method], attempt);
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      throw error.cause instanceof ForgeError ? error.cause : new ForgeError(`${host}: ${error.message}`);
    }
  };

  return {
    async send(method, path, body) {
      const answer = parse((await request(method, new URL(baseUrl + path), body)).body);
      return isObject(answer) ? answer : {};
    },
    text: async (path) => (await request("GET", new URL(baseUrl + path))).body,
    async *list(path) {
      let url: URL | undefined = new URL(baseUrl + path);
      for (let page = 0; url !== undefined; page += 1) {
        if (page === PAGES_MAX) throw new ForgeError(`${host} has more than ${PAGES_MAX} pages of ${url.pathname}`);
        const answer: HttpAnswer = await request("GET", url);
        const items = parse(answer.body);
        if (!Array.isArray(items)) throw new ForgeError(`${host} answered no list to GET ${url.pathname}`);
        yield* items.filter(isObject);
        url = nextOf(answer, url);
      }
    },
  };
};

/** The texts of errors come from the host, and not from the author of a change. */
const reasonOf = ({ body }: HttpAnswer): string => {
  const json = parse(body);
  const message = isObject(json) ? (json.message ?? json.error) : undefined;
  return typeof message === "string" ? `: ${printable(message.slice(0, REASON_MAX))}` : "";
};

/** The token goes to no other host. */
const nextOf = ({ headers }: HttpAnswer, { origin }: URL): URL | undefined => {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec([headers.link].flat().join(", ")) ?? [];
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.origin !== origin) throw new ForgeError(`the next page of a list is at another host, ${url.origin}`);
  return url;
};
