import { expect, test } from "vitest";
import { isLoopbackAddress, isLoopbackAuthority, isLoopbackHost, isLoopbackUrl } from "../../schema/address.ts";

const hosts: [host: string, isLoopback: boolean, reason: string][] = [
  ["localhost", true, "the name"],
  ["LocalHost", true, "names are case-insensitive"],
  ["127.0.0.1", true, "the usual address"],
  ["127.0.0.2", true, "the whole of 127.0.0.0/8"],
  ["::1", true, "as an address"],
  ["[::1]", true, "as the host of a URL"],
  ["127.0.0.256", false, "not an address"],
  ["127.0.1", false, "an address of three parts, which a URL parser would have completed"],
  ["0.0.0.0", false, "all addresses, not this machine alone"],
  ["[::1", false, "half a bracket"],
  ["", false, "nothing"],
];

test.each(hosts)("%j is loopback: %j (%s)", (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});

test("a Host header may name a port, and an address is not a name", () => {
  const authorities = ["localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "evil.example:80", "localhost:80:80"];
  expect(authorities.map(isLoopbackAuthority)).toEqual([true, true, true, true, false, false]);
  expect(["127.0.0.9", "::1", "localhost", "[::1]"].map(isLoopbackAddress)).toEqual([true, true, false, false]);
});

test("the host of a URL counts, as a URL parser reads it", () => {
  const urls = [
    "http://127.1:80/x",
    "https://LOCALHOST",
    "https://user@evil.example/@localhost",
    "localhost",
    "http://0x7f.1",
  ];
  expect(urls.map(isLoopbackUrl)).toEqual([true, true, false, false, true]);
});
