// A bucket on loopback, with the five calls of S3 that the engine's backend makes
// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html), which counts what arrives.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface Bucket {
  /** for PULUMI_BACKEND_URL */
  url: string;
  /** credentials for its client, which it does not check */
  env: Readonly<Record<string, string>>;
  /** since the last call */
  take(): { requests: number; bytes: number };
  close(): void;
}

export const startBucket = async (): Promise<Bucket> => {
  const objects = new Map<string, Buffer>();
  let [requests, bytes] = [0, 0];
  const server = createServer(async (request, response) => {
    const body = bodyOf(request, await buffer(request));
    requests += 1;
    bytes += body.length;
    answer(objects, request, body, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `s3://bench?endpoint=http://127.0.0.1:${port}&s3ForcePathStyle=true&region=us-east-1`,
    env: { AWS_ACCESS_KEY_ID: "unused", AWS_SECRET_ACCESS_KEY: "unused", AWS_EC2_METADATA_DISABLED: "true" },
    take: () => {
      const taken = { requests, bytes };
      [requests, bytes] = [0, 0];
      return taken;
    },
    close: () => server.close().closeAllConnections(),
  };
};

const answer = (
  objects: Map<string, Buffer>,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void => {
  const url = new URL(request.url ?? "", "http://bucket");
  const key = decodeURIComponent(url.pathname).replace(/^\/bench\/?/, "");
  if (request.method === "GET" && key === "") {
    respondWithList(objects, url.searchParams, response);
    return;
  }
  if (request.method === "PUT") {
    const source = request.headers["x-amz-copy-source"];
    const copied =
      source === undefined ? body : objects.get(decodeURIComponent(String(source)).replace(/^\/?bench\//, ""));
    if (copied === undefined) {
      missing(response);
      return;
    }
    objects.set(key, copied);
    const tag = tagOf(copied);
    response.setHeader("etag", tag);
    response.end(source === undefined ? "" : `<CopyObjectResult><ETag>${tag}</ETag></CopyObjectResult>`);
    return;
  }
  if (request.method === "DELETE") {
    objects.delete(key);
    response.writeHead(204).end();
    return;
  }
  const object = objects.get(key);
  if (object === undefined) {
    missing(response);
    return;
  }
  response.setHeader("etag", tagOf(object));
  response.setHeader("last-modified", new Date().toUTCString());
  response.setHeader("content-length", object.length);
  response.end(request.method === "HEAD" ? undefined : object);
};

const tagOf = (object: Buffer): string => `"${createHash("md5").update(object).digest("hex")}"`;

const missing = (response: ServerResponse): void => {
  response.writeHead(404, { "content-type": "application/xml" }).end("<Error><Code>NoSuchKey</Code></Error>");
};

const respondWithList = (
  objects: ReadonlyMap<string, Buffer>,
  query: URLSearchParams,
  response: ServerResponse,
): void => {
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
  const endOf = (key: string) => (delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length));
  const folders = new Set(keys.flatMap((key) => (endOf(key) < 0 ? [] : [key.slice(0, endOf(key) + delimiter.length)])));
  const contents = keys
    .filter((key) => endOf(key) < 0)
    .map((key) => {
      const object = objects.get(key) as Buffer;
      const fields = `<Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>${object.length}</Size>`;
      return `<Contents>${fields}<ETag>${tagOf(object)}</ETag></Contents>`;
    });
  const prefixes = [...folders].map((folder) => `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`);
  response.setHeader("content-type", "application/xml");
  response.end(
    `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}${prefixes.join("")}</ListBucketResult>`,
  );
};

/** Without the frames of `aws-chunked`: a size in hexadecimal, with a signature, before each part. */
const bodyOf = ({ headers }: IncomingMessage, body: Buffer): Buffer => {
  if (!String(headers["content-encoding"]).includes("aws-chunked")) return body;
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.toString("latin1", at, end), 16);
    if (!(size > 0)) break;
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
};
