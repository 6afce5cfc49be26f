// Patterns for issuers that match more hosts than they seem to (docs/internals/faults.md#row-22).
import { expect, it } from "vitest";
import { issuerPatternWarning } from "../../../../server/sts/rule/match.ts";

const DOT = "a dot without a backslash matches any character";
const HOST = "it does not spell out one host";

it.each([
  ["https://x\\.example\\.com", "a host"],
  ["^https://x\\.example\\.com$", "with anchors, which it has anyway"],
  ["https:\\/\\/x\\.example\\.com\\/a", "with slashes that need no backslash"],
  ["https://x\\.example\\.com/.*", "any path of a host"],
  ["https://x\\.example\\.com(/tenant-[0-9]+)?", "a path that may be missing"],
  ["https://x\\.example\\.com(?:/a|/b)", "one of two paths"],
  ["https://x\\.example\\.com/(a|b)", "one of two paths, further in"],
  ["https://x\\.example\\.com|https://y\\.example\\.com/a", "two hosts"],
  ["https://my-host\\.example\\.com:8443", "a port"],
  ["http://127\\.0\\.0\\.1:[0-9]+", "any port of loopback"],
  ["http://\\[::1\\]:[0-9]+", "any port of loopback, version 6"],
  ["http://localhost/[.]", "a dot in a class"],
])("issuerPatternWarning has nothing against «%s»: %s", (pattern) =>
  expect(issuerPatternWarning(pattern)).toBeUndefined(),
);

it.each([
  ["https://x.example.com", DOT, "https://xaexample.com"],
  ["https://x\\.example.com", DOT, "https://x.exampleacom"],
  ["https://x\\.example\\.com/a.b", DOT, "https://x.example.com/aab"],
  ["https://x\\.example\\.com|https://y.example.com", DOT, "https://yaexample.com"],
  [".*", HOST, "https://evil.example"],
  ["https://.*", HOST, "https://evil.example"],
  ["https://[a-z]+\\.example\\.com", HOST, "https://anyone.example.com"],
  ["https://x\\.example\\.com.*", HOST, "https://x.example.com.evil.example"],
  ["https://x\\.example\\.com[a-z]*", HOST, "https://x.example.combo"],
  [".*x\\.example\\.com", HOST, "https://evilx.example.com"],
  ["https://x\\.example\\.com/a|.*", HOST, "https://evil.example"],
  ["https://x\\.example\\.com/a|evil", HOST, "an alternative that is no issuer"],
  ["(https://x\\.example\\.com)", HOST, "whatever is in a group"],
])("issuerPatternWarning warns of «%s»: %s (%s)", (pattern, reason) =>
  expect(issuerPatternWarning(pattern)).toBe(reason),
);
